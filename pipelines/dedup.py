"""Next stage: the titles of all workers are at hand before the first article is stored (Q6).

Whether an article is a reprint is decided in the transaction that stores it: no copy that
another worker stores at the same moment is missed, and nothing is remembered that was not
stored. See :mod:`qiaocrawl.stages.shared_titles`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.wiring import runtime_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class DedupPipeline:
    """Reads the stored titles once; a reprint is stored too, reprints are news themselves."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Wait for the titles when an article comes; everything passes as it is."""
        is_article = isinstance(item, CrawledPage) and item.analysis is not None and (
            item.analysis.article is not None
        )
        if is_article:
            await self._runtime.load_titles()
        return item
