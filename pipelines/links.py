"""Next stage: which links of the page enter the frontier, and how urgently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.spider import FrontierSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class LinksPipeline:
    """Applies the spider's bounds and strategy; what is stored is not proposed again."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Attach the candidates of an analysed page, and what the log of visits gets of it."""
        spider = self._crawler.spider
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        assert isinstance(spider, FrontierSpider)
        analysis = spider.refine(item.lease, item.analysis)
        page = await spider.ordering.follow(item.lease, analysis, spider.policy)
        followed = page.links
        stats = self._crawler.stats
        for reason, links in followed.left.items():
            if links:
                stats.inc_value(f"qiaocrawl/links/{reason}", links)
        offered = sum(one.left_out is None for one in followed.candidates)
        stats.inc_value("qiaocrawl/links/offered", offered)
        return replace(
            item, analysis=analysis, candidates=followed.candidates, followed=page
        )
