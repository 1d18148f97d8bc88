"""Words as numbers, and in how many documents of a collection each stands."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qiaocrawl.vsm.vector import Ids


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each term stands in one document: pairs (term id, frequency), ids ascending.

    Equal for documents of the same words in any order; hashable.
    """

    pairs: tuple[tuple[int, int], ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The distinct term ids, ascending."""
        return tuple(pair[0] for pair in self.pairs)


class Vocabulary:
    """Terms of a collection with their document frequencies.

    A term keeps its id for the life of the vocabulary, also when no document has it any more.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        # An array of 64-bit numbers: numpy can look at it without a copy.
        self._frequencies = array("q")
        self.documents = 0

    def __len__(self) -> int:
        """Number of terms ever counted."""
        return len(self._ids)

    def count(self, terms: Iterable[str]) -> Counts:
        """*terms* counted, as an id and a frequency each; new terms get an id (df 0)."""
        counted: Counter[int] = Counter(map(self._id_of, terms))
        return Counts(tuple(sorted(counted.items())))

    def add(self, document: Counts) -> None:
        """One more document of the collection."""
        for term, _ in document.pairs:
            self._frequencies[term] += 1
        self.documents += 1

    def remove(self, document: Counts) -> None:
        """Take back what :meth:`add` did.

        Raises:
            ValueError: no such document can have been added; nothing is changed then.
        """
        frequencies = self._frequencies
        # Checked before anything is changed.
        if self.documents == 0 or any(frequencies[term] == 0 for term, _ in document.pairs):
            raise ValueError(f"{document!r} is not in the collection")
        for term, _ in document.pairs:
            frequencies[term] -= 1
        self.documents -= 1

    def words(self) -> list[str]:
        """All terms; the place of one is its id."""
        return list(self._ids)

    def frequency(self, term: int) -> int:
        """In how many documents the term of this id stands."""
        return self._frequencies[term]

    def frequencies(self, terms: Ids) -> Ids:
        """The same for many ids at once."""
        if not len(terms):
            return np.zeros(0, dtype=np.int64)
        # The view is gone when this returns, so that the array can grow again.
        counted: Ids = np.frombuffer(self._frequencies, dtype=np.int64)[terms]
        return counted

    def _id_of(self, term: str) -> int:
        number = self._ids.get(term)
        if number is None:
            number = self._ids[term] = len(self._frequencies)
            self._frequencies.append(0)
        return number
