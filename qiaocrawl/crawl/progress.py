"""A log line every ten seconds (LOGSTATS_INTERVAL): pages, articles, and what a run waits for."""

from __future__ import annotations

import asyncio
import logging
import time
from itertools import count as numbers_from
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.settings import default_settings

from qiaocrawl.crawl.context import find_crawl
from qiaocrawl.items import Queue
from qiaocrawl.reading.summary import queue_progress

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_INTERVAL_SECONDS = 10.0
# Once a minute: it counts all rows of a queue.
_ROUNDS_BETWEEN_ESTIMATES = 6


class ProgressLog:
    """Scrapy extension; reads the crawl's own counters."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._task: asyncio.Task[None] | None = None
        self._pages = 0
        self._began = 0.0
        given = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        # Scrapy's own minute is long for who waits for the first page.
        is_own = given != default_settings.LOGSTATS_INTERVAL
        self._seconds = given if is_own else _INTERVAL_SECONDS
        if self._seconds <= 0:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        extension = cls(crawler)
        crawler.signals.connect(extension.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signal=signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()
        self._task = asyncio.ensure_future(self._run())

    def spider_closed(self) -> None:
        """Log the totals and stop."""
        if self._task is not None:
            self._task.cancel()
        self._say(0.0)

    async def _run(self) -> None:
        for number in numbers_from(1):
            await asyncio.sleep(self._seconds)
            self._say(self._seconds)
            if number % _ROUNDS_BETWEEN_ESTIMATES == 0:
                await self._say_what_is_left()

    async def _say_what_is_left(self) -> None:
        """How many queries of a search wait, and for how long at the pace so far."""
        crawl = find_crawl(self._crawler)
        if crawl is None or crawl.scope.queue is not Queue.SEARCH or not self._pages:
            return
        counts = await crawl.runtime.read(lambda c: queue_progress(c, Queue.SEARCH))
        left = counts.known - counts.done
        minutes = left * (time.monotonic() - self._began) / self._pages / 60
        logger.info("%d of %d queries left, about %.0f minutes", left, counts.known, minutes)

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
