"""The terms of an article as numbers: its words, and its pairs of characters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.text import Segmenter, fold
from qiaocrawl.vsm.terms import FUNCTION, dictionary_words, title_share, word_class

TERM_BITS = 21
DIMENSIONS = 1 << TERM_BITS
"""Terms are hashed to that many numbers: two of an article share one in some 10,000 cases."""

BODY_CHARS = 400
"""So much of a body counts: news says at its beginning what happened."""
PAIRED_CHARS = 120
"""Pairs of characters, which find names no dictionary has, are read from so much of a text."""

_MASK = DIMENSIONS - 1
# Words and pairs that look alike are different terms.
_PAIR = "\u0000"
_HAN_RUN = re.compile("[\u3400-\u9fff]{2,}")
_RAREST_PAIR = 3e-6
_REMEMBERED_TERMS = 500_000

Ids = NDArray[np.int32]
Counts = NDArray[np.float32]


def term_id(term: str) -> int:
    """The number of a word, the same in every process."""
    return crc32(term.encode("utf-8", "surrogatepass")) & _MASK


def term_ids(word: str) -> set[int]:
    """The numbers of a word and of the pairs of characters in it."""
    folded = fold(word)
    pairs = {_PAIR + pair for run in _HAN_RUN.findall(folded) for pair in _pairs_of(run)}
    return {term_id(term) for term in {folded, *pairs}}


class Terms(NamedTuple):
    """What an article says, in numbers.

    Args:
        ids: ascending numbers of its terms.
        counts: how often each stands there.
        words: those of two letters or more, by their numbers.
    """

    ids: Ids
    counts: Counts
    words: dict[int, str]


class TermReader:
    """Reads the terms of articles.

    Args:
        words: to keep whole, such as the terms of topics.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._segmenter = Segmenter(words, "rjieba")
        self._ids: dict[str, int] = {}
        self._counted: dict[str, bool] = {}

    def terms(self, title: str, body: str = "", names: Iterable[str] = ()) -> Terms:
        """The terms of an article.

        Args:
            names: normal forms of what it names, which count as words of their own.
        """
        text = fold(f"{title}\n{body[:BODY_CHARS]}")
        words = Counter(self._segmenter.words(text))
        for word in [word for word in words if not self._is_counted(word)]:
            del words[word]
        words.update(set(map(fold, names)) - words.keys())
        pairs: Counter[str] = Counter()
        for run in _HAN_RUN.findall(text[:PAIRED_CHARS]):
            pairs.update(map(_PAIR.__add__, _pairs_of(run)))
        numbers = self._numbers(words)
        merged = dict(zip(numbers, words.values(), strict=True))
        for number, count in zip(self._numbers(pairs), pairs.values(), strict=True):
            merged[number] = merged.get(number, 0) + count
        ids = sorted(merged)
        return Terms(
            np.array(ids, np.int32),
            np.array([merged[number] for number in ids], np.float32),
            {number: word for number, word in zip(numbers, words, strict=True) if len(word) > 1},
        )

    def _is_counted(self, word: str) -> bool:
        known = self._counted.get(word)
        if known is None:
            if len(self._counted) > _REMEMBERED_TERMS:
                self._counted.clear()
            known = self._counted[word] = _counts(word)
        return known

    def _numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of *terms*, in their order; two may share one."""
        known = self._ids
        if len(known) > _REMEMBERED_TERMS:
            known.clear()
        numbers = []
        for term in terms:
            number = known.get(term)
            if number is None:
                number = known[term] = term_id(term)
            numbers.append(number)
        return numbers


def _pairs_of(run: str) -> Iterator[str]:
    return map(str.__add__, run, run[1:])


def _counts(word: str) -> bool:
    return any(letter.isalnum() for letter in word) and word_class(word) != FUNCTION


@cache
def usual_shares() -> NDArray[np.float32]:
    """The share of titles that hold each term by general usage, by its number: (DIMENSIONS,).

    Of words as :func:`~qiaocrawl.vsm.terms.title_share` has it; of pairs of characters, what the
    words they stand in come to.
    """
    words = np.zeros(DIMENSIONS, np.float64)
    pairs: defaultdict[str, float] = defaultdict(float)
    for word in dictionary_words():
        share = title_share(word)
        words[term_id(word)] += share
        for at in range(len(word) - 1):
            pairs[word[at : at + 2]] += share
    for pair, share in pairs.items():
        words[term_id(_PAIR + pair)] += share
    return np.clip(words, _RAREST_PAIR, 1.0).astype(np.float32)
