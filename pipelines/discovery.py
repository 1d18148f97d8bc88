"""Between extraction and relevance: soft 404s by their look, and the paging of lists."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from qiaocrawl.crawl.context import AnalysedPage, CrawlItem, crawl_of
from qiaocrawl.extract.base import NO_LINK_REGION
from qiaocrawl.items import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from qiaocrawl.runs.site import SiteDiscovery
    from qiaocrawl.runtime.follow_links import FollowPolicy

logger = logging.getLogger(__name__)


class DiscoveryPipeline:
    """Asks the crawl's discovery what an analysed page is, and which pages of a list follow."""

    def __init__(
        self, discovery: SiteDiscovery | None, policy: FollowPolicy, stats: StatsCollector
    ) -> None:
        if discovery is None:
            # Of single pages nothing is discovered.
            raise NotConfigured
        self._discovery = discovery
        self._policy = policy
        self._stats = stats
        self._warned_hosts: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        crawl = crawl_of(crawler)
        return cls(crawl.discovery, crawl.policy, crawler.stats)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Correct the analysis of a page by what is known about its site."""
        if not isinstance(item, AnalysedPage):
            return item
        self._warn_of_lost_region(item)
        analysis, missing_page = self._discovery.judge(item.lease, item.analysis)
        if analysis.outcome is Outcome.SOFT_404 and item.analysis.outcome is not Outcome.SOFT_404:
            self._stats.inc_value("qiaocrawl/soft_404/by_look")
        turned = await self._discovery.turn(item.lease, analysis, self._policy)
        if turned.left:
            self._stats.inc_value("qiaocrawl/links/pager_later", turned.left)
        if turned.ended:
            self._stats.inc_value("qiaocrawl/lists/ended_dry")
        return replace(item, analysis=turned.analysis, missing_page=missing_page)

    def _warn_of_lost_region(self, item: AnalysedPage) -> None:
        if NO_LINK_REGION not in item.analysis.reason:
            return
        self._stats.inc_value("qiaocrawl/links/template_matches_nothing")
        if item.lease.host not in self._warned_hosts:
            self._warned_hosts.add(item.lease.host)
            logger.warning("%s: %s; has its layout changed?", item.page.url, NO_LINK_REGION)
