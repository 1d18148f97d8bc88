"""How many pages are open in the browser at once: a few, or one alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Seats:
    """Lets *most* in at a time; who wants to be alone waits until all others have left.

    A page that once went down with the browser is opened alone, so that the guilt for the next
    time is certain; and the browser is started anew only while nobody is in it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting_alone = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[None]:
        """A place among others."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._taken < self._most and not self._waiting_alone
            )
            self._taken += 1
        try:
            yield
        finally:
            await self._leave(1)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """All places."""
        async with self._changed:
            self._waiting_alone += 1
            try:
                await self._changed.wait_for(lambda: self._taken == 0)
                self._taken = self._most
            finally:
                self._waiting_alone -= 1
        try:
            yield
        finally:
            await self._leave(self._most)

    async def _leave(self, places: int) -> None:
        async with self._changed:
            self._taken -= places
            self._changed.notify_all()
