"""Finds the new rows of the log of visits: those after a place, and late ones before it.

Numbers are given when a row is written, not when it is committed, so a row may become visible
after one with a higher number; at most a transaction's duration later.
"""

from __future__ import annotations

from collections.abc import Iterable

LOOK_BACK_SECONDS = 120.0
"""A row that becomes visible later than this after a higher one is missed until a restart."""


class VisitReader:
    """Remembers which rows were read.

    Args:
        token: of this process; its own rows are not new to it.
        start: place behind which reading begins.
    """

    def __init__(self, token: int, start: int) -> None:
        self._token = token
        self._seen: dict[int, float] = {}
        self.floor = start
        """Read on behind this place."""

    @property
    def newest(self) -> int:
        """The highest number read so far."""
        return max(self._seen, default=self.floor)

    def unread(self, heads: Iterable[tuple[int, int]], now: float) -> list[int]:
        """The numbers among *heads* (number, token) that are new here, to be read.

        Args:
            now: seconds of a clock that does not jump.
        """
        new = [(seq, token) for seq, token in heads
               if seq not in self._seen and seq > self.floor]  # fmt: skip
        # Own rows are ticked off unread: the order has learnt from those pages already.
        self.have_read((seq for seq, token in new if token == self._token), now)
        return [seq for seq, token in new if token != self._token]

    def have_read(self, seqs: Iterable[int], now: float) -> None:
        """These rows were taken in; they are no longer new."""
        self._seen.update((seq, now) for seq in seqs)

    def settle(self, now: float) -> None:
        """Forget rows that are too old to look back to."""
        old = [seq for seq, at in self._seen.items() if at < now - LOOK_BACK_SECONDS]
        # Rows that become visible this late stay unread; the floor must move, or the memory would
        # grow with the log.
        if old:
            self.floor = max(self.floor, *old)
            self._seen = {seq: at for seq, at in self._seen.items() if seq > self.floor}
