"""First stage: the raw page is committed before anything is derived from it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from qiaocrawl.crawl.context import AnalysedPage, CrawledPage, CrawlItem, crawl_of
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.pages.revisions import save_picture

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from sqlalchemy import Connection

    from qiaocrawl.crawl.context import CrawlContext


class LeaseLost(DropItem):
    """Another worker took the URL over while this one was away."""


class EvidencePipeline:
    """Stores what was fetched; a page that was stored before a crash is not stored again."""

    def __init__(self, crawl: CrawlContext, stats: StatsCollector) -> None:
        self._crawl = crawl
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawl_of(crawler), crawler.stats)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Commit the page, then let it pass."""
        if isinstance(item, AnalysedPage):
            return item  # it comes back from being analysed apart
        if item.lease.stored:
            self._stats.inc_value("qiaocrawl/evidence/resumed")
            return item

        picture = item.picture if isinstance(item, CrawledPage) else None

        def operation(c: Connection) -> int | None:
            row_id = store_page(
                c,
                item.lease,
                item.page,
                now=time.time(),
                then=lambda c: self._crawl.journal.page_arrives(c, item.lease, item.page),
            )
            if row_id is not None and picture is not None:
                save_picture(c, row_id, picture)
            return row_id

        if await self._crawl.runtime.write(operation) is None:
            raise LeaseLost(f"lease of {item.page.url} was lost")
        self._crawl.journal.page_arrived(item.lease)
        self._stats.inc_value("qiaocrawl/evidence/stored")
        # The bytes are needed no longer.
        return replace(item, picture=None) if isinstance(item, CrawledPage) else item
