"""TF-IDF: how much a term says about a document of a collection."""

from __future__ import annotations

import numpy as np

from qiaocrawl.vsm.vector import Ids, SparseVector, Weights
from qiaocrawl.vsm.vocabulary import Counts, Vocabulary


class TfIdf:
    """Weights by the state the vocabulary has when they are asked for.

    Args:
        vocabulary: the collection.
        smooth: ``tf * (ln((1 + N) / (1 + df)) + 1)`` instead of ``tf * ln(N / df)`` (Q6; the
            form is ours, the paper's formula is lost). The plain form gives 0 to a term
            that stands in every document, so a collection of one document has no weights;
            the smoothed one never gives 0.
    """

    def __init__(self, vocabulary: Vocabulary, *, smooth: bool = False) -> None:
        self.vocabulary = vocabulary
        self.smooth = smooth

    def idf(self, terms: Ids) -> Weights:
        """Inverse document frequency of each term, at least 0.

        A term no document has (df 0) counts as one that a single document has.
        """
        total, frequencies = self.vocabulary.documents, self.vocabulary.frequencies(terms)
        if self.smooth:
            ratio = (1.0 + total) / (1.0 + frequencies)
            return np.asarray(np.log(ratio) + 1.0, dtype=np.float64)
        ratio = np.maximum(total, 1) / np.maximum(frequencies, 1)
        return np.asarray(np.log(ratio), dtype=np.float64)

    def vector(self, document: Counts) -> SparseVector:
        """The weights of *document*, which need not be in the collection; no zeros."""
        # reshape: an empty document has no pairs, and would have no columns.
        pairs = np.array(document.pairs, dtype=np.int64).reshape(-1, 2)
        ids, frequencies = pairs[:, 0], pairs[:, 1]
        weights = frequencies * self.idf(ids)
        positive = weights > 0
        return SparseVector(ids[positive], weights[positive])
