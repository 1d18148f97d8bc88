"""Marks persons, places and organisations in a sentence, by a model of characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.entities.crf import emissions, marginals, viterbi
from qiaocrawl.analysis.entities.entity import Span
from qiaocrawl.analysis.entities.features import feature_hashes
from qiaocrawl.analysis.entities.names import dictionary_lists
from qiaocrawl.text.normalise import to_simplified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.analysis.entities.model import TaggerModel

_SENTENCE = re.compile(r"[^。！？!?\n]*[。！？!?\n]*")
_LONGEST_SENTENCE = 500


class Tagger:
    """Marks names in texts.

    Args:
        model: what was learnt.
        boldness: how much is taken from the score of "no name": above 0 more names are marked, and
            more wrongly.
    """

    def __init__(self, model: TaggerModel, boldness: float = 0.0) -> None:
        self._model = model
        self._boldness = boldness

    def tag(self, text: str) -> list[Span]:
        """The names of *text*, from left to right; none overlaps another."""
        return [
            Span(start + span.start, start + span.end, span.kind, span.certainty)
            for start, end in sentences(text)
            for span in self._tag_sentence(text[start:end])
        ]

    def _tag_sentence(self, sentence: str) -> list[Span]:
        if not sentence.strip():
            return []
        rows = self._model.rows(sentence_features(sentence))
        scores = emissions(rows, self._model.weights)
        scores[:, 0] -= self._boldness
        transitions = self._model.transitions
        labels = viterbi(scores, transitions)
        if not labels.any():
            return []
        forward, backward, log_sum = marginals(scores, transitions)
        shares = np.exp(np.minimum(forward + backward - log_sum, 0.0))
        sure = shares[np.arange(len(labels)), labels]
        return [
            Span(start, end, kind, float(sure[start:end].min()))
            for start, end, kind in label_spans(labels, self._model.kinds)
        ]


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of the sentences of *text*; one that never ends is cut."""
    bounds = []
    for match in _SENTENCE.finditer(text):
        for start in range(match.start(), match.end(), _LONGEST_SENTENCE):
            bounds.append((start, min(start + _LONGEST_SENTENCE, match.end())))
    return bounds


def simplified(text: str) -> str:
    """*text* in simplified characters, each in its place; as it is where that cannot be."""
    plain = to_simplified(text)
    return plain if len(plain) == len(text) else text


def sentence_features(sentence: str) -> NDArray[np.uint64]:
    """The features of *sentence*, in either script, with the lists of the dictionary."""
    sentence = simplified(sentence)
    return feature_hashes(sentence, [names.places(sentence) for names in dictionary_lists()])


def span_labels(
    length: int, spans: Iterable[tuple[int, int, str]], kinds: Sequence[str]
) -> NDArray[np.int64]:
    """The labels of a sentence of *length* characters; see ``allowed_transitions``."""
    labels = np.zeros(length, np.int64)
    for start, end, kind in spans:
        first = 1 + 4 * kinds.index(kind)
        labels[start:end] = first + 1
        labels[start] = first
        labels[end - 1] = first + 2
        if end - start == 1:
            labels[start] = first + 3
    return labels


def label_spans(labels: NDArray[np.int64], kinds: Sequence[str]) -> list[tuple[int, int, str]]:
    """What *labels* spell."""
    spans: list[tuple[int, int, str]] = []
    start = 0
    for at, label in enumerate(labels.tolist()):
        place = (label - 1) % 4
        if label and place in (0, 3):
            start = at
        if label and place in (2, 3):
            spans.append((start, at + 1, kinds[(label - 1) // 4]))
    return spans
