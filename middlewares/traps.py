"""A URL whose group was cut while it was in hand is not fetched (faults F-T1).

URLs that still wait are closed when they are leased; see :mod:`qiaocrawl.frontier.aliases`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.crawl.context import find_crawl
from qiaocrawl.errors import TrapError

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease


class TrapMiddleware:
    """Asks the crawl's rules before the host gets a request."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise TrapError for URLs that must not be fetched."""
        lease: Lease | None = request.meta.get("lease")
        crawl = find_crawl(self._crawler)
        if lease is None or crawl is None:
            return
        rules = crawl.policy.rules
        if rules is not None and (why := rules.refusal(lease)):
            raise TrapError(why)
