"""The queue for what takes a request many seconds: exports, briefings, files that were sent.

A few at a time in threads of their own, so that log-in and lists find theirs; one at a time of a
user, so that nobody holds up all others; and none that nobody waits for any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException

from qiaocrawl.language import _
from qiaocrawl.runtime.sent_files import GivenUpError

MOST_AT_ONCE = 2
MOST_OF_USER = 3
"""Of one user: one that is made and those that wait for it."""
_WAIT_SECONDS = 50.0
"""Proxies give up after a minute (nginx: proxy_read_timeout)."""
_LOOK_SECONDS = 1.0
_RETRY_AFTER = {"Retry-After": "60"}

Result = TypeVar("Result")
IsOver = Callable[[], bool]
"""Whether nobody waits for the work any more: asked by the work itself now and then."""


class HeavyWork:
    """The queue of one console."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._slots = asyncio.Semaphore(most_at_once)
        self._threads = anyio.CapacityLimiter(most_at_once)
        self._of_user: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}
        self.running: set[str] = set()
        """Users whose work is being done."""

    def waiting(self) -> int:
        """How many pieces of work wait for their turn."""
        return self._of_user.total() - len(self.running)

    async def do(
        self, user: str, work: Callable[[IsOver], Result], is_gone: Callable[[], Awaitable[bool]]
    ) -> Result:
        """What *work* gives, in its turn.

        Args:
            is_gone: whether the client has left.

        Raises:
            HTTPException: 429, the user has enough waiting; 503, the turn did not come in time,
                or the client has left.
        """
        if self._of_user[user] >= MOST_OF_USER:
            raise HTTPException(
                429,
                _("Your last files are still being made. Wait until they are here."),
                _RETRY_AFTER,
            )
        self._of_user[user] += 1
        over = threading.Event()
        # A task of its own: it keeps its place until its thread has really ended.
        task = asyncio.ensure_future(self._in_turn(user, work, over))
        task.add_done_callback(lambda _task: self._leave(user))
        try:
            while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
                if not over.is_set() and await is_gone():
                    over.set()
            return task.result()
        except GivenUpError:
            raise HTTPException(503, _("Nobody waited for this any more.")) from None
        finally:
            over.set()

    def _leave(self, user: str) -> None:
        self._of_user[user] -= 1
        if not self._of_user[user]:
            del self._of_user[user]
            self._turns.pop(user, None)

    async def _in_turn(
        self, user: str, work: Callable[[IsOver], Result], over: threading.Event
    ) -> Result:
        turn = self._turns.setdefault(user, asyncio.Lock())
        until = asyncio.get_running_loop().time() + _WAIT_SECONDS
        async with _Turn(turn, over, until), _Turn(self._slots, over, until):
            self.running.add(user)
            try:
                return await anyio.to_thread.run_sync(work, over.is_set, limiter=self._threads)
            finally:
                self.running.discard(user)


class _Turn:
    """Holds *lock*, which it waits for until the time *until*, or until *over* is set."""

    def __init__(
        self, lock: asyncio.Lock | asyncio.Semaphore, over: threading.Event, until: float
    ) -> None:
        self._lock = lock
        self._over = over
        self._until = until

    async def __aenter__(self) -> None:
        taken = asyncio.ensure_future(self._lock.acquire())
        while not taken.done():
            left = self._until - asyncio.get_running_loop().time()
            if left <= 0 or self._over.is_set():
                break
            await asyncio.wait({taken}, timeout=min(left, _LOOK_SECONDS))
        if not taken.done():
            taken.cancel()
            if self._over.is_set():
                raise GivenUpError
            raise HTTPException(
                503, _("Many large files are being made now. Try again in a minute."), _RETRY_AFTER
            )
        if self._over.is_set():
            self._lock.release()
            raise GivenUpError

    async def __aexit__(self, *_error: object) -> None:
        self._lock.release()
