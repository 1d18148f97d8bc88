"""Between analysis and judgement: a page that says nothing without its scripts is put back.

It stays stored as it came; its row waits, with a mark, to be fetched once more with the
browser. What comes of that is remembered for pages like it (see :mod:`qiaocrawl.fetch.rendering`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem, NotConfigured

from qiaocrawl.crawl.browser.learning import render_learning
from qiaocrawl.crawl.context import AnalysedPage, CrawlItem, RenderLesson, crawl_of
from qiaocrawl.items import PageAnalysis
from qiaocrawl.storage.pages.sites import wait_for_browser

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease


class RenderedLater(DropItem):
    """The page will be fetched again with the browser."""


class RenderPipeline:
    """Sends pages back that need a browser, and learns which these are."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawl = crawl_of(crawler)
        if self._crawl.runtime.options["QIAO_RENDER"] != "auto":
            # Switched off on purpose: no warning is due.
            raise NotConfigured
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Let the page pass, or put its row back."""
        if not isinstance(item, AnalysedPage):
            return item
        learning = await render_learning(self._crawler)
        if learning.needs_rendering(item.lease, item.page, item.analysis):
            if not learning.is_useless_for(item.lease):
                await self._put_back(item.lease, item.analysis)
            self._count("spared")
            reason = f"{item.analysis.reason}; pages like it were rendered in vain"
            return replace(item, analysis=replace(item.analysis, reason=reason))
        return replace(item, rendering=RenderLesson(learning, item.analysis))

    async def _put_back(self, lease: Lease, analysis: PageAnalysis) -> None:
        """Have *lease* wait for the browser.

        Raises:
            RenderedLater: always; the page goes no further.
        """
        crawl = self._crawl
        reason = analysis.reason or analysis.outcome
        is_mine = await crawl.runtime.write(lambda c: wait_for_browser(c, lease, reason))
        # wait_for_browser() gave the row back, so it is forgotten here, not released.
        if crawl.worker.holds(lease):
            if is_mine:
                crawl.order.wait_until(lease.key, 0.0)
            crawl.worker.forget(lease)
        self._count("found_out" if is_mine else "lease_lost")
        raise RenderedLater(f"{lease.url} is fetched again with the browser: {reason}")

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(f"qiaocrawl/render/{name}")
