"""Distinct titles with their postings: exact search by cosine, insertion and removal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.dedup.cleaning import MAX_WORDS, TitleBatch
from qiaocrawl.dedup.row_kernels import (
    FoundPairs,
    PlacedTitles,
    TitleArrays,
    near,
    place,
    refill_slots,
    unlink,
)
from qiaocrawl.dedup.vocabulary import SavedState, State, TermTable
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm.growing_array import Column, Views

_FEWEST_SLOTS = 2048
# Linear probing slows down quickly in a fuller table.
_FULLEST = 0.7
_ROOM = 4096
_AT_A_TIME = 1000
# Entries of a block, at most.
_BLOCK = 32
# Places in the pools are 32 bits.
_MOST_PLACES = 2**31 - 1

Array = NDArray[Any]


class TitleRows:
    """Titles of the same words in the same order are one row, however many members it has.

    Members are numbers the caller gives; a row names its newest member, and each member the
    next older one. A row without members is skipped, and stays until :meth:`rebuilt`.

    Memory: a row takes 24 to 30 bytes, 4 for each word and 6 to 12 for each word that is
    posted (two to four of ten at a threshold of .7).

    Args:
        table: the words and their weights.
        threshold: cosine in (0, 1] from which rows are found.
    """

    def __init__(self, table: TermTable, threshold: float) -> None:
        self._table = table
        self.threshold = threshold
        self._starts = Column(np.int32)
        self._terms = Column(np.int32)
        self._heads = Column(np.int32, -1)
        self._signatures = Column(np.uint64)
        self._slots: Array = np.full(_FEWEST_SLOTS, -1, np.int32)
        self._blocks, self._newest = Column(np.int32), Column(np.int32, -1)
        self._fill = Column(np.uint8)
        self._row, self._weight, self._rest = Column(np.int32), Column(np.uint8), Column(np.uint8)
        self._weights, self._places = Column(np.float64), Column(np.int32)
        # Number of rows, end of the pool.
        self._sizes: Array = np.zeros(2, np.int64)
        # Of one query: words, tf·idf, bits in signatures, shares of the squared length.
        self._query = tuple(
            np.zeros(MAX_WORDS, kind) for kind in (np.int32, np.float64, np.uint64, np.float64)
        )
        self._views = Views(partial(TitleArrays, threshold))

    def __len__(self) -> int:
        """Number of rows."""
        return int(self._sizes[0])

    @property
    def nbytes(self) -> int:
        """Bytes held, those of the vocabulary apart."""
        columns = (
            self._starts,
            self._terms,
            self._heads,
            self._signatures,
            self._row,
            self._weight,
            self._rest,
        )
        return sum(column.nbytes for column in columns) + self._slots.nbytes

    @property
    def terms(self) -> tuple[Array, Array]:
        """The words of all rows, and where those of each begin: both int32."""
        return self._terms.data, self._starts.data

    def head(self, row: int) -> int:
        """The newest member of *row*, -1 if it has none."""
        return int(self._heads.data[row])

    def words(self, row: int) -> Array:
        """The words of *row* by number."""
        return self._terms.data[self._starts.data[row] : self._starts.data[row + 1]]

    def near(self, words: Array) -> tuple[Array, Array]:
        """Rows with members at least ``threshold`` near *words*, with their cosines in [0, 1].

        Exactly what a comparison with every row gives.

        Raises:
            ValueError: more than ``MAX_WORDS`` words.
        """
        _check_length(len(words))
        # Words of the query may be new, and the loops write to their places.
        self._reserve_terms()
        room = _ROOM
        while True:
            rows, cosines = np.empty(room, np.int32), np.empty(room, np.float64)
            count = near(self._arrays, ints(words), ints(rows), floats(cosines))
            if count <= room:
                return rows[:count], cosines[:count]
            # Too many for the room: search once more, with room for all.
            room = count

    def place(
        self,
        batch: TitleBatch,
        members: tuple[Array, Array, Array],
        *,
        search: bool = True,
        limit: int = 0,
    ) -> tuple[Array, Array, Array, Array]:
        """Insert titles one after the other, each compared with all before it.

        Args:
            batch: the titles.
            members: row of each member, next older member of each, and the number each title
                of *batch* has as a member; the first two are filled in.
            search: False enters them only.
            limit: pairs of one title at most, those of the highest cosine, then of the
                smallest row; 0 = all.

        Returns:
            (place in *batch*, row, cosine, newest member of the row by then) of each pair
            found, by title.

        Raises:
            OverflowError: more than 2**31 words; some hundred million titles.
            ValueError: a title of more than ``MAX_WORDS`` words.
        """
        words, starts = batch
        # A crawl brings one title at a time, which is never too long.
        if len(words) > MAX_WORDS:
            _check_length(int(np.diff(starts).max()))
        self._reserve(len(starts) - 1, len(words))
        titles = PlacedTitles(words, starts, *members)
        index = self._arrays
        room = _ROOM if search else 0
        parts: list[tuple[Array, ...]] = []
        first = 0
        while True:
            title, row, newest = (np.empty(room, np.int32) for _ in range(3))
            cosine = np.empty(room, np.float64)
            out = title, row, cosine, newest
            end = place(index, titles, first, FoundPairs(*out), limit)
            parts.append(tuple(column[: index.found] for column in out))
            if end == len(starts) - 1:
                break
            # Full; where even one title found no room, more is needed.
            room = room if end > first else 2 * room
            first = end
        title, row, cosine, newest = (
            np.concatenate(column) if len(parts) > 1 else column[0]
            for column in zip(*parts, strict=True)
        )
        return title, row, cosine, newest

    def unlink(self, row: int, member: int, next_in_row: Array) -> None:
        """Remove *member* from its row; *next_in_row* holds the next older member of each."""
        unlink(ints(self._heads.data), ints(next_in_row), row, member)

    def rebuilt(self, member_row: Array) -> TitleRows:
        """The same rows without those that have no members; *member_row* is brought up to date."""
        used = np.flatnonzero(self._heads.data[: len(self)] >= 0)
        new = TitleRows(self._table, self.threshold)
        # Not all at once: room is made for the most that postings could take.
        for first in range(0, len(used), _AT_A_TIME):
            words = [self.words(row) for row in used[first : first + _AT_A_TIME].tolist()]
            starts = np.concatenate(([0], np.cumsum(list(map(len, words)))))
            batch = TitleBatch(np.concatenate(words), starts)
            # Members are set afterwards, from the old heads; these numbers only fill the places.
            scratch = np.arange(len(words), dtype=np.int32)
            new.place(batch, (scratch, scratch.copy(), scratch.copy()), search=False)
        new._heads.data[: len(used)] = self._heads.data[used]
        numbers = np.full(len(self) + 1, -1, np.int32)
        numbers[used] = np.arange(len(used))
        # A free member has row -1, which is the last of them.
        member_row[:] = numbers[member_row]
        return new

    def to_state(self) -> State:
        """Rows and postings."""
        rows, pool = self._sizes.tolist()
        terms = len(self._table)
        return {
            "rows.sizes": self._sizes,
            "rows.starts": self._starts.data[: rows + 1],
            "rows.terms": self._terms.data[: int(self._starts.data[rows])],
            "rows.heads": self._heads.data[:rows],
            "rows.signatures": self._signatures.data[:rows],
            "rows.slots": self._slots,
            "postings.blocks": self._blocks.data[:terms],
            "postings.newest": self._newest.data[:terms],
            "postings.fill": self._fill.data[:terms],
            "postings.row": self._row.data[:pool],
            "postings.weight": self._weight.data[:pool],
            "postings.rest": self._rest.data[:pool],
        }

    def restore(self, state: SavedState) -> None:
        """Take up the rows that were saved; their words are those of the table."""
        self._sizes = state["rows.sizes"]
        self._starts.restore(state["rows.starts"])
        self._terms.restore(state["rows.terms"])
        self._heads.restore(state["rows.heads"])
        self._signatures.restore(state["rows.signatures"])
        self._slots = state["rows.slots"]
        for name, column in (
            ("blocks", self._blocks),
            ("newest", self._newest),
            ("fill", self._fill),
            ("row", self._row),
            ("weight", self._weight),
            ("rest", self._rest),
        ):
            column.restore(state[f"postings.{name}"])
        for column in (self._weights, self._places):
            # All 0 between two searches.
            column.restore(np.zeros(len(self._table)))

    def _reserve(self, titles: int, words: int) -> None:
        self._reserve_terms()
        # One more: starts holds the end of the last row too.
        rows = len(self) + titles + 1
        # Each is asked: they differ by one, so they do not grow with the same title.
        self._starts.reserve(rows + 1)
        self._heads.reserve(rows)
        self._signatures.reserve(rows)
        ends = int(self._starts.data[len(self)]) + words
        # Each word could begin a block.
        pool = int(self._sizes[1]) + _BLOCK * words + 1
        if max(ends, pool) > _MOST_PLACES:
            raise OverflowError(f"{len(self)} titles are as many as an index holds")
        self._terms.reserve(ends)
        if pool > len(self._row.data):
            for column in (self._row, self._weight, self._rest):
                column.reserve(pool)
        if rows > _FULLEST * len(self._slots):
            size = len(self._slots)
            while rows > _FULLEST * size:
                size *= 2
            self._slots = np.full(size, -1, np.int32)
            refill_slots(self._arrays)

    def _reserve_terms(self) -> None:
        size = len(self._table) + 1
        if size <= len(self._places.data):
            return
        for column in (self._blocks, self._newest, self._fill, self._weights, self._places):
            column.reserve(size)

    @property
    def _arrays(self) -> TitleArrays:
        """All arrays as the loops see them."""
        table = self._table
        return self._views.of(
            self._sizes,
            self._starts.data,
            self._terms.data,
            self._heads.data,
            self._signatures.data,
            self._slots,
            self._blocks.data,
            self._newest.data,
            self._fill.data,
            self._row.data,
            self._weight.data,
            self._rest.data,
            table.idf,
            table.commonness,
            self._weights.data,
            self._places.data,
            *self._query,
        )


def _check_length(words: int) -> None:
    """Refuse a title that loops have no room for: what they write beyond it nobody checks."""
    if words > MAX_WORDS:
        raise ValueError(f"a title has at most {MAX_WORDS} words, got {words}")
