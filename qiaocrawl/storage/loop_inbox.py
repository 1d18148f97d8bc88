"""Futures of other threads, awaited in an event loop: many results, one wake-up.

``asyncio.wrap_future`` wakes the loop for every future, through a socket. Here a result that comes
while others are on their way goes with them: a commit of twenty pages wakes the loop once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


def in_loop(source: Future[T]) -> asyncio.Future[T]:
    """*source* as a future of the running loop; cancelling it cancels *source*."""
    loop = asyncio.get_running_loop()
    inbox = _inboxes.get(loop)
    if inbox is None:
        inbox = _inboxes[loop] = _Inbox()
    waiting: asyncio.Future[T] = loop.create_future()
    waiting.add_done_callback(lambda future: source.cancel() if future.cancelled() else None)
    source.add_done_callback(lambda done: inbox.put(loop, waiting, done))
    return waiting


class _Inbox:
    """What other threads have done for one loop and it has not heard of yet."""

    def __init__(self) -> None:
        self._done: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._is_called = False

    def put(
        self, loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[Any], source: Future[Any]
    ) -> None:
        """*source* is done, which *waiting* of *loop* is to hear; any thread may say so."""
        # In this order: the loop lowers the flag before it looks, so nothing is overlooked. Two
        # threads that both find it lowered call twice, which does no harm.
        self._done.append((waiting, source))
        if self._is_called:
            return
        self._is_called = True
        try:
            loop.call_soon_threadsafe(self._hand_out)
        except RuntimeError:
            # The loop is closed: nobody waits any more.
            self._done.clear()

    def _hand_out(self) -> None:
        self._is_called = False
        while self._done:
            _settle(*self._done.popleft())


def _settle(waiting: asyncio.Future[Any], source: Future[Any]) -> None:
    if waiting.done():
        return
    try:
        result = source.result()
    except CancelledError:
        waiting.cancel()
    except StopIteration as error:
        # No future of a loop takes one, and those behind it would not be told.
        failure = RuntimeError("StopIteration was raised by another thread")
        failure.__cause__ = error
        waiting.set_exception(failure)
    except BaseException as error:
        waiting.set_exception(error)
    else:
        waiting.set_result(result)


# Weak keys, and no inbox keeps its loop: a process may run several one after the other.
_inboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Inbox] = WeakKeyDictionary()
