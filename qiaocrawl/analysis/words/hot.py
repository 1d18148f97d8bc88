"""Words that stand in more texts than before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qiaocrawl.analysis.words.choosing import chosen, whole_words_among
from qiaocrawl.analysis.words.counting import WordCounter
from qiaocrawl.lexicon.terms import log_likelihood
from qiaocrawl.topic.profile import background_frequencies

_SURE_FROM = 6.63
"""Log-likelihood from which a word is hot: p < .01."""
_LEAST_BASE = 10
"""Texts below which a base says nothing."""


@dataclass(frozen=True, slots=True)
class HotWord:
    """A word that is hotter than before.

    Args:
        documents, sites: that have it; of a story told by several, one text.
        before: texts of the base with it; None where there is no base to compare with.
        rise: its share of the texts against that before; None where no earlier text has it.
        score: signed log-likelihood (Dunning 1993) of its texts against the base, or without one of
            its places against general Chinese.
        by_day: how often it stands there on each day of China that has it.
    """

    text: str
    documents: int
    sites: int
    before: int | None
    rise: float | None
    score: float
    by_day: Mapping[str, int]


def hot_words(
    now: WordCounter,
    before: WordCounter,
    *,
    count: int = 50,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[HotWord]:
    """The hottest words, best first.

    Args:
        now: the stretch of time.
        before: the base; with fewer than ten texts words are compared with general Chinese.
    """
    documents = {
        text: own.documents
        for text, own in now.counts.terms.items()
        if own.documents >= least_documents
    }
    whole = whole_words_among(documents)
    scores = against(now, before if has_base(before) else None, whole)
    ranked = sorted((word for word in whole if scores[word] >= _SURE_FROM),
                    key=lambda word: (-scores[word], word))  # fmt: skip
    return [
        _hot_word(word, scores[word], now, before)
        for word in chosen(ranked, now.texts, count, with_persons)
    ]


def has_base(before: WordCounter) -> bool:
    """Whether there are texts enough to compare with."""
    return before.documents >= _LEAST_BASE


def against(now: WordCounter, before: WordCounter | None, words: set[str]) -> dict[str, float]:
    """The log-likelihood of each of *words* against *before*, or against general Chinese."""
    terms = now.counts.terms
    if before is None:
        usual, total = background_frequencies(words)
        return {
            word: log_likelihood(terms[word].frequency, now.counts.size, usual[word], total)
            for word in words
        }
    return {
        word: log_likelihood(
            terms[word].documents, now.documents, documents_with(before, word), before.documents
        )
        for word in words
    }


def documents_with(counter: WordCounter, word: str) -> int:
    """How many texts have *word*."""
    own = counter.counts.terms.get(word)
    return own.documents if own else 0


def rise_of(now: int, texts_now: int, before: int, texts_before: int) -> float:
    """How many times its share of the texts a word has come to; half a text stands for none.

    >>> rise_of(6, 10, 10, 100)
    6.0
    """
    return (now / texts_now) / (max(before, 0.5) / texts_before)


def _hot_word(word: str, score: float, now: WordCounter, before: WordCounter) -> HotWord:
    own = now.counts.terms[word]
    earlier = documents_with(before, word) if has_base(before) else None
    rise = rise_of(own.documents, now.documents, earlier, before.documents) if earlier else None
    return HotWord(word, own.documents, len(own.by_site), earlier, rise, score, dict(own.by_month))
