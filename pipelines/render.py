"""Between analysis and judgement: a page that says nothing without its scripts is put back.

It stays stored as it came; its row waits, with a mark, to be fetched once more with the
browser. What comes of that is remembered for pages like it (see :mod:`qiaocrawl.fetch.rendering`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem, NotConfigured

from qiaocrawl.crawl.browser.learning import render_learning, saving
from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.fetch.rendering import RenderLearning
from qiaocrawl.items import PageAnalysis
from qiaocrawl.storage.pages.renderings import forget_mark, wait_for_browser

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease


class RenderedLater(DropItem):
    """The page comes again, by the browser."""


class RenderPipeline:
    """Sends pages back that need a browser, and learns which these are."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = runtime_of(crawler)
        if self._runtime.options["QIAO_RENDER"] != "auto":
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Let the page pass, or put its row back."""
        if not isinstance(item, CrawledPage) or item.analysis is None:
            return item
        learning = await render_learning(self._crawler)
        if learning.is_to_be_rendered(item.lease, item.page, item.analysis):
            if not learning.is_useless_for(item.lease):
                await self._put_back(item.lease, item.analysis)
            self._count("spared")
            said = f"{item.analysis.reason}; pages like it were rendered in vain"
            return replace(item, analysis=replace(item.analysis, reason=said))
        item = replace(item, then=(*item.then, partial(self._learn, learning, item)))
        if item.lease.payload.render:
            forget = partial(forget_mark, lease=item.lease)
            item = replace(item, writes=(*item.writes, forget))
        return item

    def _learn(self, learning: RenderLearning, item: CrawledPage) -> None:
        assert item.analysis is not None
        votes = learning.learn(item.lease, item.page, item.analysis)
        if votes is not None:
            self._spider.worker.post(saving(votes))

    async def _put_back(self, lease: Lease, analysis: PageAnalysis) -> None:
        """Have *lease* wait for the browser.

        Raises:
            RenderedLater: always; the page goes no further.
        """
        spider = self._spider
        reason = analysis.reason or analysis.outcome
        mine = await self._runtime.write(lambda c: wait_for_browser(c, lease, reason))
        if spider.worker.holds(lease):
            if mine:
                spider.ordering.wait_until(lease.key, 0.0)
            spider.worker.forget(lease)
        self._count("found_out" if mine else "lease_lost")
        raise RenderedLater(f"{lease.url} is fetched again with the browser: {reason}")

    @property
    def _spider(self) -> FrontierSpider:
        spider = self._crawler.spider
        assert isinstance(spider, FrontierSpider)
        return spider

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"qiaocrawl/render/{name}")
