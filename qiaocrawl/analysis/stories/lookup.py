"""Stories found by their heaviest terms: posting lists of all that are awake."""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.analysis.stories.terms import DIMENSIONS, Ids
from qiaocrawl.analysis.stories.vector import Vector
from qiaocrawl.vsm.growing_array import Column

# As many entries are read to find what one story may be like.
_LOOKED_AT = 20_000
# Lists are made anew when so many stories, and this share of all, came or went.
_LEAST_CHANGED, _MOST_CHANGED = 1_024, 0.25
_NOBODY = -1


class StoryLookup:
    """Which stories share most with one.

    Most entries stand in one array, ordered by term; what came since that was made stands in lists
    of its own, and what went is passed over. So a story that grows costs no more where a hundred
    thousand are awake than where ten are. What is found depends on the stories alone, not on
    their order, as long as sums of products are below 2**53: two stories of 8,000 texts each.
    """

    def __init__(self) -> None:
        self._tops: dict[int, Vector] = {}
        self._slots: dict[int, int] = {}
        self._numbers = Column(np.int64, fill=_NOBODY)
        self._shares = Column(np.float64)
        self._used = 0
        # How many stories have each term.
        self._live = np.zeros(DIMENSIONS, np.int32)
        self._starts = np.zeros(DIMENSIONS + 1, np.int64)
        self._entries: tuple[Ids, Ids] = (np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._new: defaultdict[int, tuple[array[int], array[int]]] = defaultdict(_no_entries)
        self._changed = 0

    def put(self, number: int, top: Vector, share: float) -> None:
        """Have a story under its *number*, which is not there yet.

        Args:
            top: its heaviest terms.
            share: by which a product with another becomes comparable with those of other stories.
        """
        slot = self._used
        self._used += 1
        self._numbers.reserve(self._used)[slot] = number
        self._shares.reserve(self._used)[slot] = share
        self._slots[number] = slot
        self._tops[number] = top
        self._live[top.ids] += 1
        for term, value in zip(top.ids.tolist(), top.values.tolist(), strict=True):
            slots, values = self._new[term]
            slots.append(slot)
            values.append(value)
        self._count_change()

    def remove(self, number: int) -> None:
        """Take a story out."""
        slot = self._slots.pop(number)
        self._numbers.data[slot] = _NOBODY
        self._shares.data[slot] = 0.0
        self._live[self._tops.pop(number).ids] -= 1
        self._count_change()

    def near(self, number: int, count: int) -> list[int]:
        """The *count* stories that share most with one by the heaviest terms of both, ascending."""
        slots, products = self._shared(self._tops[number])
        sums = np.bincount(slots, products, self._used)
        rough = sums * self._shares.data[: self._used]
        rough[self._slots[number]] = 0.0
        found = np.flatnonzero(rough)
        if len(found) > count:
            least = np.partition(rough[found], -count)[-count]
            found = found[rough[found] >= least]
        best = sorted(
            zip((-rough[found]).tolist(), self._numbers.data[found].tolist(), strict=True)
        )
        return sorted(near for _, near in best[:count])

    def _shared(self, top: Vector) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Who has terms of *top*, and what each adds to the product; the rarest terms only."""
        lengths = self._live[top.ids]
        order = np.lexsort((top.ids, lengths))
        read = max(int(np.searchsorted(np.cumsum(lengths[order]), _LOOKED_AT, "right")), 1)
        ids, own = top.ids[order[:read]], top.values[order[:read]]
        starts = self._starts[ids]
        counts = self._starts[ids + 1] - starts
        # The places of all entries, one term's after the other's.
        places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        slots, values = array("i"), array("i")
        new_counts = np.zeros(read, np.int64)
        for at, term in enumerate(ids.tolist()):
            new = self._new.get(term)
            if new:
                slots += new[0]
                values += new[1]
                new_counts[at] = len(new[0])
        who = np.concatenate((self._entries[0][places], np.frombuffer(slots, np.int32)))
        theirs = np.concatenate((self._entries[1][places], np.frombuffer(values, np.int32)))
        ours = np.concatenate((np.repeat(own, counts), np.repeat(own, new_counts)))
        return who.astype(np.int64), ours * theirs.astype(np.float64)

    def _count_change(self) -> None:
        self._changed += 1
        if self._changed > _LEAST_CHANGED + _MOST_CHANGED * len(self._tops):
            self._make_anew()

    def _make_anew(self) -> None:
        """All entries into one array, without those of stories that went."""
        self._changed = 0
        self._new.clear()
        shares = [float(self._shares.data[self._slots[number]]) for number in self._tops]
        self._used = len(self._tops)
        self._slots = {number: slot for slot, number in enumerate(self._tops)}
        self._numbers, self._shares = Column(np.int64, fill=_NOBODY), Column(np.float64)
        self._numbers.reserve(self._used)[: self._used] = list(self._tops)
        self._shares.reserve(self._used)[: self._used] = shares
        terms, slots, values = _flat(list(self._tops.values()))
        order = np.argsort(terms, kind="stable")
        self._entries = slots[order], values[order]
        self._starts[1:] = np.cumsum(np.bincount(terms, minlength=DIMENSIONS))


def _no_entries() -> tuple[array[int], array[int]]:
    return array("i"), array("i")


def _flat(tops: list[Vector]) -> tuple[NDArray[Any], Ids, Ids]:
    """Term, place in *tops* and value of all entries."""
    if not tops:
        nothing = np.zeros(0, np.int32)
        return nothing, nothing, nothing
    lengths = [len(top.ids) for top in tops]
    return (
        np.concatenate([top.ids for top in tops]),
        np.repeat(np.arange(len(tops), dtype=np.int32), lengths),
        np.concatenate([top.values for top in tops]).astype(np.int32),
    )
