"""Learns the tagger from sentences with their names marked."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats, ints
from qiaocrawl.language import _
from qiaocrawl.news.names.crf import Room, learn_sentence
from qiaocrawl.news.names.entity import KINDS, Kind
from qiaocrawl.news.names.tagger import (
    TaggerModel,
    allowed_transitions,
    sentence_features,
    sentences,
    short_hashes,
    span_labels,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# --- Files of marked texts to learn from: JSON Lines, a text each ---------------------------------

Marked = TypeVar("Marked")


def read_marked_lines(
    path: Path, read: Callable[[dict[str, Any]], Marked], wanted: str
) -> list[Marked]:
    """What *read* makes of each object of the file (``.gz`` too).

    Args:
        read: raises ValueError, KeyError or TypeError for an object that is none of these.
        wanted: what an object must have, for the message.

    Raises:
        ConfigError: a line is none of these, or there is no such file.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    marked = []
    if not path.is_file():
        raise ConfigError(_("{file!r} does not exist", file=str(path)))
    with opened(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                marked.append(read(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise ConfigError(
                    _(
                        "{file}, line {number}: a JSON object with {wanted} is wanted ({error})",
                        file=path,
                        number=number,
                        wanted=wanted,
                        error=error,
                    )
                ) from error
    return marked


# --- Learns the tagger from sentences with their names marked -------------------------------------

_SHORT_NAMES: dict[str, Kind] = {"PER": "person", "LOC": "place", "ORG": "organisation"}


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with its names: start, end (exclusive) and kind."""

    text: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How long and how hard to learn.

    Args:
        rounds: times the data is gone through.
        rate: of AdaGrad.
        decay: how weights shrink.
        least_count: rarer features are left out.
        seed: of the order of sentences.
    """

    rounds: int = 12
    rate: float = 0.15
    decay: float = 0.002
    least_count: int = 2
    seed: int = 1


def read_marked_texts(path: Path) -> list[MarkedText]:
    """The texts of a JSON Lines file (``.gz`` too): ``text`` and ``spans`` of [start, end, kind].

    PER, LOC and ORG are person, place and organisation.

    Raises:
        ConfigError: a line is none of these.
    """
    return read_marked_lines(path, _marked_text, _("text and spans of [start, end, kind]"))


def _marked_text(row: dict[str, Any]) -> MarkedText:
    text = row["text"]
    spans = []
    for start, end, name in row["spans"]:
        kind = _SHORT_NAMES.get(name, name)
        if not 0 <= start < end <= len(text):
            raise ValueError(f"no span of the text: {start}, {end}")
        spans.append((start, end, str(kind)))
    return MarkedText(text, tuple(spans))


def train_tagger(
    texts: Iterable[MarkedText],
    *,
    kinds: Sequence[str] = KINDS,
    learnt_from: str = "",
    plan: TrainingPlan = TrainingPlan(),
    report: Callable[[int, float], None] | None = None,
) -> TaggerModel:
    """What *texts* teach; the same texts give the same model.

    Args:
        kinds: what to tell apart; spans of others are left out, of two that overlap the shorter.
        report: called after each round with its number (from 1) and the mean loss a sentence.

    Raises:
        ConfigError: no text has a name.
    """
    examples = [example for text in texts for example in _examples(text, kinds)]
    if not any(labels.any() for _, labels in examples):
        raise ConfigError(_("nothing to learn from: no name is marked in the texts"))
    hashes, examples_rows = _number_features(examples, plan.least_count)
    weights = np.zeros((len(hashes), 1 + 4 * len(kinds)))
    transitions = allowed_transitions(len(kinds))
    squares = (np.full_like(weights, 0.1), np.full_like(transitions, 0.1))
    sums = (np.zeros_like(weights), np.zeros_like(transitions))
    rng = np.random.default_rng(plan.seed)
    averaged = 0
    for number in range(1, plan.rounds + 1):
        loss = 0.0
        for at in rng.permutation(len(examples_rows)):
            rows, labels = examples_rows[at]
            loss += learn_sentence(
                ints(rows.reshape(-1)),
                ints(labels),
                floats(weights),
                floats(transitions),
                floats(squares[0]),
                floats(squares[1]),
                plan.rate,
                plan.decay,
                Room(len(labels), weights.shape[1]),
            )
        if number > plan.rounds // 2:
            averaged += 1
            sums[0][:] += weights
            sums[1][:] += transitions
        if report is not None:
            report(number, loss / len(examples_rows))
    return TaggerModel(
        hashes,
        (sums[0] / averaged).astype(np.float32),
        sums[1] / averaged,
        learnt_from,
        tuple(kinds),
    )


def _examples(
    marked: MarkedText, kinds: Sequence[str]
) -> Iterable[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
    """Features and labels of each sentence."""
    spans = _apart(span for span in marked.spans if span[2] in kinds)
    labels = span_labels(len(marked.text), spans, kinds)
    for start, end in _whole(sentences(marked.text), spans):
        sentence = marked.text[start:end]
        if sentence.strip():
            yield short_hashes(sentence_features(sentence)), labels[start:end]


def _apart(spans: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """*spans* without those that overlap a longer one."""
    kept: list[tuple[int, int, str]] = []
    for span in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if all(span[1] <= other[0] or other[1] <= span[0] for other in kept):
            kept.append(span)
    return kept


def _whole(
    bounds: Iterable[tuple[int, int]], spans: Sequence[tuple[int, int, str]]
) -> Iterable[tuple[int, int]]:
    """*bounds* without those that cut a name."""
    for start, end in bounds:
        if not any(first < cut < last for first, last, _ in spans for cut in (start, end)):
            yield start, end


def _number_features(
    examples: Sequence[tuple[NDArray[np.uint32], NDArray[np.int64]]], least_count: int
) -> tuple[NDArray[np.uint32], list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """The features kept, and the examples with row numbers instead of hashes."""
    every, counts = np.unique(
        np.concatenate([features.ravel() for features, _ in examples]), return_counts=True
    )
    nothing = np.zeros((0, 0))
    model = TaggerModel(every[counts >= least_count], nothing.astype(np.float32), nothing)
    wide = np.uint64(32)
    return model.hashes, [
        (model.rows(features.astype(np.uint64) << wide), labels) for features, labels in examples
    ]
