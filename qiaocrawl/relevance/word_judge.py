"""A linear judge over a page's words, learnt from samples in one step (least squares)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.relevance.page_places import PagePlaces
from qiaocrawl.relevance.sample_vectors import Floats, SampleVectors, occurrences

RIDGE = 0.5
_BREADTH = 3.0


class WordJudge:
    """Weights of words that bring relevant samples to 1 and the others to −1.

    A least-squares support vector machine (Suykens and Vandewalle 1999) with linear kernel:
    (K + 1 + diag(0.5 / v))·a = t, with K the products of the samples' TF-IDF vectors, t = ±1,
    and v so that both kinds weigh the same in all. A page scores sum of a_i · (x_i·x + 1).
    Where only n words of a page are known, that is taken times 1 − exp(−n / 3), so that a page
    of one word says little **(ours)**.

    What each sample would score had it not been learnt from follows without learning again:
    t_i − a_i / (inverse)_ii.

    Args:
        samples: the places of each.
        relevant: which of them are; there are both kinds.
    """

    def __init__(self, samples: Sequence[PagePlaces], relevant: NDArray[np.bool_]) -> None:
        self._vectors = SampleVectors(samples)
        size, yes = len(samples), int(relevant.sum())
        importance = np.where(relevant, size / (2 * yes), size / (2 * (size - yes)))
        targets = np.where(relevant, 1.0, -1.0)
        products = self._vectors.products() + 1.0 + np.diag(RIDGE / importance)
        inverse = np.linalg.inv(products).astype(np.float64)
        factors: Floats = inverse @ targets
        self.left_out: Floats = targets - factors / np.diag(inverse)
        """The score of each sample by a judge that was learnt without it."""
        weights = self._vectors.combined(factors)
        self._table = {name: (idf, idf * weights[name]) for name, idf in self._vectors.idf.items()}
        self._constant = float(factors.sum())

    def of(self, places: PagePlaces) -> tuple[float, dict[str, float]]:
        """The score of a page, about −1 to 1, and what each of its words adds to it.

        0 for a page of unknown words.
        """
        parts: dict[str, float] = {}
        square = 0.0
        for name, word, times in occurrences(places):
            entry = self._table.get(name)
            if entry is not None:
                idf, weight = entry
                square += (times * idf) ** 2
                parts[word] = parts.get(word, 0.0) + times * weight
        if not parts or not square:
            return 0.0, {}
        enough = -math.expm1(-len(parts) / _BREADTH)
        scale = enough / math.sqrt(square)
        parts = {word: scale * part for word, part in parts.items()}
        return math.fsum(parts.values()) + enough * self._constant, parts
