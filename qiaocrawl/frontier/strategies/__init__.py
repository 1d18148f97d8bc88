"""Crawl strategies, one per file; :data:`~.strategy.strategies` finds them by name."""

from __future__ import annotations
