"""Next stage: which links of the page enter the frontier, and how urgently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.crawl.context import AnalysedPage, CrawlItem, crawl_of
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
        """Attach what the crawl's order makes of an analysed page's links."""
        if not isinstance(item, AnalysedPage):
            return item
        analysis = self._crawl.refine(item.lease, item.analysis)
        followed = await self._crawl.order.follow(item.lease, analysis, self._crawl.policy)
        for reason, count in followed.selection.left_by_reason.items():
            if count:
                self._stats.inc_value(f"qiaocrawl/links/{reason}", count)
        # Not where the order takes entries on any host, as of a topic's own feeds.
        is_bound = followed.selection.left_by_reason["offsite"] > 0
        number, said = far_entries(analysis, self._crawl.policy) if is_bound else (0, "")
        if number:
            analysis = replace(analysis, reason="; ".join(filter(None, (analysis.reason, said))))
            self._stats.inc_value("qiaocrawl/links/far_entries", number)
        proposed = sum(one.left_out is None for one in followed.selection.candidates)
        self._stats.inc_value("qiaocrawl/links/offered", proposed)
        return replace(item, analysis=analysis, followed=followed)
