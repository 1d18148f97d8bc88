"""How good judgements of pages are: precision, recall, F1, average precision, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Pages whose score lies in one tenth of [0, 1]: mean score, share on topic, how many."""

    score: float
    share: float
    pages: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What a method's judgements of some pages are worth; all but the bins lie in [0, 1].

    Attributes:
        f1, precision, recall: of its verdicts; 0 where nothing counts.
        average_precision: mean precision at the places of the relevant pages, by score.
        brier: mean (score − truth)²; 0 is best.
        ece: expected calibration error, the mean distance of score and share over the bins,
            each weighted by its pages.
        bins: those that hold a page, ascending: the reliability table.
    """

    f1: float
    precision: float
    recall: float
    average_precision: float
    brier: float
    ece: float
    bins: tuple[Bin, ...]


def figures(
    scores: NDArray[np.float64], verdicts: NDArray[np.bool_], truth: NDArray[np.bool_]
) -> Figures:
    """The figures of *scores* and *verdicts* of pages against the *truth*, in equal order."""
    right = int((verdicts & truth).sum())
    judged_relevant, truly_relevant = int(verdicts.sum()), int(truth.sum())
    bins = reliability(scores, truth)
    pages = max(len(scores), 1)
    return Figures(
        f1=2 * right / (judged_relevant + truly_relevant) if right else 0.0,
        precision=right / judged_relevant if judged_relevant else 0.0,
        recall=right / truly_relevant if truly_relevant else 0.0,
        average_precision=average_precision(scores, truth),
        brier=float(np.mean((scores - truth) ** 2)) if len(scores) else 0.0,
        ece=sum(abs(one.score - one.share) * one.pages for one in bins) / pages,
        bins=bins,
    )


def reliability(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """The bins that hold a page, ascending."""
    places = np.minimum((scores * BINS).astype(int), BINS - 1)
    bins = []
    for place in range(BINS):
        inside = places == place
        if inside.any():
            score, share = float(scores[inside].mean()), float(truth[inside].mean())
            bins.append(Bin(score, share, int(inside.sum())))
    return tuple(bins)


def average_precision(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """Mean precision at the relevant pages' places; of equal scores all come together."""
    if not truth.any():
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, right = scores[order], np.cumsum(truth[order])
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    gained = np.diff(np.concatenate([[0], right[last]]))
    return float((gained * right[last] / (last + 1)).sum() / truth.sum())
