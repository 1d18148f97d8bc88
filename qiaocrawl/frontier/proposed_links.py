"""URLs that pages of this process have brought: a cache in front of the frontier's unique key."""

from __future__ import annotations

from collections.abc import Iterable

from qiaocrawl.items import PRUNED

# About 100 bytes each: 50 MB at the most.
_REMEMBERED = 500_000


class ProposedUrls:
    """Saves a crawl from writing links it has stored; the frontier's unique key decides.

    It learns of links once they are committed, never before: a page whose transaction was
    refused brings all of them again. The oldest are forgotten first; that only costs a write.

    Args:
        by_score: a known URL is news with a higher score; else only after it had been left out.
    """

    def __init__(self, remembered: int = _REMEMBERED, *, by_score: bool = True) -> None:
        self._remembered = remembered
        self._by_score = by_score
        self._scores: dict[bytes, float] = {}

    def is_news(self, key: bytes, score: float) -> bool:
        """Whether *key* is unknown or known with a lower score. Any thread may ask."""
        best = self._scores.get(key)
        # Asked of every link of every page, most of which are known.
        return best is None or (score > best and (self._by_score or best == PRUNED))

    def remember(self, stored: Iterable[tuple[bytes, float]]) -> list[bytes]:
        """Keys and scores of links that are committed now; the keys that were unknown."""
        new = []
        for key, score in stored:
            best = self._scores.get(key)
            if best is None:
                new.append(key)
            # A higher score keeps the key's place in the dict: age counts from the first sighting.
            if best is None or score > best:
                self._scores[key] = score
        # A dict keeps insertion order, so its first key is the oldest.
        while len(self._scores) > self._remembered:
            del self._scores[next(iter(self._scores))]
        return new
