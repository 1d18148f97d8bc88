"""How many large answers are read at once, and how fast (faults F-R2, F-K7).

Each answer is bounded by ``DOWNLOAD_MAXSIZE``, their sum is not: fifty hosts that send ten
megabytes each, as fast as they can, hold half a gigabyte and leave the event loop little time for
others. So an answer beyond its first part takes one of a few places, in the order they come, and
is read at a pace that no ordinary line reaches. A waiting connection is not read, and TCP tells
the host so; ``DOWNLOAD_TIMEOUT`` runs on meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Protocol

FREE_BYTES = 256 * 1024
"""Of an answer as it comes over the line, read without a place; most pages have less."""
PLACES = 3
"""Large answers read at once **(ours)**: with 10 MiB each, 30 MiB in all."""
BYTES_PER_SECOND = 4 * 1024 * 1024
"""At most, of each large answer **(ours)**."""
# A slower answer needs no place: it costs little, and must not keep others waiting.
SLOW_BYTES_PER_SECOND = 256 * 1024
SLOW_AFTER_SECONDS = 2.0
# Timers for shorter pauses would cost more than they save.
_SHORTEST_PAUSE_SECONDS = 0.02


class Transport(Protocol):
    """A connection whose reading can be paused: Twisted's."""

    def pauseProducing(self) -> None:
        """Stop reading."""

    def resumeProducing(self) -> None:
        """Continue reading."""


@dataclass(slots=True)
class _Place:
    began: float
    read_bytes: int = 0

    @property
    def is_slow(self) -> bool:
        """Whether it has been read too slowly to keep others waiting."""
        seconds = time.monotonic() - self.began
        return seconds >= SLOW_AFTER_SECONDS and self.read_bytes < SLOW_BYTES_PER_SECOND * seconds


class LargeAnswers:
    """The large answers that one process reads. Not thread safe: the event loop's."""

    def __init__(self) -> None:
        self._reading: dict[Transport, _Place] = {}
        self._waiting: dict[Transport, None] = {}
        self._looks_again = False

    def received(self, transport: Transport, new_bytes: int, total_bytes: int) -> None:
        """*transport* brought *new_bytes*, *total_bytes* of this answer; it may be paused now."""
        if total_bytes <= FREE_BYTES:
            return
        place = self._reading.get(transport)
        # A dict keeps them in the order they come.
        if place is None:
            transport.pauseProducing()
            self._waiting[transport] = None
            self._fill()
            return
        place.read_bytes += new_bytes
        # How far reading is ahead of its pace; a pause of that length brings it back.
        ahead_seconds = place.read_bytes / BYTES_PER_SECOND - (time.monotonic() - place.began)
        if ahead_seconds > _SHORTEST_PAUSE_SECONDS:
            transport.pauseProducing()
            loop = asyncio.get_running_loop()
            loop.call_later(ahead_seconds, self._read_on, transport, place)

    def ended(self, transport: Transport) -> None:
        """The answer of *transport* is whole or given up."""
        self._waiting.pop(transport, None)
        if self._reading.pop(transport, None) is not None:
            self._fill()

    def _fill(self) -> None:
        while self._waiting:
            if self._taken() >= PLACES:
                self._look_again()
                return
            transport = next(iter(self._waiting))
            del self._waiting[transport]
            place = self._reading[transport] = _Place(time.monotonic())
            self._read_on(transport, place)

    def _taken(self) -> int:
        """How many places are taken by answers that are not slow."""
        return sum(not place.is_slow for place in self._reading.values())

    def _look_again(self) -> None:
        """Check again soon whether an answer that holds a place has become slow."""
        if self._looks_again:
            return
        self._looks_again = True

        def look() -> None:
            self._looks_again = False
            self._fill()

        asyncio.get_running_loop().call_later(SLOW_AFTER_SECONDS / 2, look)

    def _read_on(self, transport: Transport, place: _Place) -> None:
        # During the pause the answer may have ended, and the connection may serve another one.
        if self._reading.get(transport) is place:
            transport.resumeProducing()
