"""Between extraction and relevance: soft 404s by their look, and the paging of lists."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.extract.base import NO_LINK_REGION
from qiaocrawl.items import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class DiscoveryPipeline:
    """Asks the spider's discovery what an analysed page is, and which pages of a list follow."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._told: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def _tell_lost_regions(self, item: CrawledPage) -> None:
        if item.analysis is None or NO_LINK_REGION not in item.analysis.reason:
            return
        self._crawler.stats.inc_value("qiaocrawl/links/template_matches_nothing")
        if item.lease.host not in self._told:
            self._told.add(item.lease.host)
            logger.warning("%s: %s; has its layout changed?", item.page.url, NO_LINK_REGION)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Change the analysis of a page where its site's ways demand it."""
        spider = self._crawler.spider
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        assert isinstance(spider, FrontierSpider)
        discovery = spider.discovery
        if discovery is None:
            return item
        self._tell_lost_regions(item)
        analysis, save = discovery.judged(item.lease, item.analysis)
        stats = self._crawler.stats
        if analysis.outcome is Outcome.SOFT_404 and item.analysis.outcome is not Outcome.SOFT_404:
            stats.inc_value("qiaocrawl/soft_404/by_look")
        turned = await discovery.turn(item.lease, analysis, spider.policy)
        if turned.left:
            stats.inc_value("qiaocrawl/links/pager_later", turned.left)
        if turned.ended:
            stats.inc_value("qiaocrawl/lists/ended_dry")
        writes = item.writes if save is None else (*item.writes, save)
        return replace(item, analysis=turned.analysis, writes=writes)
