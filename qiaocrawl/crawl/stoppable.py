"""A crawler that obeys a signal at every moment of its start."""

from __future__ import annotations

import asyncio

from scrapy import Spider
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler

from qiaocrawl.crawl.wiring import find_runtime

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
