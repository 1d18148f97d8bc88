"""Recognises texts made by a program, from the words of a group of pages alone.

Whoever writes about a matter repeats its words: a rare word that occurs twice on a page does so
far more often than chance allows (Church and Gale, "Poisson mixtures", 1995; Katz, 1996,
calls it burstiness). A program that draws words at random (also Markov chains) has no
matter: its rare words are spread over its pages by chance. And a program that fills in forms
repeats whole phrases on every page, where writers nearly always write new ones.

So two numbers decide: how much more often than by chance two occurrences of a rare word
fall on one page, and the share of phrases that stand on one page only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.text import fold

MIN_PAGES = 32
"""Pages that are needed to judge."""
_UNITS = 800
"""Words, or wide characters, of a page that are looked at."""
_PHRASE = 5
_WORDS_KEPT, _PHRASES_KEPT = 4, 8
"""One of so many is kept, the same ones of every page."""
_TIMES_CHANCE = 2.0
"""Texts whose rare words recur less often than twice by chance are of no matter **(ours)**."""
_OWN_PHRASES = 0.3
"""Writers have twice as many at least **(ours)**."""
_MIN_EXPECTED = 20.0
_MIN_PHRASES = 200
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNIT = re.compile(f"[{_WIDE}]|[^\\W\\d_{_WIDE}]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def text_sample(text: str) -> bytes:
    """Digests of some of the words and phrases of *text*, at most 3 KB; 0.8 ms of CPU.

    Little-endian 32 bits each: of single words (or wide characters) and pairs of them, as often
    as they stand there, and, with bit 0 set, of phrases.
    """
    units = _UNIT.findall(fold(text[: 8 * _UNITS]))[:_UNITS]
    codes = _mixed(np.array([_code(unit) for unit in units], dtype=np.uint64))
    words = np.concatenate((_grams(codes, 1), _grams(codes, 2)))
    phrases = np.unique(_grams(codes, _PHRASE)) | np.uint32(1)
    return np.concatenate((_some(words, _WORDS_KEPT), _some(phrases, _PHRASES_KEPT))).tobytes()


def why_generated(samples: Sequence[bytes]) -> str:
    """Why the texts of pages with these *samples* were made by a program; "" for no reason."""
    if len(samples) < MIN_PAGES:
        return ""
    pages = [np.frombuffer(sample, dtype="<u4") for sample in samples]
    times = _times_chance([page[page & 1 == 0] for page in pages])
    if times is not None and times < _TIMES_CHANCE:
        return f"made-up texts: rare words recur {times:.1f} times as often as by chance"
    own = _own_phrases([page[page & 1 == 1] for page in pages])
    if own is not None and own < _OWN_PHRASES:
        return f"made-up texts: {own:.0%} of their phrases stand on one page alone"
    return ""


def _times_chance(pages: Sequence[NDArray[np.uint32]]) -> float | None:
    """How much oftener than by chance two of one rare word stand on one page, as the highest
    value these pages let one believe (two standard deviations above what they show).

    None where the pages are too short to tell. If every order of all words were as likely, any
    two occurrences would stand on one page as often as any two words do.
    """
    sizes = np.array([len(page) for page in pages])
    total = int(sizes.sum())
    if total < 2:
        return None
    _, word, counts = np.unique(np.concatenate(pages), return_inverse=True, return_counts=True)
    rare = counts <= len(pages) // 2
    is_rare = rare[word]
    place = word[is_rare] * len(pages) + np.repeat(np.arange(len(pages)), sizes)[is_rare]
    together = _pairs(np.unique(place, return_counts=True)[1])
    chance = _pairs(sizes) / (total * (total - 1) / 2)
    expected = chance * _pairs(counts[rare])
    if expected < _MIN_EXPECTED:
        return None
    return float((together + 2 * together**0.5) / expected)


def _own_phrases(pages: Sequence[NDArray[np.uint32]]) -> float | None:
    """The share of phrases that stand on one page alone; None where there are few."""
    counts = np.unique(np.concatenate(pages), return_counts=True)[1]
    total = int(counts.sum())
    return float((counts == 1).sum() / total) if total >= _MIN_PHRASES else None


def _pairs(counts: NDArray[np.int64]) -> float:
    return float((counts * (counts - 1) / 2).sum())


def _code(unit: str) -> int:
    return crc32(unit.encode("utf-8", "replace"))


def _grams(codes: NDArray[np.uint64], length: int) -> NDArray[np.uint32]:
    """A digest of each run of *length* codes, bit 0 clear."""
    if len(codes) < length:
        return np.zeros(0, np.uint32)
    runs = len(codes) - length + 1
    hashes = codes[:runs].copy()
    for offset in range(1, length):
        hashes *= _MULTIPLIER
        hashes += codes[offset : runs + offset]
    return (_mixed(hashes) >> np.uint64(32)).astype("<u4") & np.uint32(0xFFFFFFFE)


def _some(digests: NDArray[np.uint32], one_of: int) -> NDArray[np.uint32]:
    return digests[digests < 2**32 // one_of]


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in _MIXING:
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(31))
