"""The visit history of pages: sums that fade, and the last intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RING = 12
"""Intervals kept one by one, for the estimate by maximum likelihood."""
_SUMS = ("visits", "changes", "hours", "busy", "news", "interval")
_PLACE = {name: place for place, name in enumerate(_SUMS)}
_WIDTH = len(_SUMS) + 2 * RING
# "<f4": four bytes a number, the same on every machine.
HISTORY_BYTES = 4 * _WIDTH
"""Of one page, packed."""


class VisitHistory:
    """The visits of many pages, a row each.

    ``column(name)`` gives, faded by time: ``visits`` and ``changes`` (visits that brought
    something), ``hours`` and ``busy`` hours they cover, ``news`` (new links in them);
    ``interval`` is the hours of the rule ×0.5/×1.5 and does not fade.
    """

    def __init__(self, table: Floats) -> None:
        self.table = table

    @classmethod
    def empty(cls, pages: int) -> VisitHistory:
        """Nothing known of *pages* pages."""
        return cls(np.zeros((pages, _WIDTH)))

    @classmethod
    def unpacked(cls, rows: list[bytes]) -> VisitHistory:
        """From bytes of :meth:`packed`; what is no such row counts as nothing known."""
        memory = cls.empty(len(rows))
        for place, row in enumerate(rows):
            if len(row) == HISTORY_BYTES:
                values = np.frombuffer(row, dtype="<f4")
                # Damaged rows: nan, infinite or negative numbers count as nothing known.
                memory.table[place] = np.where(np.isfinite(values), np.maximum(values, 0), 0)
        return memory

    def packed(self, page: int) -> bytes:
        """The row of *page* as HISTORY_BYTES bytes."""
        return bytes(self.table[page].astype("<f4").tobytes())

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> Floats:
        """A sum of all pages; writing to it changes the memory."""
        return self.table[:, _PLACE[name]]

    def rows(self, pages: Ints) -> VisitHistory:
        """A copy of some rows."""
        return VisitHistory(self.table[pages])

    @property
    def intervals(self) -> Floats:
        """(pages, RING) hours of the last intervals, the newest first; 0 where there is none."""
        return self.table[:, len(_SUMS) : len(_SUMS) + RING]

    @property
    def changed(self) -> Floats:
        """(pages, RING) whether something was new after each of :attr:`intervals`."""
        return self.table[:, len(_SUMS) + RING :]

    def add(
        self, pages: Ints, *, hours: Floats, busy: Floats, news: Floats, changed: Floats,
        fading_hours: float,
    ) -> None:  # fmt: skip
        """Note a visit of each of *pages* (every page once).

        Args:
            hours, busy: since the visit before.
            news: new links found.
            changed: 1 where anything was new.
            fading_hours: after which a visit counts 1/e of a new one.
        """
        rows = self.table[pages]
        remaining = np.exp(-hours / fading_hours)[:, None]
        added = np.stack([np.ones_like(hours), changed, hours, busy, news], axis=1)
        rows[:, :5] = rows[:, :5] * remaining + added
        first = len(_SUMS)
        for start, newest in ((first, hours), (first + RING, changed)):
            # The ring moves on by one; the oldest interval falls out.
            rows[:, start + 1 : start + RING] = rows[:, start : start + RING - 1]
            rows[:, start] = newest
        self.table[pages] = rows
