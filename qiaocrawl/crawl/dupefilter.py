"""Which URLs this process has proposed already: a memory in front of the unique key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter

from qiaocrawl.items import Candidate

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

# About 100 bytes each: 50 MB at the most.
_REMEMBERED = 500_000


class FrontierDupeFilter(BaseDupeFilter):
    """Spares the database links it has seen; the frontier's unique key is the judge.

    A candidate passes again when it carries a better score, so that new evidence reaches
    a waiting row. The oldest are forgotten first, which only costs a write.
    """

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._scores: dict[bytes, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls()

    def request_seen(self, request: Request) -> bool:
        """Scrapy's question for requests that carry a candidate."""
        candidate: Candidate | None = request.meta.get("candidate")
        if candidate is None or candidate.rearm:
            return False
        return not self.fresh(candidate.key, candidate.score)

    def fresh(self, key: bytes, score: float) -> bool:
        """Whether *key* is new or better scored than before; it is remembered if so."""
        known = self._scores.get(key)
        if known is not None and score <= known:
            return False
        self._scores[key] = score
        if len(self._scores) > self._remembered:
            del self._scores[next(iter(self._scores))]
        return True
