"""Second stage: one parse gives article, links and page kind, in a worker process."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.errors import ExtractionError, PoisonPageError
from qiaocrawl.items import Outcome, PageAnalysis

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class AnalysisStopped(DropItem):
    """The crawl stops; the stored page is analysed by the next run."""


class ExtractPipeline:
    """Hands the page to the analysis pool; a poison page is set aside after its last try."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Fill in the analysis; search answers pass."""
        if not isinstance(item, CrawledPage):
            return item
        analysis = await self._analyse(item)
        self._crawler.stats.inc_value(f"qiaocrawl/extract/charset/{analysis.charset_source}")
        return replace(item, analysis=analysis)

    async def _analyse(self, item: CrawledPage) -> PageAnalysis:
        tries: int = self._runtime.options["QIAO_FRONTIER_MAX_FAILURES"]
        reason = ""
        for _ in range(tries):
            try:
                return await self._runtime.analyse(item.page)
            except PoisonPageError as error:
                self._crawler.stats.inc_value("qiaocrawl/extract/worker_lost")
                reason = str(error)
            except ExtractionError as error:
                # The same bytes give the same error; another try would not.
                reason = str(error)
                break
            except (CancelledError, asyncio.CancelledError):
                raise AnalysisStopped(item.page.url) from None
        self._crawler.stats.inc_value("qiaocrawl/extract/set_aside")
        return PageAnalysis(
            Outcome.POISON, None, (), charset="", charset_source="unread", reason=reason
        )
