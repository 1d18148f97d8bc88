"""Persons, places and organisations of texts, with the names they go by."""

from __future__ import annotations
