"""Loops as Python at first, for work that may turn out to be small.

Loading the compiler costs as much processor time as a crawl of some hundred pages spends in loops
written as Python. So these come first; once they have taken long enough, machine code is got
ready in a thread of its own while they go on. Each is used as soon as it is there: the thread
shares its processor with those that wait for all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock, Thread, local
from typing import Any, Protocol


class Loop(Protocol):
    """A function that exists in both forms."""

    python: Callable[..., Any]

    is_ready: bool

    def from_disk(self, arguments: tuple[Any, ...]) -> Any:
        """Call it as machine code, as Python where there is none for such *arguments*."""
        ...


class LateCompiling:
    """Runs loops as Python, and counts what they take.

    Args:
        seconds: of processor time, after which machine code is got ready.
        make_ready: gets it ready; called once, by a thread of its own or by :meth:`get_ready`.
        when_ready: called behind it, whatever came of it.
    """

    def __init__(
        self, seconds: float, make_ready: Callable[[], None], when_ready: Callable[[], None]
    ) -> None:
        self._seconds_left = seconds
        self._make_ready = make_ready
        self._when_ready = when_ready
        self._thread_state = local()
        self._guard = Lock()
        self._is_begun = False

    def run(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """Call *loop* as Python."""
        state = self._thread_state
        if getattr(state, "is_inside", False):
            # Called by another loop, which is counted.
            return loop.python(*arguments)
        if loop.is_ready:
            return loop.from_disk(arguments)
        state.is_inside, began = True, time.thread_time()
        try:
            return loop.python(*arguments)
        finally:
            state.is_inside = False
            self._count(time.thread_time() - began)

    def _count(self, seconds: float) -> None:
        with self._guard:
            self._seconds_left -= seconds
            is_enough = self._seconds_left <= 0
        if is_enough:
            self.begin()

    def begin(self) -> None:
        """Let machine code be got ready, unless that has begun; the caller goes on meanwhile."""
        if not self._is_first():
            return
        # No daemon: the compiler must not be at work when its library is unloaded.
        thread = Thread(target=self._get_ready, name="qiaocrawl-loops")
        try:
            thread.start()
        except RuntimeError:
            """The system gives no thread, or the process ends: loops stay as they are."""

    def get_ready(self) -> None:
        """Get machine code ready before this returns, unless that has begun."""
        if self._is_first():
            self._get_ready()

    def _is_first(self) -> bool:
        with self._guard:
            is_first, self._is_begun = not self._is_begun, True
            return is_first

    def _get_ready(self) -> None:
        try:
            self._make_ready()
        finally:
            # Whoever calls a loop that has no machine code meets Python.
            self._when_ready()
