"""64-bit hashes of runs of codes, the same in every process."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

PLANE = 1 << 16
"""Code points of the basic plane; a table of kinds has as many."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# The finaliser of splitmix64 (Steele, Lea and Flood, 2014): each input bit reaches all bits.
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def gram_hashes(codes: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """A hash of every run of *length* of the n *codes*, at most n: (n - length + 1,)."""
    grams = len(codes) - length + 1
    hashes = codes[:grams].copy()
    # A polynomial in the multiplier: each position of the run counts differently.
    for offset in range(1, length):
        hashes *= _MULTIPLIER
        hashes += codes[offset : grams + offset]
    # In place: texts have thousands of runs, and every temporary array costs as much as a step.
    for shift, factor in _MIXING:
        hashes ^= hashes >> np.uint64(shift)
        hashes *= np.uint64(factor)
    hashes ^= hashes >> np.uint64(31)
    return hashes


# --- The distinct ones of many numbers ------------------------------------------------------------

Number = TypeVar("Number", bound=np.generic)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """The distinct ones of *values*, in order, none of them NaN.

    As ``np.unique``, which imports masked arrays first, longer than a page takes.
    """
    values = np.sort(values)
    is_first = np.ones(len(values), dtype=np.bool_)
    is_first[1:] = values[1:] != values[:-1]
    return values[is_first]
