"""Small logistic regressions: one with a prior for its weights, and Platt's for scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_SMALLEST_STEP = 1e-6
_SMALLEST_GAIN = 1e-9
_FURTHEST = 30.0


def probability(logit: float) -> float:
    """1 / (1 + exp(-logit)), in (0, 1); beyond ±30 it does not change any more."""
    return float(1.0 / (1.0 + np.exp(-min(max(logit, -_FURTHEST), _FURTHEST))))


def logit_of(chance: float) -> float:
    """The inverse of :func:`probability`, as far as that reaches."""
    if not 0 < chance < 1:
        return _FURTHEST if chance > 0 else -_FURTHEST
    return math.log(chance / (1 - chance))


def fit_logistic(
    features: Floats, targets: Floats, importance: Floats, prior: Floats, strength: Floats
) -> Floats:
    """The weights that are likeliest after seeing the rows (maximum a posteriori).

    Minimises sum of importance · log loss + ½ · sum of strength · (weight − prior)² by
    Newton's method, each step halved until it gains.

    Args:
        features: rows x columns; a column of ones makes a constant.
        targets: of each row, in [0, 1].
        importance: of each row, at least 0.
        prior: the weights before anything was seen; they stay where there are no rows.
        strength: how sure one is of each, above 0 (the inverse of its variance).

    Returns:
        A weight for each column.
    """
    weights = prior.copy()

    def loss(tried: Floats) -> float:
        logits = features @ tried
        fit = importance @ (np.logaddexp(0.0, logits) - targets * logits)
        return float(fit + 0.5 * strength @ (tried - prior) ** 2)

    before = loss(weights)
    for _ in range(_STEPS):
        predicted = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -_FURTHEST, _FURTHEST)))
        gradient = features.T @ (importance * (predicted - targets)) + strength * (weights - prior)
        curve = importance * predicted * (1.0 - predicted)
        # The prior's strength keeps it invertible, also with fewer rows than columns.
        hessian = (features * curve[:, None]).T @ features + np.diag(strength)
        step, size = np.linalg.solve(hessian, gradient), 1.0
        # A full Newton step may overshoot where the curve is flat.
        while size > _SMALLEST_STEP and loss(weights - size * step) > before:
            size /= 2
        weights = weights - size * step
        after = loss(weights)
        if before - after < _SMALLEST_GAIN:
            break
        before = after
    return weights


def fit_platt(scores: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and constant that turn a *score* into the logit of a probability (Platt 1999).

    The targets are (n⁺ + 1)/(n⁺ + 2) and 1/(n⁻ + 2) instead of 1 and 0, as there, so that
    few samples give no certainty. There must be rows of both kinds.
    """
    yes = int(relevant.sum())
    no = len(relevant) - yes
    targets = np.where(relevant, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    features = np.column_stack([scores, np.ones(len(scores))])
    slope, constant = fit_logistic(
        features, targets, np.ones(len(scores)), np.array([1.0, 0.0]), np.array([1e-3, 1e-3])
    )
    return float(slope), float(constant)
