"""Marks persons, places and organisations in a sentence, by a random field over characters.

Labels are B, I, E of each kind, S (alone) and O (:mod:`~qiaocrawl.news.names.crf`).
"""

from __future__ import annotations

import io
import lzma
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats, ints
from qiaocrawl.language import N_, _
from qiaocrawl.news.names.crf import FORBIDDEN, fill_scores, find_best, sum_labellings
from qiaocrawl.news.names.entity import KINDS, Span, dictionary_lists
from qiaocrawl.news.names.features import feature_hashes
from qiaocrawl.text.normalise import to_simplified

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def allowed_transitions(kinds: int) -> NDArray[np.float64]:
    """0 for what may follow (row: before, column: after), ``FORBIDDEN`` otherwise.

    Label 0 is O; of kind k, ``1 + 4k`` is B, then I, E, S. The last row is the start of a
    sentence, the last column its end.
    """
    labels = 1 + 4 * kinds
    allowed = np.full((labels + 1, labels + 1), FORBIDDEN)
    closed = [0, labels, *(label for label in range(1, labels) if (label - 1) % 4 in (2, 3))]
    opening = [0, labels, *(label for label in range(1, labels) if (label - 1) % 4 in (0, 3))]
    allowed[np.ix_(closed, opening)] = 0.0
    for first in range(1, labels, 4):
        allowed[first : first + 2, first + 1 : first + 3] = 0.0
    return allowed


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
        weights, transitions = self._model.weights, floats(self._model.transitions)
        length, width = len(rows), weights.shape[1]
        scores, forward, backward = np.empty((3, length, width))
        fill_scores(ints(rows.reshape(-1)), floats(weights), width, floats(scores))
        scores[:, 0] -= self._boldness
        labels, before = np.empty(length, np.int64), np.empty((length, width), np.int64)
        find_best(floats(scores), transitions, floats(forward), ints(before), ints(labels))
        if not labels.any():
            return []
        log_sum = sum_labellings(floats(scores), transitions, floats(forward), floats(backward))
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


def simplify(text: str) -> str:
    """*text* in simplified characters, each in its place; as it is where that cannot be."""
    plain = to_simplified(text)
    return plain if len(plain) == len(text) else text


def sentence_features(sentence: str) -> NDArray[np.uint64]:
    """The features of *sentence*, in either script, with the lists of the dictionary."""
    sentence = simplify(sentence)
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


# --- The tagger's model as a file: features by their hash, weights in eight bits ------------------

FORMAT = 1
_AGAIN = N_("train it again: qiaocrawl report entities train DIR")
_LEVELS = 127


@dataclass(frozen=True, slots=True)
class TaggerModel:
    """What was learnt.

    Args:
        hashes: of the features, sorted, 32 bits each.
        weights: a row a feature, a column a label.
        transitions: see ``allowed_transitions``.
        learnt_from: names of the data, for people.
        kinds: what it tells apart.
    """

    hashes: NDArray[np.uint32]
    weights: NDArray[np.float32]
    transitions: NDArray[np.float64]
    learnt_from: str = ""
    kinds: tuple[str, ...] = KINDS

    def rows(self, features: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The rows of the weights of *features*, -1 of those the model has not."""
        short = short_hashes(features)
        at = np.minimum(np.searchsorted(self.hashes, short), len(self.hashes) - 1)
        return np.where(self.hashes[at] == short, at, -1)

    def write(self, path: Path) -> None:
        """Keep it in *path*; the weights lose what eight bits cannot hold."""
        scale = np.abs(self.weights).max() / _LEVELS or 1.0
        small = np.round(self.weights / scale).astype(np.int8)
        kept = small.any(axis=1)
        file = io.BytesIO()
        np.savez(
            file,
            format=FORMAT,
            learnt_from=self.learnt_from,
            kinds=list(self.kinds),
            scale=scale,
            gaps=np.diff(self.hashes[kept], prepend=np.uint32(0)),
            weights=small[kept].T.copy(),
            transitions=self.transitions,
        )
        path.write_bytes(lzma.compress(file.getvalue()))


def short_hashes(features: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The upper 32 bits, which are mixed best."""
    return (features >> np.uint64(32)).astype(np.uint32)


def read_model(data: bytes, name: str) -> TaggerModel:
    """The model in *data*.

    Args:
        name: what errors call it.

    Raises:
        ConfigError: it is no model, or one of another format.
    """
    try:
        with np.load(io.BytesIO(lzma.decompress(data)), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ConfigError(
                    _(
                        "{file}: format {own}, not {wanted}; {again}",
                        file=name,
                        own=arrays["format"],
                        wanted=FORMAT,
                        again=_(_AGAIN),
                    )
                )
            model = TaggerModel(
                np.cumsum(arrays["gaps"], dtype=np.uint32),
                (arrays["weights"].T * np.float32(arrays["scale"])).astype(np.float32, order="C"),
                np.maximum(arrays["transitions"], FORBIDDEN, dtype=np.float64),
                str(arrays["learnt_from"]),
                tuple(map(str, arrays["kinds"])),
            )
            _check_shapes(model)
            return model
    except (lzma.LZMAError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ConfigError(
            _(
                "{file}: no model of the tagger ({error}); {again}",
                file=name,
                error=error,
                again=_(_AGAIN),
            )
        ) from error


def _check_shapes(model: TaggerModel) -> None:
    """Refuse with a ValueError what the loops would read beyond the end of."""
    labels = 1 + 4 * len(model.kinds)
    wanted = (len(model.hashes), labels), (labels + 1, labels + 1)
    shapes = model.weights.shape, model.transitions.shape
    if shapes != wanted or not len(model.hashes):
        raise ValueError(f"weights and transitions of shapes {shapes}, not {wanted}")
