"""Sparse vectors of whole numbers: their sums do not depend on the order of adding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.analysis.stories.terms import DIMENSIONS, Ids

SCALE = 1 << 12
"""What 1 is in the values of a vector."""

Values = NDArray[np.int64]


class Vector(NamedTuple):
    """Values by ascending numbers of terms."""

    ids: Ids
    values: Values

    def plus(self, other: Vector) -> Vector:
        """The sum of both."""
        places = np.searchsorted(self.ids, other.ids)
        known = places < len(self.ids)
        known[known] = self.ids[places[known]] == other.ids[known]
        values = self.values.copy()
        values[places[known]] += other.values[known]
        new = ~known
        return Vector(
            np.insert(self.ids, places[new], other.ids[new]),
            np.insert(values, places[new], other.values[new]),
        )

    def top(self, count: int) -> Vector:
        """The *count* highest values, more of them where some are equal."""
        if len(self.ids) <= count:
            return self
        least = np.partition(self.values, -count)[-count]
        kept = self.values >= least
        return Vector(self.ids[kept], self.values[kept])

    def as_bytes(self) -> bytes:
        """For storing: numbers, then values, each as 32 bits."""
        return self.ids.astype("<i4").tobytes() + self.values.astype("<i4").tobytes()


def vector_from(data: bytes) -> Vector:
    """What :meth:`Vector.as_bytes` gave."""
    numbers = np.frombuffer(data, "<i4")
    half = len(numbers) // 2
    return Vector(numbers[:half].astype(np.int32), numbers[half:].astype(np.int64))


class Multiplier:
    """Products of one vector with others."""

    def __init__(self) -> None:
        self._dense = np.zeros(DIMENSIONS, np.int64)

    def products(self, vector: Vector, others: Sequence[Vector]) -> list[int]:
        """The inner product of *vector* with each of *others*, in units of ``SCALE`` squared."""
        if not others:
            return []
        dense = self._dense
        dense[vector.ids] = vector.values
        # All others at once: one call of numpy, not one each. Some may have no terms.
        values = np.concatenate([other.values for other in others])
        summed = np.zeros(len(values) + 1, np.int64)
        np.cumsum(dense[np.concatenate([other.ids for other in others])] * values, out=summed[1:])
        dense[vector.ids] = 0
        ends = np.cumsum([len(other.ids) for other in others])
        products: list[int] = np.diff(summed[ends], prepend=0).tolist()
        return products
