"""What is known of a word by itself: how common it is, and what kind of word."""

from __future__ import annotations

import math
from collections.abc import Iterable

from qiaocrawl.vsm.usage import total_count, usage, word_counts

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


def title_share(word: str) -> float:
    """The share of titles, in (0, 1], that hold *word* by general usage (ours).

    A word of relative frequency p stands in 1 - exp(-12 p) of texts of twelve words.
    """
    known = usage(word)
    if known is None:
        return _RAREST
    # expm1: 1 - exp(-x) of a tiny x would round to 0.
    return max(-math.expm1(-_TITLE_WORDS * known[0] / total_count()), _RAREST)


def dictionary_words() -> Iterable[str]:
    """All words whose usage is known."""
    return word_counts()[0]


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
    known = usage(word)
    if known is None:
        return UNKNOWN
    tag = known[1]
    if tag.startswith(_NAME_TAGS):
        return NAME
    return FUNCTION if tag[:1] in _FUNCTION_TAGS else COMMON
