"""Which pages are opened in a browser: those of sites marked for it, and those known to need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.browser.learning import render_learning
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.fetch.rendering import RENDER_IF_NEEDED
from qiaocrawl.storage.pages.raw_pages import load_page_if_readable

from .stored import response_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from qiaocrawl.items import Lease


class RenderMiddleware:
    """Turns the spider's ``render`` mark, or what is known of such pages, into Playwright's."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = runtime_of(crawler)
        mode: str = self._runtime.options["QIAO_RENDER"]
        if mode == "off":
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._crawler = crawler
        self._finds_out = mode == "auto"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        """Mark the request for the browser.

        A page that waits for it is answered as it came when pages like it have turned out to
        gain nothing meanwhile: neither its host nor the browser is asked again.
        """
        lease: Lease | None = request.meta.get("lease")
        if request.meta.get("render"):
            request.meta["playwright"] = True
        elif self._finds_out and lease is not None:
            learning = await render_learning(self._crawler)
            if lease.payload.render and learning.is_useless_for(lease):
                page = await self._runtime.read(lambda c: load_page_if_readable(c, lease.url_id))
                if page is not None:
                    self._count("spared")
                    return response_of(page, request)
            if learning.renders_directly(lease):
                request.meta["playwright"] = True
                # Only the site's memory asks for the browser here: the document decides first.
                if not lease.payload.render:
                    request.meta[RENDER_IF_NEEDED] = True
                    self._count("by_memory")
        return None

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"qiaocrawl/render/{name}")
