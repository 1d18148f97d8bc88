"""A tone model: what was learnt of marked texts, and how it judges others."""

from __future__ import annotations

import io
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile

import numpy as np

from qiaocrawl.analysis.tone.features import (
    judgement_features,
    prepared,
    run_hashes,
    segmented,
    word_hashes,
)
from qiaocrawl.analysis.tone.linear import class_scores
from qiaocrawl.analysis.tone.polarity import judgements
from qiaocrawl.analysis.tone.targets import target_features
from qiaocrawl.analysis.tone.tone import LABELS, Tone
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import N_, _

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 1
SURE_FROM = 0.6
_WORDS_SHOWN = 6
_AGAIN = N_("train it again: qiaocrawl tone train FILE")
_ARRAYS = ("hashes", "idf", "weights", "bias", "temperature", "towards_target")


class SparseRows(NamedTuple):
    """Texts as rows of columns with values; row i is ``[starts[i] : starts[i + 1]]``."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


class Document(NamedTuple):
    """A text, and of whom or what its tone is asked ("": the text as such)."""

    text: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class ToneModel:
    """A linear model over hashed features and few dense ones.

    Args:
        hashes: of the features, sorted.
        idf: of each.
        weights: a row a feature, then a row a dense one; a column a label of ``LABELS``.
        bias: a value a label.
        temperature: what scores are divided by, so that probabilities are right on average.
        towards_target: whether it judges towards a target.
    """

    hashes: NDArray[np.uint64]
    idf: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    temperature: float = 1.0
    towards_target: bool = False

    def tone(self, document: Document, sure_from: float = SURE_FROM) -> Tone:
        """The tone of *document*; ``unsure`` where no label is *sure_from* likely."""
        shares = self.probabilities([document])[0]
        best = int(shares.argmax())
        label = LABELS[best] if shares[best] >= sure_from else "unsure"
        return Tone(label, tuple(shares.tolist()), self._words(document, best))

    def probabilities(self, documents: Sequence[Document]) -> NDArray[np.float64]:
        """A row a document, a column a label of ``LABELS``."""
        rows = sparse_rows(self, [features_of(one, self.towards_target) for one in documents])
        scores = class_scores(*rows, self.weights, self.bias) / self.temperature
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _words(self, document: Document, label: int) -> tuple[tuple[str, float], ...]:
        """What the words of the text add to the score of *label* beside the others' mean."""
        words = segmented(prepared(document.text))
        judged = dict(zip(words, judgements(words), strict=True))
        sign = {"negative": -1.0, "positive": 1.0, "neutral": 0.0}[LABELS[label]]
        margins = self.weights[:, label] - self.weights.mean(axis=1)
        told = {}
        for word in dict.fromkeys(words):
            at, values = _columns(self, np.unique(run_hashes(word)))
            told[word] = float(margins[at] @ values) + sign * judged[word]
        ranked = sorted(told.items(), key=lambda item: (-abs(item[1]), item[0]))
        return tuple((word, round(value, 3)) for word, value in ranked[:_WORDS_SHOWN] if value)

    def write(self, path: Path) -> None:
        """Keep it in *path*."""
        file = io.BytesIO()
        np.savez(
            file, format=FORMAT, hashes=self.hashes, idf=self.idf.astype(np.float16),
            weights=self.weights.astype(np.float16), bias=self.bias,
            temperature=self.temperature, towards_target=self.towards_target,
        )  # fmt: skip
        path.write_bytes(lzma.compress(file.getvalue()))


class Features(NamedTuple):
    """What is seen of one document."""

    hashes: NDArray[np.uint64]
    dense: list[float]


def features_of(document: Document, towards_target: bool) -> Features:
    """The features of *document*."""
    text = prepared(document.text)
    words = segmented(text)
    if towards_target:
        return Features(*target_features(text, words, prepared(document.target)))
    hashes = np.concatenate([run_hashes(text), word_hashes(words)])
    return Features(np.unique(hashes), judgement_features(words))


def sparse_rows(model: ToneModel, features: Sequence[Features]) -> SparseRows:
    """*features* as rows of the model's columns, the hashed ones of length 1 in sum of squares."""
    starts, columns, values = [0], [], []
    for own in features:
        at, idf = _columns(model, own.hashes)
        dense = np.arange(len(model.hashes), len(model.hashes) + len(own.dense))
        columns += [at, dense]
        values += [idf / (np.sqrt(idf @ idf) or 1.0), np.array(own.dense)]
        starts.append(starts[-1] + len(at) + len(dense))
    return SparseRows(np.array(starts), np.concatenate(columns), np.concatenate(values))


def _columns(
    model: ToneModel, hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if not len(model.hashes):
        return np.zeros(0, np.int64), np.zeros(0)
    at = np.minimum(np.searchsorted(model.hashes, hashes), len(model.hashes) - 1)
    at = at[model.hashes[at] == hashes]
    return at, model.idf[at]


def read_tone_model(path: Path) -> ToneModel:
    """The model in *path*.

    Raises:
        ConfigError: there is none, or it is of another format.
    """
    try:
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes())), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ConfigError(
                    _("{file}: format {own}, not {wanted}; {again}", file=path,
                      own=arrays["format"], wanted=FORMAT, again=_(_AGAIN))
                )  # fmt: skip
            hashes, idf, weights, bias, temperature, towards = (arrays[name] for name in _ARRAYS)
            return ToneModel(
                hashes, idf.astype(float), weights.astype(float), bias, float(temperature),
                bool(towards),
            )  # fmt: skip
    except (OSError, lzma.LZMAError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise ConfigError(
            _("{file}: no tone model ({error}); {again}", file=path, error=error, again=_(_AGAIN))
        ) from error
