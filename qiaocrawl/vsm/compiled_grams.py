"""Hashes of the runs of a text, by machine code where ``qiaocrawl compile`` could make it."""

from __future__ import annotations

from ctypes import c_int64, c_uint64, c_void_p
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels.c_library import CLibrary
from qiaocrawl.kernels.c_loops import CLoops

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
