"""Words of a corpus that the dictionary does not know."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from qiaocrawl.lexicon.cohesion import MAX_LETTERS, Bonds, LetterBonds

LEAST = 5
"""A string that stands there less often is not looked at: its neighbours say nothing yet."""
# A word whose neighbour on one side is nearly always the same is a piece of a longer one (nats).
_LEAST_FREEDOM = 0.7


@dataclass(frozen=True, slots=True)
class NewWord:
    """A word that the dictionary does not know, and why it is taken for one."""

    text: str
    bonds: Bonds
    score: float


def new_words(
    words: Mapping[str, int], bonds: LetterBonds, is_known: Callable[[str], bool]
) -> list[NewWord]:
    """The words that jieba's model of letters found, ranked by their bonds, the best first.

    That model (HMM) cuts what the dictionary does not know by the places that letters take in
    words; half of what it finds are pieces or runs. A word's letters hold together and its
    neighbours change: cohesion and freedom tell the two apart.

    Args:
        words: of the corpus as the segmenter cuts it, and how often each is cut so.
        bonds: of the strings of its texts.
        is_known: whether the dictionary has a word.
    """
    candidates = []
    for word, count in words.items():
        if count < LEAST or not 2 <= len(word) <= MAX_LETTERS or is_known(word):
            continue
        own = bonds.of(word)
        if own is not None and own.freedom >= _LEAST_FREEDOM:
            candidates.append(NewWord(word, own, word_score(own, count)))
    return sorted(candidates, key=lambda new: (-new.score, new.text))


def word_score(bonds: Bonds, cut_so: int) -> float:
    """How surely it is a word: share cut whole · (freedom + cohesion) · ln frequency **(ours)**.

    Args:
        cut_so: how often the segmenter made a word of it.
    """
    share = min(1.0, cut_so / bonds.frequency)
    return share * (bonds.freedom + bonds.cohesion) * math.log(bonds.frequency)
