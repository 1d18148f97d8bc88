"""Hashes of the runs of a text, its SimHash and a sample of its words and phrases: inner loops.

What they are for is said in ``dedup/fingerprints.py`` and ``discovery/text_sample.py``, which work
them out with NumPy where this module is not compiled, to the same bit: as Python it takes ten
times as long as that, and is there to be compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.kernels import ints

if TYPE_CHECKING:
    from qiaocrawl.kernels import Ints

# --- 64-bit hashes of runs of codes, as grams.gram_hashes has them --------------------------------

_BITS = 0xFFFFFFFFFFFFFFFF
_MULTIPLIER = 0x9E3779B97F4A7C15
_FIRST_FACTOR, _SECOND_FACTOR = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def _mixed(value: int) -> int:
    """The finaliser of splitmix64."""
    value = ((value ^ (value >> 30)) * _FIRST_FACTOR) & _BITS
    value = ((value ^ (value >> 27)) * _SECOND_FACTOR) & _BITS
    return value ^ (value >> 31)


def _run_hash(codes: Ints, start: int, length: int) -> int:
    value = codes[start]
    for at in range(start + 1, start + length):
        value = (value * _MULTIPLIER + codes[at]) & _BITS
    return _mixed(value)


# --- The SimHash of a text ------------------------------------------------------------------------

_LETTER, _GRAM = 1, 4
_MOST_IN_LANES = 255

# Of a byte its eight bits, each in a byte of its own.
_BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SPREAD = _BITS_OF_BYTE.view("<u8").astype(np.uint64).reshape(-1)


class GramCounts:
    """How many hashes of 4-grams have each of 64 bits; of one text.

    Eight bits of a byte are counted at once, each in a byte of its own of a lane, until one of
    those may be full.
    """

    def __init__(self) -> None:
        self.spread = ints(_SPREAD)
        self.lanes = ints(np.zeros(8, np.uint64))
        self.in_lanes = 0
        self.counts = ints(np.zeros(64, np.int64))
        # The letters of the last gram, and as many zeros.
        self.last = ints(np.zeros(2 * _GRAM, np.uint64))


def _count(grams: GramCounts, value: int) -> None:
    for lane in range(8):
        grams.lanes[lane] += grams.spread[(value >> (8 * lane)) & 255]
    grams.in_lanes += 1
    if grams.in_lanes == _MOST_IN_LANES:
        _empty_lanes(grams)


def _empty_lanes(grams: GramCounts) -> None:
    for bit in range(64):
        grams.counts[bit] += (grams.lanes[bit // 8] >> (8 * (bit % 8))) & 255
    for lane in range(8):
        grams.lanes[lane] = 0
    grams.in_lanes = 0


def simhash_of(points: Ints, kinds: Ints, grams: GramCounts) -> int:
    """The SimHash of a text; 0 for one without letters.

    Args:
        points: code points of its characters.
        kinds: what each is, 1 for a letter or digit.
        grams: none counted yet.
    """
    last, letters = grams.last, 0
    for at in range(len(kinds)):
        if kinds[at] == _LETTER:
            for place in range(1, _GRAM):
                last[place - 1] = last[place]
            last[_GRAM - 1] = points[at]
            letters += 1
            if letters >= _GRAM:
                _count(grams, _run_hash(last, 0, _GRAM))
    if letters == 0:
        return 0
    # Shorter than one gram: zeros behind it.
    if letters < _GRAM:
        _count(grams, _run_hash(last, _GRAM - letters, _GRAM))
    _empty_lanes(grams)
    simhash, one = 0, 1
    # Bit 0 of a hash, that of 1, is the first of a byte in memory there, the last one here.
    for bit in range(64):
        if 2 * grams.counts[bit] > max(letters - _GRAM + 1, 1):
            simhash |= one << (56 - 8 * (bit // 8) + bit % 8)
    return simhash if simhash != 0 else 1


# --- The sample of a text -------------------------------------------------------------------------

_WORD, _WIDE = 1, 2
_PLANE = 1 << 16
_PHRASE = 5
_WORDS_KEPT, _PHRASES_KEPT = 4, 8
_LOW, _NO_MARK = 0xFFFFFFFF, 0xFFFFFFFE


def _crc_with(crc: int, byte: int, table: Ints) -> int:
    return table[(crc ^ byte) & 255] ^ (crc >> 8)


def _crc_of(points: Ints, start: int, end: int, table: Ints) -> int:
    """CRC-32 of characters of the basic plane in UTF-8."""
    crc = _LOW
    for at in range(start, end):
        point = points[at]
        if point < 0x80:
            crc = _crc_with(crc, point, table)
        elif point < 0x800:
            crc = _crc_with(crc, 0xC0 | (point >> 6), table)
            crc = _crc_with(crc, 0x80 | (point & 0x3F), table)
        else:
            crc = _crc_with(crc, 0xE0 | (point >> 12), table)
            crc = _crc_with(crc, 0x80 | ((point >> 6) & 0x3F), table)
            crc = _crc_with(crc, 0x80 | (point & 0x3F), table)
    return crc ^ _LOW


def _fill_units(points: Ints, kinds: Ints, table: Ints, codes: Ints) -> int:
    """Fill *codes* with those of the first units, a wide character each, or a word; how many."""
    units = at = 0
    while at < len(points) and units < len(codes):
        kind, start = kinds[points[at]], at
        at += 1
        if kind == _WORD:
            while at < len(points) and kinds[points[at]] == _WORD:
                at += 1
        if kind in (_WORD, _WIDE):
            codes[units] = _mixed(_crc_of(points, start, at, table))
            units += 1
    return units


def fill_sample(points: Ints, kinds: Ints, table: Ints, codes: Ints, digests: Ints) -> int:
    """Fill *digests* with the sample of a text.

    Args:
        points: code points of its characters.
        kinds: (65536,) of each character of the basic plane: 1 in words, 2 a unit by itself.
        table: that of CRC-32, (256,).
        codes: room for as many units as are looked at.
        digests: room for three times as many.

    Returns:
        How many there are; -1 for a text with a character outside of the basic plane.
    """
    for at in range(len(points)):
        if points[at] >= _PLANE:
            return -1
    units, kept = _fill_units(points, kinds, table, codes), 0
    for length in range(1, 3):
        for at in range(units - length + 1):
            # The high half of a hash, bit 0 clear.
            digest = (_run_hash(codes, at, length) >> 32) & _NO_MARK
            if digest < (_LOW // _WORDS_KEPT) + 1:
                digests[kept] = digest
                kept += 1
    phrases = kept
    for at in range(units - _PHRASE + 1):
        digest = (_run_hash(codes, at, _PHRASE) >> 32) & _NO_MARK
        if digest < (_LOW // _PHRASES_KEPT) + 1:
            kept = _sort_in(digests, phrases, kept, digest | 1)
    return kept


def _sort_in(digests: Ints, first: int, end: int, digest: int) -> int:
    """Put *digest* among those from *first* on, which ascend, unless it is there; the new end."""
    place = end
    while place > first and digests[place - 1] > digest:
        place -= 1
    if place > first and digests[place - 1] == digest:
        return end
    for at in range(end, place, -1):
        digests[at] = digests[at - 1]
    digests[place] = digest
    return end + 1
