"""The inverted index: which remembered titles can reach the threshold, and how near they are.

Titles of the same words are one row, however many they are. A row no title has any more
stays in the lists until a title of those words comes again or the owner rebuilds the index.
"""

from __future__ import annotations

import math
from array import array

import numpy as np

from qiaocrawl.vsm import Counts, SparseVector, TermRows, TfIdf, Vocabulary
from qiaocrawl.vsm.vector import Ids, Weights

_MARGIN = 1e-9
"""Pruning allows for this much rounding; what passes is measured exactly."""
_DECIMALS = 12
"""Similarities are rounded, so that 0.8 reached by another way of adding is 0.8 too."""


class TitleIndex:
    """Rows of distinct titles over a vocabulary that the caller keeps.

    Memory: about 100 bytes and 20 bytes a word for each row.

    Args:
        vocabulary: document frequencies of the collection; read at each search.
        threshold: cosine in (0, 1] from which rows are found.
    """

    def __init__(self, vocabulary: Vocabulary, threshold: float) -> None:
        self._weighting = TfIdf(vocabulary)
        self._threshold = threshold
        self._rows = TermRows()
        self._row_of: dict[Counts, int] = {}
        self._lists: dict[int, array[int]] = {}

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def row(self, title: Counts) -> int | None:
        """The row of exactly these words, if there is one."""
        return self._row_of.get(title)

    def add(self, title: Counts) -> int:
        """The row of these words, made when there is none."""
        known = self._row_of.get(title)
        if known is not None:
            return known
        row = self._row_of[title] = self._rows.append(title)
        for term, _ in title.pairs:
            if term not in self._lists:
                self._lists[term] = array("q")
            self._lists[term].append(row)
        return row

    def near(self, title: Counts) -> tuple[Ids, Weights]:
        """Rows of other words at least *threshold* near, with their cosines.

        Exactly what a comparison with every row gives: a row that shares none of the probed
        words has a cosine of at most sqrt(weight squared of the other words) / norm by
        Cauchy and Schwarz, and words are probed, rarest first, until that is below the
        threshold.
        """
        query = self._weighting.vector(title)
        lists = [self._lists[term] for term in self._probes(query) if term in self._lists]
        if not lists:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        found = np.concatenate([np.frombuffer(rows, dtype=np.int64) for rows in lists])
        if len(lists) > 1:
            found = np.unique(found)
        own = self._row_of.get(title)
        if own is not None:
            found = found[found != own]
        similar = np.round(self._rows.cosines(query, found, self._weighting), _DECIMALS)
        kept = similar >= self._threshold
        return found[kept], similar[kept]

    def _probes(self, query: SparseVector) -> list[int]:
        """The words a near enough row must have one of."""
        left = math.fsum(weight * weight for weight in query.weights.tolist())
        enough = max(0.0, self._threshold - _MARGIN) ** 2 * left
        pairs = zip(query.ids.tolist(), query.weights.tolist(), strict=True)
        probes = []
        for term, weight in sorted(pairs, key=lambda pair: (len(self._lists.get(pair[0], ())),
                                                            -pair[1])):
            if left < enough:
                break
            probes.append(term)
            left -= weight * weight
        return probes
