"""How alike two titles are: their words and their pairs of letters."""

from __future__ import annotations

import re
from operator import add

_WORD = re.compile(r"[^\W\d_]{4,}")


def words_of(text: str) -> frozenset[str]:
    """Words of four letters or more, and pairs of Han characters, lower case."""
    lower = text.lower()
    words = set(_WORD.findall(lower))
    if not lower.isascii():
        words.update([pair for pair in map(add, lower, lower[1:]) if pair > "\u3000"])
    return frozenset(words)


def has_word(text: str, words: frozenset[str]) -> bool:
    """Whether *text* has one of *words*, which are as :func:`words_of` gives them."""
    lower = text.lower()
    if not lower.isascii() and not words.isdisjoint(map(add, lower, lower[1:])):
        return True
    return not words.isdisjoint(_WORD.findall(lower))


def pairs_of(text: str) -> frozenset[str]:
    """Pairs of neighbouring characters, white space aside, lower case."""
    tight = "".join(text.split()).lower()
    return frozenset(map(add, tight, tight[1:]))


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Twice the common part over both sizes, in [0, 1]; 0 when both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0
