"""What takes long to count, counted once for all who look at it within some seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

Result = TypeVar("Result")

_MOST_KEPT = 256


@dataclass(slots=True)
class _Place:
    turn: threading.Lock = field(default_factory=threading.Lock)
    until: float = 0.0
    value: object = None


class Kept:
    """Results by name. Threads that want the same one wait for the first of them."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._lock = threading.Lock()

    def get(self, name: str, seconds: float, make: Callable[[], Result]) -> Result:
        """What *make* gave within the last *seconds*, else what it gives now.

        *name* must tell all that the result depends on, such as a language.
        """
        with self._lock:
            if name not in self._places and len(self._places) >= _MOST_KEPT:
                self._places.clear()
            place = self._places.setdefault(name, _Place())
        with place.turn:
            if time.monotonic() >= place.until:
                place.value = make()
                place.until = time.monotonic() + seconds
            return cast(Result, place.value)

    def forget(self, name: str) -> None:
        """Let what has *name* be made anew."""
        with self._lock:
            self._places.pop(name, None)

    def clear(self) -> None:
        """Let everything be made anew."""
        with self._lock:
            self._places.clear()
