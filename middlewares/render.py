"""Which pages are opened in a browser: those of sites marked for it, and those known to need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.render_memory import render_learning
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.rendering import RENDER

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease


class RenderMiddleware:
    """Turns the spider's ``render`` mark, or what is known of such pages, into Playwright's."""

    def __init__(self, crawler: Crawler) -> None:
        mode: str = runtime_of(crawler).options["QIAO_RENDER"]
        if mode == "off":
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._crawler = crawler
        self._finds_out = mode == "auto"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Mark the request for the browser."""
        lease: Lease | None = request.meta.get("lease")
        if request.meta.get("render"):
            request.meta["playwright"] = True
        elif self._finds_out and lease is not None:
            learning = await render_learning(self._crawler)
            if learning.goes_straight(lease):
                request.meta["playwright"] = True
                if RENDER not in lease.payload:
                    self._crawler.stats.inc_value("qiaocrawl/render/by_memory")
