"""Which words of a text carry it: often in it, rare elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from qiaocrawl.text.normalise import clean_surrogates, to_simplified
from qiaocrawl.text.segment import dictionary_entries

_TOP = 10
_MANY, _FREQUENT = 8, 2
_NAME_TAGS = frozenset(("nr", "ns", "nt", "nrt", "nz"))


class TextWords:
    """The words of a text and what each weighs; in traditional characters they are the same.

    Args:
        sentences: of the text.
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        sentences = list(map(to_simplified, sentences))
        self._pairs = Counter(
            text[at : at + 2] for text in sentences for at in range(len(text) - 1)
        )
        self.by_sentence = [words_of(sentence) for sentence in sentences]
        counts = Counter(word for words in self.by_sentence for word in words)
        self.weights = {word: math.log1p(count) * rarity(word) for word, count in counts.items()}
        ranked = sorted(self.weights, key=lambda word: (-self.weights[word], word))
        self.top = frozenset(ranked[:_TOP])
        self.lead = frozenset(word for words in self.by_sentence[:2] for word in words)

    def pair_shares(self, text: str) -> tuple[float, float]:
        """How often pairs of letters of *text* stand in the whole, and the share of frequent ones.

        Names and terms that no dictionary knows count by this too.
        """
        text = to_simplified(text)
        pairs = {text[at : at + 2] for at in range(len(text) - 1)}
        counts = [min(self._pairs[pair], _MANY) - 1 for pair in pairs]
        size = max(1, len(counts))
        return sum(counts) / size, sum(count >= _FREQUENT for count in counts) / size

    def coverage(self, words: Iterable[str]) -> float:
        """What *words* weigh together, each once."""
        return sum(self.weights.get(word, 0.0) for word in set(words))


def words_of(text: str) -> list[str]:
    """The words of two letters and more, in simplified characters."""
    return [word for word in cut_words(to_simplified(text)) if len(word) > 1]


def cut_words(text: str) -> list[str]:
    """*text* in words, none left out."""
    return list(_cutter().cut(clean_surrogates(text)))


def names_in(text: str) -> int:
    """How many names the dictionary sees in *text*."""
    return sum(
        tag in _NAME_TAGS and len(word) > 1 for word, tag in _cutter().tag(to_simplified(text))
    )


@cache
def rarity(word: str) -> float:
    """From 0 for the commonest word to about 1 for one of no dictionary."""
    frequencies, total = _frequencies()
    return math.log(total / (frequencies.get(word, 0) + 5)) / math.log(total / 5)


@cache
def _cutter() -> Any:
    import rjieba

    return rjieba.Jieba()


@cache
def _frequencies() -> tuple[dict[str, int], int]:
    frequencies = {word: count for word, count, _ in dictionary_entries()}
    return frequencies, sum(frequencies.values())
