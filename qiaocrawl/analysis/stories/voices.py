"""Articles as voices: their weighted terms, as long as what they say is telling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qiaocrawl.analysis.stories.background import Background, counts_of
from qiaocrawl.analysis.stories.story import Item, Voice
from qiaocrawl.analysis.stories.terms import TermReader, Terms, term_ids
from qiaocrawl.analysis.stories.vector import SCALE, Vector

KEPT_TERMS = 400
_KEPT_WORDS = 12
# The length of the weights of a headline that tells clearly what happened.
_USUAL_LENGTH = 32.0
# A text that says little is less alike to any other, one that says much more so.
_LENGTH_EXPONENT = 0.75
_MOST_LENGTH = 4.0
# Nearly all articles of a store have terms of its topics: these tell no story from another.
_TOPICAL_WEIGHT = 0.25


class VoiceReader:
    """Makes voices of articles.

    Args:
        background: how common terms are.
        words: the terms of topics, which are kept whole and weigh little.
    """

    def __init__(self, background: Background, words: Sequence[str] = ()) -> None:
        self.background = background
        self._reader = TermReader(words)
        self._topical = np.array(
            sorted({id_ for word in words for id_ in term_ids(word)}), np.int32
        )

    def read(self, items: Sequence[Item], time: float) -> list[Voice]:
        """The voices of the articles of one minute, which are counted first.

        Args:
            time: of the minute, in epoch seconds.
        """
        read = [self._reader.terms(item.title, item.body, item.names) for item in items]
        self.background.count(counts_of([terms.ids for terms in read], time))
        return [self._voice(item, terms) for item, terms in zip(items, read, strict=True)]

    def _voice(self, item: Item, terms: Terms) -> Voice:
        weights = self.background.weights(terms.ids, terms.counts)
        weights[np.isin(terms.ids, self._topical, assume_unique=True)] *= _TOPICAL_WEIGHT
        length = float(np.linalg.norm(weights)) / _USUAL_LENGTH
        if not length:
            return Voice(item.key, item.published, Vector(terms.ids[:0], np.zeros(0, np.int64)))
        stretch = min(length, _MOST_LENGTH) ** _LENGTH_EXPONENT / (length * _USUAL_LENGTH)
        values = np.rint(weights.astype(np.float64) * stretch * SCALE).astype(np.int64)
        vector = Vector(terms.ids, values).top(KEPT_TERMS)
        heaviest = vector.ids[np.argsort(-vector.values, kind="stable")].tolist()
        words = [terms.words[number] for number in heaviest if number in terms.words]
        return Voice(item.key, item.published, vector, tuple(words[:_KEPT_WORDS]))
