"""Spread: who published first, who took it from whom, how far and how fast, with evidence."""

from __future__ import annotations
