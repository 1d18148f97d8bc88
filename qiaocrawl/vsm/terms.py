"""What is known of a word by itself: how common it is, and what kind of word.

Counts and parts of speech are those of jieba's dictionary (MIT licence), which is there anyway;
nothing of it is copied into this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from importlib import resources

NUMBER = "number"
LATIN = "latin"
NAME = "name"
UNKNOWN = "unknown"
FUNCTION = "function"
COMMON = "common"

CLASSES = (NUMBER, LATIN, NAME, UNKNOWN, FUNCTION, COMMON)
"""Classes of words, by what a difference in one means for two titles."""

_HAN_DIGITS = frozenset("零〇一二两三四五六七八九十百千万亿半")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
# jieba's tags: u auxiliary, c conjunction, p preposition, d adverb, f locative, r pronoun, y
# particle, o onomatopoeia, e interjection.
_FUNCTION_TAGS = frozenset("ucpdfryoe")
# Words of a title, on average.
_TITLE_WORDS = 12.0
# The share of titles a word is taken to stand in when nothing is known of it.
_RAREST = 1e-6


@cache
def _dictionary() -> tuple[dict[str, tuple[int, str]], int]:
    """Each word's count and tag, and the sum of the counts; read once a process (0.5 s)."""
    words: dict[str, tuple[int, str]] = {}
    total = 0
    tags: dict[str, str] = {}
    text = resources.files("jieba").joinpath("dict.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        word, count, tag = line.split(" ")
        words[word] = int(count), tags.setdefault(tag, tag)
        total += int(count)
    return words, total


def title_share(word: str) -> float:
    """The share of titles, in (0, 1], that hold *word* by general usage (ours).

    A word of relative frequency p stands in 1 - exp(-12 p) of texts of twelve words.
    """
    words, total = _dictionary()
    entry = words.get(word)
    if entry is None:
        return _RAREST
    # expm1: 1 - exp(-x) of a tiny x would round to 0.
    return max(-math.expm1(-_TITLE_WORDS * entry[0] / total), _RAREST)


def dictionary_words() -> Iterable[str]:
    """All words whose usage is known."""
    return _dictionary()[0]


def word_class(word: str) -> str:
    """Which of :data:`CLASSES` the folded *word* belongs to.

    A word with a digit is a number (``2024``, ``4g``), so is one of Chinese digits, and an
    ordinal (``第十二``).
    """
    if any(letter.isdigit() for letter in word) or _HAN_DIGITS.issuperset(word):
        return NUMBER
    if len(word) > 1 and word[0] == "第" and word[1] in _HAN_DIGITS:
        return NUMBER
    if word.isascii():
        return LATIN
    entry = _dictionary()[0].get(word)
    if entry is None:
        return UNKNOWN
    if entry[1].startswith(_NAME_TAGS):
        return NAME
    return FUNCTION if entry[1][:1] in _FUNCTION_TAGS else COMMON
