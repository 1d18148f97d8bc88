"""Ranks what could stand for a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.analysis.summaries.candidates import NAMES, candidates_of, feature_rows
from qiaocrawl.analysis.summaries.sentences import sentences_of
from qiaocrawl.analysis.summaries.words import TextWords
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST, LONGEST = 8, 45
"""Letters of a headline that is looked for."""

# Set by hand: what is central, early, whole, names somebody, and does not tell of the making.
_HAND_WEIGHTS = {
    "dense_coverage": 1.0, "lead_share": 1.0, "title_share": 1.5, "among_four": 0.5, "early": 0.3,
    "has_name": 0.4, "reaches_end": 0.3, "clause_early": 0.3, "off_length": -0.6, "making": -0.5,
    "hanging": -0.3, "agreement": 2.0, "open_quote": -0.4, "time": -0.2, "pronoun": -0.2,
}  # fmt: skip
_SOFTNESS = 0.15
_SHRINKING = 0.03
_STEPS, _RATE = 300, 0.1
_MOMENTUM, _SQUARES = 0.9, 0.999


class Ranker(NamedTuple):
    """Weights of ``NAMES``, and what each feature is less on average and scaled by."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row how well it stands for the text; higher is better."""
        return np.asarray((rows - self.means) / self.scales @ self.weights)


@cache
def default_ranker() -> Ranker:
    """The one that comes along; its weights were set by hand."""
    weights = np.array([_HAND_WEIGHTS.get(name, 0.0) for name in NAMES])
    return Ranker(weights, np.zeros(len(NAMES)), np.ones(len(NAMES)))


def train_ranker(
    pairs: Iterable[tuple[str, str]], agreement: Callable[[str, str], float]
) -> Ranker:
    """A ranker that prefers what agrees with headlines people wrote.

    Args:
        pairs: texts with their headlines.
        agreement: of a headline and a candidate, such as ROUGE-L.

    Raises:
        ConfigError: no text has a candidate.
    """
    rows, wanted = [], []
    for text, headline in pairs:
        sentences = sentences_of(text)
        candidates = candidates_of(sentences, SHORTEST, LONGEST)
        if candidates:
            rows.append(feature_rows(candidates, TextWords(one.text for one in sentences)))
            wanted.append(np.array([agreement(headline, one.piece.text) for one in candidates]))
    if not rows:
        raise ConfigError(_("nothing to learn from: no text has a clause of 8 letters or more"))
    table = np.concatenate(rows)
    means, scales = table.mean(axis=0), table.std(axis=0) + 1e-9
    return Ranker(_fitted((table - means) / scales, wanted), means, scales)


def _fitted(
    table: NDArray[np.float64], wanted: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Weights that bring the shares of each text's candidates near those wanted (Adam)."""
    starts = np.cumsum([0, *(len(values) for values in wanted)])[:-1]
    text = np.repeat(np.arange(len(wanted)), [len(values) for values in wanted])
    goal = _shares(np.concatenate(wanted) / _SOFTNESS, starts, text)
    weights, mean, square = (np.zeros(table.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        slope = table.T @ (_shares(table @ weights, starts, text) - goal) / len(wanted)
        slope += _SHRINKING * weights
        mean = _MOMENTUM * mean + (1 - _MOMENTUM) * slope
        square = _SQUARES * square + (1 - _SQUARES) * slope**2
        move = mean / (1 - _MOMENTUM**step)
        move /= np.sqrt(square / (1 - _SQUARES**step)) + 1e-8
        weights -= _RATE * (1 - step / _STEPS) * move
    return weights


def _shares(
    scores: NDArray[np.float64], starts: NDArray[np.int64], text: NDArray[np.int64]
) -> NDArray[np.float64]:
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[text])
    return np.asarray(powers / np.add.reduceat(powers, starts)[text])
