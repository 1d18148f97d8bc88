"""Hashes of the runs of a text, by machine code where ``qiaocrawl compile`` could make it."""

from __future__ import annotations

from ctypes import c_int64, c_uint64, c_void_p
from importlib.resources import files
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels.c_library import CLibrary, CLoops

LOOPS = CLoops(
    CLibrary(files("qiaocrawl.vsm").joinpath("text_grams.c")),
    {
        "text_simhash": (c_uint64, c_void_p, c_void_p, c_int64),
        "text_sample": (c_int64, c_void_p, c_int64, c_void_p, c_void_p),
    },
)
PLANE = 1 << 16
"""Code points of the basic plane; a table of kinds has as many."""
UNITS = 800
"""Words, or wide characters, of a text that its sample is taken of."""
# Each begins a word, a pair and a phrase at most.
_MOST_DIGESTS = 3 * UNITS


def compiled_simhash(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int | None:
    """The SimHash of a text as ``dedup.bodies.simhash`` has it; None without machine code.

    Args:
        points: (n,) code points of its characters.
        kinds: (n,) what each is, 1 for a letter or digit.
    """
    function = LOOPS.function("text_simhash")
    if function is None:
        return None
    simhash: int = function(points.ctypes.data, kinds.ctypes.data, len(kinds))
    return simhash


def compiled_sample(points: bytes, kinds: NDArray[np.uint8]) -> bytes | None:
    """The sample of a text as ``discovery.text_sample`` has it.

    None without machine code, or for a text with a character outside of the basic plane.

    Args:
        points: its characters, in UTF-32, little-endian.
        kinds: (65536,) of each character of the basic plane: 1 in words, 2 a unit by itself.
    """
    function = LOOPS.function("text_sample")
    if function is None:
        return None
    digests = np.empty(_MOST_DIGESTS, np.uint32)
    count = function(points, len(points) // 4, kinds.ctypes.data, digests.ctypes.data)
    return None if count < 0 else digests[:count].tobytes()


# --- 64-bit hashes of runs of codes, the same in every process ------------------------------------

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
