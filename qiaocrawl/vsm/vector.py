"""Sparse vectors: sorted term ids with their weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """A vector by its non-zero parts; ``ids`` ascend and are unique, ``weights`` are >= 0."""

    ids: Ids
    weights: Weights

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> SparseVector:
        """The vector with these weights by term id.

        Raises:
            ValueError: a weight is negative or not finite.
        """
        # "w >= 0" is false for nan as well.
        bad = next((w for w in weights.values() if not (math.isfinite(w) and w >= 0)), None)
        if bad is not None:
            raise ValueError(f"a weight must be a finite number of at least 0, got {bad!r}")
        ids = sorted(weights)
        values = np.array([weights[i] for i in ids], dtype=np.float64)
        return cls(np.array(ids, dtype=np.int64), values)

    @property
    def norm(self) -> float:
        """Its length; 0 for the empty vector."""
        return math.sqrt(float(self.weights @ self.weights))


def cosine(a: SparseVector, b: SparseVector) -> float:
    """Cosine of the angle between *a* and *b*, in [0, 1]; 0 when one has no length.

    Each is scaled by its largest weight first, so that tiny and huge weights neither vanish
    nor overflow when squared.
    """
    a, b = _scaled(a), _scaled(b)
    lengths = a.norm * b.norm
    if lengths == 0.0:
        return 0.0
    # The shorter one is looked up in the longer one.
    if len(a.ids) > len(b.ids):
        a, b = b, a
    places = np.searchsorted(b.ids, a.ids)
    inside = places < len(b.ids)
    # Past the end of b nothing can be equal.
    places, ids, weights = places[inside], a.ids[inside], a.weights[inside]
    shared = b.ids[places] == ids
    # fsum: the same result in whatever order the ids are.
    product = math.fsum(weights[shared] * b.weights[places[shared]])
    return min(1.0, product / lengths)


def _scaled(vector: SparseVector) -> SparseVector:
    largest = float(vector.weights.max(initial=0.0))
    if largest == 0.0:
        return vector
    return SparseVector(vector.ids, vector.weights / largest)
