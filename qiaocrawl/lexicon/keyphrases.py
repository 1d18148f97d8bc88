"""The phrases that say what one text is about, ranked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.lexicon.phrases import Span, candidate_phrases
from qiaocrawl.lexicon.tagged_words import Tagged, is_latin

Floats = NDArray[np.float64]

# Of a logistic regression on authors' own keywords (ours); `benchmarks/keyphrases.py --train`
# prints them. In the order of `phrase_features`.
_WEIGHTS = np.array([0.40, 0.91, -1.30, -0.36, 1.26, -0.33, -2.46, -0.78])


@dataclass(frozen=True, slots=True)
class Frequencies:
    """In how many of *documents* texts a phrase stands."""

    documents: int
    of_phrase: Mapping[str, int]

    def rarity(self, phrase: str) -> float:
        """Inverse document frequency, ln((N + 1) / (n + .5)); above 0."""
        return math.log((self.documents + 1) / (self.of_phrase.get(phrase, 0) + 0.5))


def keyphrases(
    title: Sequence[Tagged], body: Sequence[Tagged], frequencies: Frequencies, count: int = 10
) -> list[str]:
    """The best *count* phrases of a text, the best first.

    Args:
        title: its tagged words; may be empty.
        body: its tagged words, without the title's.
        frequencies: of phrases in texts of its kind.
    """
    phrases, features = phrase_features(title, body, frequencies)
    if not phrases:
        return []
    order = np.argsort(-(features @ _WEIGHTS), kind="stable")
    return [phrases[number] for number in order[:count]]


def phrase_features(
    title: Sequence[Tagged], body: Sequence[Tagged], frequencies: Frequencies
) -> tuple[list[str], Floats]:
    """What tells a keyphrase from other phrases of its text.

    Returns:
        The candidates in the order of the text, and a row of eight features for each:
        frequency × rarity (ln tf · idf); whether it stands alone somewhere, no candidate word
        beside it; whether it has two letters; how often its words stand in the text for each
        time it does itself; whether the title has it; its letters; ln(1 + tf); whether it ends
        in Latin letters.
    """
    words = [*body, ("\n", "x"), *title]
    phrases = candidate_phrases(words)
    counts = Counter(word for word, _ in words)
    spans = {(span.start, span.stop) for places in phrases.values() for span in places}
    rows = [
        [
            math.log(len(places)) * frequencies.rarity(phrase),
            any(_stands_alone(span, spans) for span in places),
            len(phrase) == 2,
            _word_count(words, places[0], counts) / len(places),
            places[-1].stop > len(body),
            len(phrase),
            math.log1p(len(places)),
            is_latin(phrase[-1]),
        ]
        for phrase, places in phrases.items()
    ]
    return list(phrases), np.array(rows, np.float64)


def _stands_alone(span: Span, spans: set[tuple[int, int]]) -> bool:
    return (span.start - 1, span.stop) not in spans and (span.start, span.stop + 1) not in spans


def _word_count(words: Sequence[Tagged], span: Span, counts: Counter[str]) -> float:
    """How often the words of *span* stand in the text, on average."""
    own = words[span.start : span.stop]
    return sum(counts[word] for word, _ in own) / len(own)
