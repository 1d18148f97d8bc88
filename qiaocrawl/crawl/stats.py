"""Scrapy's statistics without its look for an argument of old that nobody passes here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.statscollectors import MemoryStatsCollector

if TYPE_CHECKING:
    from scrapy import Spider


class PlainStats(MemoryStatsCollector):
    """Counts a page sixteen times, so each of them is one call and no more."""

    # Scrapy's wraps each method in another one, which warns of the argument ``spider``.
    __getattribute__ = object.__getattribute__

    def inc_value(
        self, key: str, count: int = 1, start: int = 0, spider: Spider | None = None
    ) -> None:
        """Add *count* to what *key* counts, from *start* on."""
        stats: dict[str, Any] = self._stats
        stats[key] = stats.get(key, start) + count
