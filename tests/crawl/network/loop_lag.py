"""A Scrapy extension that writes how late the event loop is, and what memory its process has."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

_TICK_SECONDS = 0.02


class LoopLag:
    """Lines of time, seconds the loop was late, and bytes of memory, into LOOP_LAG_FILE."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        extension = cls()
        crawler.signals.connect(extension.begin, signal=signals.spider_opened)
        return extension

    def begin(self) -> None:
        """Begin to tick."""
        self._task = asyncio.ensure_future(self._tick())

    async def _tick(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        with Path(os.environ["LOOP_LAG_FILE"]).open("w", buffering=1) as file:
            while True:
                before = time.monotonic()
                await asyncio.sleep(_TICK_SECONDS)
                late = time.monotonic() - before - _TICK_SECONDS
                pages = int(Path("/proc/self/statm").read_text().split()[1])
                file.write(f"{before} {late} {pages * page}\n")
