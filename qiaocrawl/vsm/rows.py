"""Many short documents side by side, for the cosine of one vector against a choice of them."""

from __future__ import annotations

from array import array

import numpy as np

from qiaocrawl.vsm.tfidf import TfIdf
from qiaocrawl.vsm.vector import Ids, SparseVector, Weights
from qiaocrawl.vsm.vocabulary import Counts


class TermRows:
    """Documents as rows of (term id, frequency), 12 bytes an entry; rows are never removed.

    Frequencies are kept, not weights: those change with every document of the collection.
    """

    def __init__(self) -> None:
        self._ends = array("q", [0])
        self._terms = array("q")
        self._counts = array("i")

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._ends) - 1

    def append(self, document: Counts) -> int:
        """Add *document*; returns the number of its row, from 0."""
        for term, count in document.pairs:
            self._terms.append(term)
            self._counts.append(count)
        self._ends.append(len(self._terms))
        return len(self) - 1

    def cosines(self, query: SparseVector, rows: Ids, weighting: TfIdf) -> Weights:
        """Cosine in [0, 1] of *query* with each of *rows*, weighted as of now.

        A row's value does not depend on which others are asked for. Rows without weights
        give 0. Cost: linear in the entries of the rows asked for.
        """
        result = np.zeros(len(rows))
        norm = query.norm
        ends = np.frombuffer(self._ends, dtype=np.int64)
        starts = ends[rows]
        lengths = ends[rows + 1] - starts
        filled = lengths > 0
        if norm == 0.0 or not filled.any():
            return result
        starts, lengths = starts[filled], lengths[filled]
        firsts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        entries = np.arange(lengths.sum()) + np.repeat(starts - firsts, lengths)
        terms = np.frombuffer(self._terms, dtype=np.int64)[entries]
        counts = np.frombuffer(self._counts, dtype=np.int32)[entries]
        weights = counts * weighting.idf(terms)
        products = weights * _weights_of(query, terms)
        squares = np.add.reduceat(weights * weights, firsts)
        lengths_both = np.sqrt(squares) * norm
        dots = np.add.reduceat(products, firsts)
        zero = lengths_both == 0.0
        result[filled] = np.where(zero, 0.0, dots / np.where(zero, 1.0, lengths_both))
        return np.minimum(result, 1.0)


def _weights_of(query: SparseVector, terms: Ids) -> Weights:
    places = np.minimum(np.searchsorted(query.ids, terms), len(query.ids) - 1)
    return np.where(query.ids[places] == terms, query.weights[places], 0.0)
