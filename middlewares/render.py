"""Opens pages of sites marked ``render`` in a browser, when the operator switched it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.browser import record_layout
from qiaocrawl.crawl.wiring import runtime_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class RenderMiddleware:
    """Turns the spider's ``render`` mark into scrapy-playwright's."""

    def __init__(self, crawler: Crawler) -> None:
        options = runtime_of(crawler).options
        if not options["QIAO_RENDER"]:
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._page_methods = [record_layout()] if options["QIAO_RENDER_LAYOUT"] else []
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Mark the request for the browser."""
        if request.meta.get("render"):
            request.meta["playwright"] = True
            # Scripts fetch their text after the page has loaded.
            request.meta["playwright_page_goto_kwargs"] = {"wait_until": "networkidle"}
            request.meta["playwright_page_methods"] = self._page_methods
            self._stats.inc_value("qiaocrawl/render/pages")
