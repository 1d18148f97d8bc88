"""What a crawl says: a line every ten seconds, quiet log lines, plain statistics."""

from __future__ import annotations

import asyncio
import logging
import time
from itertools import count as numbers_from
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.logformatter import LogFormatter, LogFormatterResult
from scrapy.settings import default_settings
from scrapy.statscollectors import MemoryStatsCollector

from qiaocrawl.crawl.context import LOGIN_STEP, find_crawl
from qiaocrawl.errors import StorageError
from qiaocrawl.items import Queue
from qiaocrawl.reading.summary import queue_progress
from qiaocrawl.text.visible import use_visible_records

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

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


# --- Log lines an operator can read: whole pages are never printed --------------------------------

# A page's words are in log lines too: its URL, its title, the error it caused.
use_visible_records()


class QuietLogFormatter(LogFormatter):
    """Scraped and dropped items in one short line each; steps of a login without their tickets.

    Args:
        shows_debug: whether lines at DEBUG are shown at all; others are not even made.
    """

    def __init__(self, *, shows_debug: bool = True) -> None:
        self._shows_debug = shows_debug

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        level = crawler.settings["LOG_LEVEL"]
        number = logging.getLevelName(level) if isinstance(level, str) else level
        # Scrapy's loggers take every line and its handlers leave out what is below LOG_LEVEL.
        return cls(shows_debug=not isinstance(number, int) or number <= logging.DEBUG)

    def crawled(  # type: ignore[override]
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> LogFormatterResult | None:
        """Scrapy's line; for a login step only the host, since its address may hold a ticket."""
        if not self._shows_debug:
            return None
        if not request.meta.get(LOGIN_STEP):
            return super().crawled(request, response, *args, **kwargs)
        return {
            "level": logging.DEBUG,
            "msg": "Login step (%(status)s) %(method)s %(address)s",
            "args": {
                "status": response.status,
                "method": request.method,
                # The query of a login step may be the ticket that logs in.
                "address": request.url.partition("?")[0],
            },
        }

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, *args: Any, **kwargs: Any
    ) -> LogFormatterResult | None:
        """One DEBUG line an item; Scrapy's own prints the whole page."""
        if not self._shows_debug:
            return None
        return {"level": logging.DEBUG, "msg": "Stored %(item)r", "args": {"item": item}}

    def dropped(
        self, item: Any, exception: BaseException, response: Any, *args: Any, **kwargs: Any
    ) -> LogFormatterResult:
        """One INFO line: what was dropped and why."""
        return {
            "level": logging.INFO,
            "msg": "Dropped %(item)r: %(exception)s",
            "args": {"item": item, "exception": exception},
        }

    def item_error(
        self, item: Any, exception: BaseException, *args: Any, **kwargs: Any
    ) -> LogFormatterResult:
        """Scrapy's line; a lost database is reported once, not for each page in hand."""
        line = super().item_error(item, exception, *args, **kwargs)
        return _quiet(line, exception)

    def spider_error(self, failure: Failure, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """As :meth:`item_error`."""
        return _quiet(super().spider_error(failure, *args, **kwargs), failure.value)

    def download_error(self, failure: Failure, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """As :meth:`item_error`."""
        return _quiet(super().download_error(failure, *args, **kwargs), failure.value)


def _quiet(said: LogFormatterResult, error: object) -> LogFormatterResult:
    if isinstance(error, StorageError):
        # The crawl stops at the first one and says so (runtime/run_end.py).
        said["level"] = logging.DEBUG
    return said


# --- Scrapy's statistics without its look for an argument of old that nobody passes here ----------


class PlainStats(MemoryStatsCollector):
    """Counts a page sixteen times, so each of them is one call and no more."""

    # Scrapy's wraps each method in another one, which warns of the argument ``spider``.
    __getattribute__ = object.__getattribute__

    def inc_value(
        self, key: str, count: int = 1, start: int = 0, spider: Spider | None = None
    ) -> None:
        """Add *count* to what *key* counts, from *start* on."""
        stats: dict[str, Any] = self._stats
        stats[key] = stats.get(key, start) + count
