"""Counts over time: what is usual, what bursts out of it, and what is to be expected."""

from __future__ import annotations
