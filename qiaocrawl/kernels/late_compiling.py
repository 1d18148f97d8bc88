"""Loops as Python at first, for work that may turn out to be small.

Loading the compiler costs as much processor time as a crawl of some hundred pages spends in loops
written as Python. So these come first; once they have taken long enough, machine code is got
ready in a thread of its own while they go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, Thread, local, main_thread
from typing import Any, Protocol


class Loop(Protocol):
    """A function that exists in both forms."""

    python: Callable[..., Any]

    def get_ready(self, arguments: tuple[Any, ...]) -> None:
        """Make its machine code for the types of *arguments*."""
        ...


class LateCompiling:
    """Runs loops as Python, and counts what they take.

    Args:
        seconds: of processor time, after which machine code is got ready.
        when_ready: called then, by another thread.
    """

    def __init__(self, seconds: float, when_ready: Callable[[], None]) -> None:
        self._seconds_left = seconds
        self._when_ready = when_ready
        # What each loop was called with last.
        self._seen: dict[Loop, tuple[Any, ...]] = {}
        self._thread_state = local()
        self._guard = Lock()
        self._is_started = False

    def run(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """Call *loop* as Python."""
        state = self._thread_state
        if getattr(state, "is_inside", False):
            # Called by another loop, which is counted.
            return loop.python(*arguments)
        self._seen[loop] = arguments
        state.is_inside, began = True, time.thread_time()
        try:
            return loop.python(*arguments)
        finally:
            state.is_inside = False
            self._count(time.thread_time() - began)

    def _count(self, seconds: float) -> None:
        with self._guard:
            self._seconds_left -= seconds
            if self._seconds_left > 0 or self._is_started:
                return
            self._is_started = True
        # No daemon: the compiler must not be at work when its library is unloaded.
        thread = Thread(target=self._get_ready, name="qiaocrawl-loops")
        try:
            thread.start()
        except RuntimeError:
            # The system gives no thread: whoever calls next compiles. A process at its end, which
            # starts no thread either, goes on as it is.
            self._seen.clear()
            if main_thread().is_alive():
                self._when_ready()

    def _get_ready(self) -> None:
        try:
            for loop, arguments in list(self._seen.items()):
                # A process that ends does not wait for all of them.
                if not main_thread().is_alive():
                    return
                loop.get_ready(arguments)
        finally:
            # Whoever calls a loop that cannot be compiled meets the same error.
            self._seen.clear()
            self._when_ready()
