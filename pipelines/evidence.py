"""First stage: the raw page is committed before anything is made of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from scrapy.exceptions import DropItem

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.storage.pages.raw_pages import store_page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from sqlalchemy import Connection

    from qiaocrawl.crawl.spider import FrontierSpider


class LeaseLost(DropItem):
    """Another worker took the URL over while this one was away."""


class EvidencePipeline:
    """Stores what was fetched; a page that was stored before a crash is not stored again."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Commit the page, then let it pass."""
        if isinstance(item, CrawledPage) and item.analysis is not None:
            return item  # it comes back from being analysed apart
        if item.lease.stored:
            self._crawler.stats.inc_value("qiaocrawl/evidence/resumed")
            return item
        spider = cast("FrontierSpider", self._crawler.spider)

        def operation(c: Connection) -> int | None:
            return store_page(
                c, item.lease, item.page, now=time.time(),
                then=lambda c: spider.page_arrives(c, item),
            )  # fmt: skip

        if await self._runtime.write(operation) is None:
            raise LeaseLost(f"lease of {item.page.url} was lost")
        spider.page_arrived(item)
        self._crawler.stats.inc_value("qiaocrawl/evidence/stored")
        return item
