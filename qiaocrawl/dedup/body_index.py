"""Finds earlier bodies that share sentences with a new one, however different their titles."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.body_postings import (
    END,
    UNLISTED,
    SentenceLists,
    find,
    link_entries,
    rebuild_postings,
    unlink_entries,
    weigh,
)
from qiaocrawl.dedup.comparison import BodyEvidence, Sketch, Weights, compare, read_sketch
from qiaocrawl.dedup.vocabulary import SavedState, State, pack, unpack
from qiaocrawl.items import TitleRecord
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm.growing_array import Column, Views

LIST_LIMIT = 64
"""Bodies a sentence is listed for; what stands in more is found through its neighbours."""
USUAL_COPIES = 16
"""A sentence that stands in so many bodies weighs 1; in n more times as many, 1/n."""
MAX_NEAR = 32
"""Bodies that are compared with one."""

_MIN_SHARED = 2
# Weights go down to a quarter: with a smaller share of sentences no share by weight reaches .5.
_MIN_SHARE = 0.2
_FEW_DEAD = 65_536


class BodyIndex:
    """Bodies by row (a number from 0 on, dense), found by the sentences they share.

    Guarantee: :meth:`near` compares every row that shares two sentences or more with a
    record, a fifth of the smaller body at least, provided that these are listed; of more than
    32 such rows the 32 that share most of the smaller body. A sentence is listed for the first
    64 rows that hold it. So no article costs more than 70 x 64 entries and 32 comparisons, even
    if its text were copied, or one of its sentences used, a million times.

    Sentences that stand in many bodies (notices, copyright lines) weigh less: 16 divided by
    the number of bodies, down to a quarter, since counting ends at 64.

    Memory: about 14 bytes a sentence and 20 a row; 300 bytes for a body of 20 sentences.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._clear()

    def _clear(self) -> None:
        # By place: the entries of all bodies, one body after the other.
        self._entries = Column(np.uint32)
        self._following = Column(np.int32, UNLISTED)
        # Starts with 1,024 buckets; _append() doubles them.
        self._heads = np.full(1024, END, np.int32)
        self._views = Views(SentenceLists)
        self._size = self._dead = 0
        # By slot: bodies in the order they were added.
        self._slots = 0
        self._starts = Column(np.int64)
        self._totals = Column(np.uint16)
        self._row_of = Column(np.int32, -1)
        # By row.
        self._slot_of = Column(np.int32, -1)

    def __len__(self) -> int:
        """Number of rows held: those without a sketch are not."""
        return self._rows

    @property
    def memory_bytes(self) -> int:
        """Bytes held."""
        columns = (
            self._entries,
            self._following,
            self._starts,
            self._totals,
            self._row_of,
            self._slot_of,
        )
        return sum(column.nbytes for column in columns) + self._heads.nbytes

    def add(self, row: int, record: TitleRecord) -> None:
        """Remember the body of *record* as *row*, replacing what was there."""
        self.remove(row)
        sketch = read_sketch(record.body_sketch)
        if sketch is not None:
            self._append(row, sketch)
            self._rows += 1

    def remove(self, row: int) -> None:
        """Forget *row*; an unknown one is no error."""
        slot = self._slot(row)
        if slot < 0:
            return
        first, last = self._bounds(slot)
        unlink_entries(self._lists, first, last)
        self._slot_of.data[row] = self._row_of.data[slot] = -1
        self._rows -= 1
        self._dead += last - first
        # Half of the space is dead: packing costs time in proportion, so it pays for itself.
        if self._dead > max(_FEW_DEAD, self._size // 2):
            self._pack()

    def to_state(self) -> State:
        """Entries, lists and bodies."""
        size, slots = self._size, self._slots
        rows = int(self._row_of.data[:slots].max(initial=-1)) + 1
        return {
            "bodies.counts": np.array([self._rows, size, self._dead, slots], np.int64),
            "bodies.entries": self._entries.data[:size],
            "bodies.following": self._following.data[:size],
            "bodies.heads": self._heads,
            "bodies.starts": self._starts.data[: slots + 1],
            "bodies.totals": self._totals.data[:slots],
            "bodies.row_of": self._row_of.data[:slots],
            "bodies.slot_of": self._slot_of.data[:rows],
        }

    def restore(self, state: SavedState) -> None:
        """Take up the bodies that were saved."""
        self._rows, self._size, self._dead, self._slots = state["bodies.counts"].tolist()
        self._heads = state["bodies.heads"]
        for name, column in (
            ("entries", self._entries),
            ("following", self._following),
            ("starts", self._starts),
            ("totals", self._totals),
            ("row_of", self._row_of),
            ("slot_of", self._slot_of),
        ):
            column.restore(state[f"bodies.{name}"])

    def near(self, record: TitleRecord) -> list[tuple[int, BodyEvidence]]:
        """Rows that share sentences with *record*, most of the smaller body first; at most 32.

        *record* itself is among them when it was added before.
        """
        sketch = read_sketch(record.body_sketch)
        if sketch is None or not self._rows:
            return []
        # Room for the most there can be: no sentence is listed more often.
        room = len(sketch.entries) * LIST_LIMIT
        places, positions = np.empty(room, np.int64), np.empty(room, np.int64)
        count = find(self._lists, ints(sketch.entries), ints(places), ints(positions))
        # One shared sentence is never enough (same_body), so nothing can come of fewer.
        if count < _MIN_SHARED:
            return []
        weights = self._weights(sketch)
        slots = self._best(sketch, places[:count], weights[positions[:count]])
        matches = [
            (int(self._row_of.data[slot]), self._compare(sketch, weights, slot)) for slot in slots
        ]
        matches = [pair for pair in matches if pair[1].shared >= _MIN_SHARED]
        return sorted(matches, key=lambda pair: (-pair[1].containment, pair[0]))

    def evidence(self, record: TitleRecord, row: int) -> BodyEvidence | None:
        """What *record* and *row* share; None where one of the bodies is unknown."""
        sketch, slot = read_sketch(record.body_sketch), self._slot(row)
        if sketch is None or slot < 0:
            return None
        return self._compare(sketch, self._weights(sketch), slot)

    def _best(self, sketch: Sketch, places: NDArray[np.int64], weights: Weights) -> list[int]:
        """The slots worth comparing, of those whose entries are at *places*."""
        starts = self._starts.data[: self._slots]
        slots, inverse, shared = np.unique(
            # starts ascends, so the slot of a place is found by bisection.
            np.searchsorted(starts, places, side="right") - 1,
            return_inverse=True,
            return_counts=True,
        )
        smaller = np.minimum(self._starts.data[slots + 1] - starts[slots], len(sketch.entries))
        # The weighted share of the smaller body that is found.
        score = np.bincount(inverse, weights) / smaller
        similar = np.flatnonzero((shared >= _MIN_SHARED) & (shared >= _MIN_SHARE * smaller))
        # Of equals those added first, so that the result does not depend on array layout.
        best = np.lexsort((slots[similar], -score[similar]))[:MAX_NEAR]
        return [int(slot) for slot in slots[similar][best]]

    def _compare(self, sketch: Sketch, weights: Weights, slot: int) -> BodyEvidence:
        first, last = self._bounds(slot)
        other = Sketch(int(self._totals.data[slot]), self._entries.data[first:last])
        return compare(sketch, other, weights, self._weights(other))

    def _weights(self, sketch: Sketch) -> Weights:
        weights = np.empty(len(sketch.entries))
        weigh(self._lists, ints(sketch.entries), USUAL_COPIES, floats(weights))
        return weights

    def _append(self, row: int, sketch: Sketch) -> None:
        first, slot = self._size, self._slots
        last = first + len(sketch.entries)
        self._entries.reserve(last)[first:last] = sketch.entries
        self._following.reserve(last)
        # As many buckets as entries keep the chains short; doubling makes relinking rare.
        if last > len(self._heads):
            self._heads = np.full(2 * len(self._heads), END, np.int32)
            # The heads must be laid out anew: a bucket is the hash modulo their number.
            rebuild_postings(self._lists, first)
        link_entries(self._lists, first, last, LIST_LIMIT)
        self._size, self._slots = last, slot + 1
        starts = self._starts.reserve(slot + 2)
        starts[slot], starts[slot + 1] = first, last
        self._totals.reserve(slot + 1)[slot] = sketch.total
        self._row_of.reserve(slot + 1)[slot] = row
        self._slot_of.reserve(row + 1)[row] = slot

    def _pack(self) -> None:
        """Compact the arrays: free the space of removed rows."""
        entries, starts, totals = self._entries.data, self._starts.data, self._totals.data
        rows = self._row_of.data[: self._slots]
        self._clear()
        for slot in np.flatnonzero(rows >= 0).tolist():
            sketch = Sketch(int(totals[slot]), entries[starts[slot] : starts[slot + 1]])
            self._append(int(rows[slot]), sketch)

    @property
    def _lists(self) -> SentenceLists:
        return self._views.of(self._entries.data, self._following.data, self._heads)

    def _slot(self, row: int) -> int:
        return int(self._slot_of.data[row]) if row < len(self._slot_of.data) else -1

    def _bounds(self, slot: int) -> tuple[int, int]:
        first, last = self._starts.data[slot : slot + 2].tolist()
        return first, last


# --- Titles with identical bodies, for bodies of which only the digest is known -------------------


class BodyCopies:
    """Titles by number, found by the digest of their body.

    Bodies whose sentences are known are found by those (see
    :class:`qiaocrawl.dedup.body_index.BodyIndex`) and take no room here. Those of a single
    sentence (a caption, a notice) are not, on purpose: they are the same under many titles.
    Others take some 300 bytes each.
    """

    def __init__(self) -> None:
        # A dict as an ordered set: removing one of thousands must not search a list.
        # By digest, oldest first.
        self._numbers: dict[bytes, dict[int, None]] = {}
        self._digests: dict[int, bytes] = {}

    def add(self, number: int, record: TitleRecord) -> None:
        """Remember the body of *record* as that of the title *number*, which has none yet."""
        self._numbers.setdefault(record.body_digest, {})[number] = None
        self._digests[number] = record.body_digest

    def remove(self, number: int) -> None:
        """Forget the body of a title; a title without one is no error."""
        digest = self._digests.pop(number, None)
        if digest is not None:
            left = self._numbers[digest]
            del left[number]
            if not left:
                del self._numbers[digest]

    def to_state(self) -> State:
        """Digests with their titles, in the order in which they came."""
        return {
            "copies": pack(
                [[digest.hex(), [*numbers]] for digest, numbers in self._numbers.items()]
            )
        }

    def restore(self, state: SavedState) -> None:
        """Take up what was saved."""
        self._numbers = {
            bytes.fromhex(digest): dict.fromkeys(numbers)
            for digest, numbers in unpack(state["copies"])
        }
        self._digests = {
            number: digest for digest, numbers in self._numbers.items() for number in numbers
        }

    def of(self, record: TitleRecord, limit: int) -> list[int]:
        """Titles with the body of *record*, the newest *limit*."""
        if not record.body_digest:
            return []
        return list(islice(reversed(self._numbers.get(record.body_digest, {})), limit))
