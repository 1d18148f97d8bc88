"""The words that a stretch of time is told by, as data to navigate with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qiaocrawl.analysis.words.choosing import chosen, whole_words_among
from qiaocrawl.analysis.words.counting import WordCounter
from qiaocrawl.analysis.words.hot import documents_with, has_base, rise_of
from qiaocrawl.lexicon.terms import log_odds
from qiaocrawl.topic.profile import background_frequencies

Trend = Literal["new", "up", "steady", "down"]

_UP_FROM, _DOWN_TO = 1.5, 1 / 1.5


@dataclass(frozen=True, slots=True)
class CloudWord:
    """A word of the cloud.

    Args:
        documents: that have it; what its size tells.
        before: texts of the base with it; None where there is no base to compare with.
        trend: its share of texts against that before; ``steady`` without a base.
        keys: of the texts that have it, in their order.
    """

    text: str
    documents: int
    before: int | None
    trend: Trend
    keys: tuple[str, ...]


def cloud_words(
    now: WordCounter,
    before: WordCounter,
    *,
    count: int = 80,
    least_documents: int = 2,
    with_persons: bool = False,
) -> list[CloudWord]:
    """The words that tell this stretch of time from general Chinese, the most used first."""
    terms = now.counts.terms
    whole = whole_words_among(
        {text: own.documents for text, own in terms.items() if own.documents >= least_documents}
    )
    usual, total = background_frequencies(whole)
    scores = {
        word: log_odds(terms[word].frequency, now.counts.size, usual[word], total) for word in whole
    }
    ranked = sorted(whole, key=lambda word: (-scores[word], word))
    words = [
        _cloud_word(word, now, before) for word in chosen(ranked, now.texts, count, with_persons)
    ]
    return sorted(words, key=lambda word: (-word.documents, word.text))


def _cloud_word(word: str, now: WordCounter, before: WordCounter) -> CloudWord:
    keys = tuple(text.key for text in now.texts if word in text.folded)
    documents = now.counts.terms[word].documents
    if not has_base(before):
        return CloudWord(word, documents, None, "steady", keys)
    earlier = documents_with(before, word)
    rise = rise_of(documents, now.documents, earlier, before.documents)
    return CloudWord(word, documents, earlier, _trend(earlier, rise), keys)


def _trend(before: int, rise: float) -> Trend:
    if not before:
        return "new"
    return "up" if rise >= _UP_FROM else "down" if rise <= _DOWN_TO else "steady"
