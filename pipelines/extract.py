"""Second stage: one parse gives article, links and page kind, in a worker process."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from qiaocrawl.crawl.context import AnalysedPage, CrawledPage, CrawlItem, crawl_of, runtime_of
from qiaocrawl.crawl.slow_pages import AnalysedApart, set_aside, slow_pages_of
from qiaocrawl.errors import ConfigError, ExtractionError, PoisonPageError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from qiaocrawl.items import PageAnalysis


class AnalysisStopped(DropItem):
    """The crawl stops; the stored page is analysed by the next run."""


class ExtractPipeline:
    """Hands the page to the analysis pool; what it cannot take is analysed apart."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_item(self, item: CrawlItem) -> CrawlItem:
        """Analyse a fetched page; search answers pass, and pages that were analysed apart."""
        if isinstance(item, CrawledPage):
            async with slow_pages_of(self._crawler).ordinary_places:
                item = AnalysedPage(item.lease, item.page, await self._analyse(item))
        if isinstance(item, AnalysedPage):
            charset_source = item.analysis.charset_source
            self._crawler.stats.inc_value(f"qiaocrawl/extract/charset/{charset_source}")
        return item

    async def _analyse(self, item: CrawledPage) -> PageAnalysis:
        apart = slow_pages_of(self._crawler)
        if apart.is_for(item.lease, item.page):
            raise self._apart(item)
        try:
            analysis = await self._runtime.analysis.analyse(item.page)
        except PoisonPageError:
            self._crawler.stats.inc_value("qiaocrawl/extract/worker_lost")
            apart.note_outlasted(item.lease)
            raise self._apart(item) from None
        except ExtractionError as error:
            # The same bytes give the same error; another try would not.
            self._crawler.stats.inc_value("qiaocrawl/extract/set_aside")
            return set_aside(str(error))
        except ConfigError as error:
            # No page is at fault: the next run analyses what is stored.
            crawl_of(self._crawler).worker.stop("config_error", error)
            raise AnalysisStopped(item.page.url) from None
        except (CancelledError, asyncio.CancelledError):
            raise AnalysisStopped(item.page.url) from None
        apart.was_quick(item.lease.host)
        return analysis

    def _apart(self, item: CrawledPage) -> AnalysedApart:
        slow_pages_of(self._crawler).take(item.lease)
        return AnalysedApart(f"{item.page.url} is analysed apart")
