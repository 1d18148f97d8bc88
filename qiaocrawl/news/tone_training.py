"""Learns a tone model from marked texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats, ints
from qiaocrawl.language import _
from qiaocrawl.news.logistic import Rows, Weights, learn_rows
from qiaocrawl.news.names.training import read_marked_lines
from qiaocrawl.news.tone import LABELS, Label
from qiaocrawl.news.tone_model import (
    Document,
    Features,
    SparseRows,
    ToneModel,
    features_of,
    sparse_rows,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_SHORT_LABELS: dict[str, Label] = {"neg": "negative", "pos": "positive", "neu": "neutral"}
_HELD_OUT = 5
_TEMPERATURES = np.geomspace(0.5, 4.0, 25)


class MarkedTone(NamedTuple):
    """A document with its tone; texts of all domains weigh alike in sum."""

    document: Document
    label: Label
    domain: str = ""


@dataclass(frozen=True, slots=True)
class TonePlan:
    """How long and how hard to learn.

    Args:
        rounds: times the data is gone through.
        rate: of AdaGrad.
        decay: how weights shrink.
        least_count: rarer features are left out.
        balanced: whether labels of one domain weigh alike in sum.
        seed: of the order of texts.
    """

    rounds: int = 12
    rate: float = 0.5
    decay: float = 1e-3
    least_count: int = 2
    balanced: bool = False
    seed: int = 1


def read_marked_tones(path: Path) -> list[MarkedTone]:
    """The texts of a JSON Lines file (``.gz`` too): ``text``, ``label`` and, if there, ``body``,
    ``target`` and ``domain``.

    Labels are those of ``LABELS`` or neg, pos, neu.

    Raises:
        ConfigError: a line is none of these.
    """
    wanted = _("text and label ({labels})", labels=", ".join(LABELS))
    return read_marked_lines(path, _tone_of_row, wanted)


def _tone_of_row(row: dict[str, Any]) -> MarkedTone:
    label = _SHORT_LABELS.get(row["label"], row["label"])
    if label not in LABELS:
        raise ValueError(f"label {label!r}")
    text = "\n".join(filter(None, (row["text"], row.get("body"))))
    return MarkedTone(Document(text, row.get("target", "")), label, row.get("domain", ""))


def train_tone(
    marked: Sequence[MarkedTone], *, towards_target: bool = False, plan: TonePlan = TonePlan()
) -> ToneModel:
    """What *marked* texts teach; the same texts give the same model.

    Every fifth text is held out first, to see how certain the model may be, and learnt from after.

    Raises:
        ConfigError: fewer than two labels.
    """
    if len({one.label for one in marked}) < 2:
        raise ConfigError(_("nothing to learn from: texts of at least two labels are wanted"))
    features = [features_of(one.document, towards_target) for one in marked]
    labels = np.array([LABELS.index(one.label) for one in marked])
    importance = _importance(marked, plan.balanced)
    held_out = np.arange(len(marked)) % _HELD_OUT == 0
    learning = _Learning(features, labels, importance, plan, towards_target)
    trial = learning.model(np.flatnonzero(~held_out))
    temperature = _temperature(
        trial, [features[at] for at in np.flatnonzero(held_out)], labels[held_out]
    )
    whole = learning.model(np.arange(len(marked)))
    return ToneModel(
        whole.hashes, whole.idf, whole.weights, whole.bias, temperature, towards_target
    )


@dataclass(frozen=True, slots=True)
class _Learning:
    features: Sequence[Features]
    labels: NDArray[np.int64]
    importance: NDArray[np.float64]
    plan: TonePlan
    towards_target: bool

    def model(self, rows: NDArray[np.int64]) -> ToneModel:
        """What the texts *rows* teach."""
        features = [self.features[at] for at in rows]
        hashes, counts = np.unique(
            np.concatenate([own.hashes for own in features]), return_counts=True
        )
        kept = counts >= self.plan.least_count
        weights = np.zeros((int(kept.sum()) + len(features[0].dense), len(LABELS)))
        bias = np.zeros(len(LABELS))
        # A label that no text has is never the likeliest.
        bias[np.bincount(self.labels[rows], minlength=len(LABELS)) == 0] = -1e3
        idf = np.log((1 + len(rows)) / (1 + counts[kept])) + 1
        model = ToneModel(hashes[kept], idf, weights, bias, towards_target=self.towards_target)
        self._learn(model, sparse_rows(model, features), rows)
        return model

    def _learn(self, model: ToneModel, table: SparseRows, rows: NDArray[np.int64]) -> None:
        rng = np.random.default_rng(self.plan.seed)
        labels, importance = ints(self.labels[rows]), floats(self.importance[rows])
        learnt = Weights(model.weights, model.bias)
        for _round in range(self.plan.rounds):
            order = ints(rng.permutation(len(rows)))
            learn_rows(
                order, Rows(*table), labels, importance, learnt, self.plan.rate, self.plan.decay
            )


def _importance(marked: Sequence[MarkedTone], balanced: bool) -> NDArray[np.float64]:
    """What each text weighs, 1 on average."""
    groups = [(one.domain, one.label if balanced else "") for one in marked]
    sizes = Counter(groups)
    return np.array([len(marked) / len(sizes) / sizes[group] for group in groups])


def _temperature(
    model: ToneModel, features: Sequence[Features], labels: NDArray[np.int64]
) -> float:
    """The temperature that makes *labels* likeliest."""
    scores = model.scores(sparse_rows(model, features))

    def loss(temperature: float) -> float:
        scaled = scores / temperature
        top = scaled.max(axis=1)
        sums = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        return float((sums - scaled[np.arange(len(labels)), labels]).sum())

    return float(min(_TEMPERATURES, key=loss))
