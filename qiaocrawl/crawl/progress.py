"""A log line every ten seconds: pages, articles, and what an idle run is waiting for."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from qiaocrawl.crawl.context import find_crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_INTERVAL_SECONDS = 10.0


class ProgressLog:
    """Scrapy extension; reads the crawl's own counters."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._task: asyncio.Task[None] | None = None
        self._pages = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        extension = cls(crawler)
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start the clock."""
        self._task = asyncio.ensure_future(self._run())

    def spider_closed(self) -> None:
        """Log the totals and stop."""
        if self._task is not None:
            self._task.cancel()
        self._say(0.0)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            self._say(_INTERVAL_SECONDS)

    def _say(self, seconds: float) -> None:
        count = self._crawler.stats.get_value
        pages: int = count("qiaocrawl/pages", 0)
        rate = f" ({(pages - self._pages) / seconds:.1f} a second)" if seconds else ""
        # Only when nothing came: a working crawl always waits for something.
        waits = self._waits_for() if seconds and pages == self._pages else ""
        self._pages = pages
        logger.info(
            "%d pages%s, %d articles, %d on topic, %d reprints; %d dead, %d unreachable",
            pages,
            rate,
            count("qiaocrawl/outcome/article", 0),
            count("qiaocrawl/relevance/relevant", 0),
            count("qiaocrawl/dedup/reprint", 0),
            count("qiaocrawl/outcome/dead", 0),
            count("qiaocrawl/outcome/unreachable", 0),
        )
        if waits:
            logger.info("waiting for %s", waits)

    def _waits_for(self) -> str:
        crawl = find_crawl(self._crawler)
        return "" if crawl is None else crawl.worker.waits.words()
