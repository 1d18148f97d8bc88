"""A sample of the words and phrases of a text, to compare the texts of many pages by."""

from __future__ import annotations

import re
from functools import cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.kernels import ints, is_compiled
from qiaocrawl.text.normalise import fold
from qiaocrawl.vsm import text_grams
from qiaocrawl.vsm.grams import PLANE, distinct, gram_hashes

_UNITS = 800
# Each begins a word, a pair and a phrase at most.
_MOST_DIGESTS = 3 * _UNITS
_PHRASE = 5
# One of so many is kept, the same ones of every page.
_WORDS_KEPT, _PHRASES_KEPT = 4, 8
_CODES_KEPT = 16_384
# CJK radicals to ideographs, Hangul, compatibility ideographs: a unit each, as these
# write no spaces.
_WIDE_RANGES = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF))
_WIDE = "".join(f"{chr(first)}-{chr(last)}" for first, last in _WIDE_RANGES)
# Of a character: neither, part of a word, a unit by itself.
_APART, _WORD, _WIDE_UNIT = range(3)
# Digits are no words.
_RUN = re.compile(f"([{_WIDE}]+)|([^\\W\\d_{_WIDE}]+)")


def text_sample(text: str) -> bytes:
    """Digests of some of the words and phrases of *text*, at most 3 KB; 0.1 ms of CPU.

    Little-endian 32 bits each: of single words (or wide characters) and pairs of them, as often
    as they stand there, and, with bit 0 set, of phrases.
    """
    # Cut before it is folded: eight characters a unit are more than enough.
    folded = fold(text[: 8 * _UNITS])
    digests = _compiled_sample(folded) if is_compiled(text_grams.fill_sample) else None
    return numpy_sample(folded) if digests is None else digests


def _compiled_sample(folded: str) -> bytes | None:
    """None for a text with a character outside of the basic plane."""
    points = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype="<u4")
    codes, digests = np.empty(_UNITS, np.uint64), np.empty(_MOST_DIGESTS, np.uint32)
    count = text_grams.fill_sample(
        ints(points), ints(_kinds_of_plane()), ints(_crc_table()), ints(codes), ints(digests)
    )
    return None if count < 0 else digests[:count].tobytes()


def numpy_sample(folded: str) -> bytes:
    """What :func:`text_sample` gives for a text that begins so and is folded, with NumPy."""
    units = _units(folded)
    codes = np.fromiter(map(_codes.__getitem__, units), np.uint64, len(units))
    # Mixed, since CRC-32 alone is too regular to sample words by the size of their digests.
    codes = gram_hashes(codes, 1)
    words = np.concatenate((_grams(codes, 1), _grams(codes, 2)))
    phrases = distinct(_some(_grams(codes, _PHRASE), _PHRASES_KEPT)) | np.uint32(1)
    return np.concatenate((_some(words, _WORDS_KEPT), phrases)).tobytes()


@cache
def _crc_table() -> NDArray[np.uint32]:
    """What CRC-32 adds for each value of a byte."""
    # That of a byte without the ones it begins and ends with.
    return np.array([crc32(bytes([byte]), 0xFFFFFFFF) ^ 0xFFFFFFFF for byte in range(256)], "u4")


@cache
def _kinds_of_plane() -> NDArray[np.uint8]:
    """What each character of the basic plane is: those that ``_RUN`` finds."""
    is_letter = np.fromiter(map(str.isalnum, map(chr, range(PLANE))), np.bool_, PLANE)
    is_digit = np.fromiter(map(str.isdecimal, map(chr, range(PLANE))), np.bool_, PLANE)
    kinds = np.where(is_letter & ~is_digit, np.uint8(_WORD), np.uint8(_APART))
    for first, last in _WIDE_RANGES:
        kinds[first : last + 1] = _WIDE_UNIT
    return kinds


def _units(text: str) -> list[str]:
    """The first words of *text* in order: "中", "文" of Chinese, "word" of others."""
    units: list[str] = []
    # By runs of wide characters: a match for each of them costs ten times as much.
    for wide, word in _RUN.findall(text):
        if wide:
            units += wide
        else:
            units.append(word)
        if len(units) >= _UNITS:
            break
    return units[:_UNITS]


class _Codes(dict[str, int]):
    """CRC-32 of words; nearly all of a text are of the few thousand common ones."""

    def __missing__(self, unit: str) -> int:
        code = crc32(unit.encode("utf-8", "replace"))
        if len(self) < _CODES_KEPT:
            self[unit] = code
        return code


_codes = _Codes()


def _grams(codes: NDArray[np.uint64], length: int) -> NDArray[np.uint32]:
    """A digest of each run of *length* codes, bit 0 clear."""
    if len(codes) < length:
        return np.zeros(0, np.uint32)
    # The high half, which multiplication mixes best; bit 0 is free for the mark of phrases.
    hashes = gram_hashes(codes, length) >> np.uint64(32)
    return hashes.astype("<u4") & np.uint32(0xFFFFFFFE)


def _some(digests: NDArray[np.uint32], one_of: int) -> NDArray[np.uint32]:
    # The smallest digests: the same words of every page, without a list of them.
    return digests[digests < 2**32 // one_of]
