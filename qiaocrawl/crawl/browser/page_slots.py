"""How many pages are open in the browser at once: a few, or one alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class PageSlots:
    """A semaphore of *most* pages with an exclusive mode, which waits until no page is open.

    A page that once went down with the browser is opened alone, so that a second crash is surely
    its own; and the browser is restarted only while no page is open.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting_exclusive = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold one slot."""
        async with self._changed:
            await self._changed.wait_for(
                # A waiting page that wants to be alone goes first.
                lambda: self._taken < self._most and not self._waiting_exclusive
            )
            self._taken += 1
        try:
            yield
        finally:
            await self._release(1)

    @asynccontextmanager
    async def acquire_exclusive(self) -> AsyncIterator[None]:
        """Hold all slots: nobody else has a page open."""
        async with self._changed:
            # Counted before waiting: no further page is let in, or the wait might never end.
            self._waiting_exclusive += 1
            try:
                await self._changed.wait_for(lambda: self._taken == 0)
                self._taken = self._most
            finally:
                self._waiting_exclusive -= 1
        try:
            yield
        finally:
            await self._release(self._most)

    async def _release(self, slots: int) -> None:
        async with self._changed:
            self._taken -= slots
            self._changed.notify_all()
