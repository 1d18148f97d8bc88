"""Next stage: which links of the page enter the frontier, and how urgently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.crawl.context import CrawledPage, CrawlItem, crawl_of
from qiaocrawl.runtime.follow_links import far_entries

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from qiaocrawl.crawl.context import CrawlContext


class LinksPipeline:
    """Applies the crawl's bounds and strategy; stored links are not proposed again."""

    def __init__(self, crawl: CrawlContext, stats: StatsCollector) -> None:
        self._crawl = crawl
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawl_of(crawler), crawler.stats)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Attach the candidates of an analysed page, and its entry for the log of visits."""
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        analysis = self._crawl.refine(item.lease, item.analysis)
        page = await self._crawl.ordering.follow(item.lease, analysis, self._crawl.policy)
        for reason, links in page.links.left.items():
            if links:
                self._stats.inc_value(f"qiaocrawl/links/{reason}", links)
        number, said = far_entries(analysis, self._crawl.policy)
        if number:
            analysis = replace(analysis, reason="; ".join(filter(None, (analysis.reason, said))))
            self._stats.inc_value("qiaocrawl/links/far_entries", number)
        candidates = page.links.candidates
        proposed = sum(candidate.left_out is None for candidate in candidates)
        self._stats.inc_value("qiaocrawl/links/offered", proposed)
        return replace(item, analysis=analysis, candidates=candidates, followed=page)
