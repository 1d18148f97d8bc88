"""The SimHash of a text (Charikar, 2002), of its character 4-grams."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.vsm.grams import compiled_simhash, gram_hashes

LETTER = 1
"""What a letter or digit is among the kinds of characters."""
_GRAM = 4
_CHUNK = 1 << 16


def simhash(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int:
    """64-bit SimHash of a text of n characters; 0 without letters.

    Args:
        points: (n,) code points.
        kinds: (n,) what each is; only those that are ``LETTER`` count.
    """
    compiled = compiled_simhash(points, kinds)
    return numpy_simhash(points, kinds) if compiled is None else compiled


def numpy_simhash(points: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> int:
    """What :func:`simhash` gives, in Python."""
    letters = points[kinds == LETTER].astype(np.uint64)
    if not len(letters):
        return 0
    if len(letters) < _GRAM:
        # Shorter than one gram: padded, so that a text of three letters has a SimHash.
        letters = np.pad(letters, (0, _GRAM - len(letters)))
    grams = len(letters) - _GRAM + 1
    counts = np.zeros(64, np.int64)
    for at in range(0, grams, _CHUNK):
        # In chunks that overlap by a gram: the bits of a whole book would take gigabytes.
        counts += _bit_counts(letters[at : at + _CHUNK + _GRAM - 1])
    # Bit i is 1 where more than half of all grams have it.
    bits = np.packbits(2 * counts > grams)
    # 0 stands for "unknown", so a hash of 0 becomes 1.
    return int.from_bytes(bits.tobytes(), "big") or 1


def _bit_counts(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many of the 4-grams of *codes* have each of 64 bits in their hash."""
    hashes = gram_hashes(codes, _GRAM)
    bits = np.unpackbits(hashes.astype("<u8").view(np.uint8)).reshape(-1, 64)
    counts: NDArray[np.int64] = np.add.reduce(bits, axis=0, dtype=np.uint32).astype(np.int64)
    return counts
