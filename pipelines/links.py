"""Fifth stage: which links of the page enter the frontier, and how urgently."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from qiaocrawl.crawl.dupefilter import FrontierDupeFilter
from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.follow import follow_links
from qiaocrawl.frontier import scores_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class LinksPipeline:
    """Applies the spider's bounds and strategy; what was proposed before is not again."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._seen = FrontierDupeFilter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_item(self, item: CrawlItem) -> CrawlItem:
        """Attach the candidates of an analysed page."""
        spider = self._crawler.spider
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        assert isinstance(spider, FrontierSpider)
        followed = follow_links(
            item.lease, item.analysis, spider.policy, partial(scores_of, spider.strategy),
            fresh=self._seen.fresh, now=time.time(),
        )
        stats = self._crawler.stats
        for reason, links in followed.left.items():
            if links:
                stats.inc_value(f"qiaocrawl/links/{reason}", links)
        stats.inc_value("qiaocrawl/links/offered", len(followed.candidates))
        return replace(item, candidates=followed.candidates)
