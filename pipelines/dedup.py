"""Title deduplication: an article meets the titles of all workers before it is stored.

Whether it is a reprint is decided in the transaction that stores it
(:mod:`qiaocrawl.pipelines.store`), by the vector space model of :mod:`qiaocrawl.dedup`: a copy
that another worker stores at the same moment is not missed then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl.crawl.context import AnalysedPage, CrawlItem, runtime_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from qiaocrawl.runtime.articles import RunArticles


class TitleDeduplicationPipeline:
    """Reads the stored titles before the first article is stored."""

    def __init__(self, articles: RunArticles) -> None:
        self._articles = articles

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(runtime_of(crawler).articles)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Load the titles that the article of *item* is to be judged by."""
        if isinstance(item, AnalysedPage) and item.analysis.article is not None:
            await self._articles.load_titles()
        return item
