"""How a crawl starts: signals obeyed at every moment, and no cycles collected meanwhile."""

from __future__ import annotations

import asyncio
import gc

from scrapy import Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler

from qiaocrawl.crawl.context import find_runtime

# --- A crawler that obeys a signal at every moment of its start -----------------------------------

_LOOK_SECONDS = 0.02
# As long as a crawl that runs waits for its database after a signal.
_STORE_SECONDS = 4.0


class StoppableCrawler(Crawler):
    """Scrapy's crawler forgets to stop while its spider is being opened.

    The process ended then with its run half begun: no summary, exit code 1, and a record of the run
    that nobody closed. Here it is opened first, which takes a moment, and then stopped as usual.
    """

    async def stop_async(self) -> None:
        """Stop in order; also asked for before there is anything to stop."""
        self._hurry()
        while self.crawling and not (self._engine is not None and self._engine.running):
            # No event tells of it: the engine's own signal comes before it can be stopped.
            await asyncio.sleep(_LOOK_SECONDS)
        await super().stop_async()

    def _hurry(self) -> None:
        """A database that is away would keep the spider from being opened, and so from stopping."""
        runtime = find_runtime(self)
        if runtime is not None:
            runtime.database.limit_wait(_STORE_SECONDS)

    def _create_engine(self) -> ExecutionEngine:
        return ExecutionEngine(self, self._engine_closed)

    async def _engine_closed(self, spider: Spider) -> None:
        # Of an engine that never ran, too: waiting for it to run would be for ever.
        await super().stop_async()


# --- The collector of cycles rests until a crawl has started --------------------------------------
# What a start makes is modules, tables and dictionaries, which stay. Looking through them again and
# again, some four hundred times as they come, took a tenth of it.
#
# From then on it looks less often than it would by itself: a page leaves some five
# objects in cycles, and a thousand that stay, such as the keys of its links.

# Objects between two looks at the young ones, and of these between two at the older ones. With
# Python's 700 collecting took .7 ms of a page, with this half of it.
_YOUNG_OBJECTS = 10_000
_LOOKS = 10


def rest_until_opened() -> None:
    """Stop collecting; :func:`collect_once_opened` begins again."""
    gc.disable()


def collect_once_opened(crawler: Crawler) -> None:
    """Collect from the opening of the spider of *crawler* on, but for what is there by then."""
    crawler.signals.connect(_collect, signal=signals.spider_opened)


def _collect() -> None:
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, _LOOKS, _LOOKS)
    gc.enable()
