"""Pages that may have killed a worker are tried alone, with a mark in the database meanwhile.

See :mod:`qiaocrawl.storage.frontier.lifecycle` for what becomes of the mark.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.storage import frontier

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease
    from qiaocrawl.runtime.runtime import Runtime

T = TypeVar("T")

CALM_SECONDS = 5.0
"""How long a run must have lived before it tries a page again that a worker died with alone.

So what kills runs shortly after they begin is not blamed on that page.
"""

_suspects: WeakKeyDictionary[Crawler, Suspects] = WeakKeyDictionary()


def suspects_of(crawler: Crawler) -> Suspects:
    """The suspects of *crawler*'s run, made at the first call."""
    if crawler not in _suspects:
        _suspects[crawler] = Suspects(runtime_of(crawler))
    return _suspects[crawler]


class Suspects:
    """Lets one suspect be tried at a time."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._alone = asyncio.Lock()
        self._began_at = time.monotonic()

    def calm_seconds(self, lease: Lease) -> float:
        """How long *lease* still has to wait: longer with each death it is suspected of."""
        # A stored page has died with n workers for crashes = 1 + n; one that was never stored
        # counts the first death too.
        wanted = CALM_SECONDS * (lease.crashes - lease.stored)
        return max(0.0, self._began_at + wanted - time.monotonic())

    @asynccontextmanager
    async def alone(
        self, lease: Lease | None, first: Callable[[], Awaitable[T]] | None = None
    ) -> AsyncIterator[T | None]:
        """If this process dies within the block, the death counts against *lease*.

        Only where *lease* is a suspect; for all others nothing is written.

        Args:
            first: awaited before the block begins; the block gets its result.
        """
        if lease is None or not lease.crashes:
            yield await first() if first is not None else None
            return
        await asyncio.sleep(self.calm_seconds(lease))
        # One at a time: with two marked suspects a death would not say which one did it.
        async with self._alone:
            entered = await first() if first is not None else None
            await self._runtime.write(lambda c: frontier.mark(c, lease))
            try:
                yield entered
            finally:
                await self._runtime.write(lambda c: frontier.unmark(c, lease))
