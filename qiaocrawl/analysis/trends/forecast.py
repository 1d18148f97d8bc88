"""What is to be expected of the next steps, with a band that most of them lie in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.trends.base import dispersion_of
from qiaocrawl.analysis.trends.series import CountSeries
from qiaocrawl.analysis.trends.stretch import SECONDS

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from qiaocrawl.analysis.trends.base import Base

_ALPHAS, _BETAS = (0.05, 0.1, 0.2, 0.35, 0.5), (0.0, 0.05, 0.1)
_DAMPING = 0.9
_DAY_SECONDS = 86_400
# Behind so many terms a quantile is taken from the normal distribution: nobody sees the difference.
_MOST_TERMS = 20_000
# Errors of the first days are those of an unknown level.
_WARM_UP_DAYS = 7
_FACTORS = 7


@dataclass(frozen=True, slots=True)
class ForecastStep:
    """A step to come: its expected count, and the band it lies in with the share asked for."""

    start: datetime
    expected: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class _Smoothing:
    level: float
    trend: float
    alpha: float
    dispersion: float
    error: float


def forecast(
    days: CountSeries, base: Base, steps: CountSeries, ahead: int, share: float = 0.9
) -> list[ForecastStep]:
    """The *ahead* steps behind the last one of *steps*.

    The level of days without their factors goes on with a damped trend (Gardner and McKenzie
    1985), whose two weights are those with the least squared errors of one day ahead so far. Of
    those errors the band is made: counts are taken for negative binomial, and the further ahead a
    step is, the less its level is known.

    Args:
        days: whole days to learn from, at least as many as the base needs.
        steps: hours, days or weeks; the forecast begins behind them.
        share: of the steps to come that shall lie within their bands.
    """
    chosen = _smoothed(days, base)
    behind = [_step(days, base, steps, len(steps) + at, chosen) for at in range(ahead)]
    return [
        ForecastStep(steps.start(len(steps) + at), mean, *_band(mean, dispersion, share))
        for at, (mean, dispersion) in enumerate(behind)
    ]


def _step(
    days: CountSeries, base: Base, steps: CountSeries, at: int, chosen: _Smoothing
) -> tuple[float, float]:
    """Mean and dispersion of a step to come."""
    middle = steps.start(at).timestamp() + SECONDS[steps.unit] / 2
    days_ahead = max(1.0, math.ceil((middle - days.start(len(days)).timestamp()) / _DAY_SECONDS))
    level = chosen.level + chosen.trend * _DAMPING * (1 - _DAMPING**days_ahead) / (1 - _DAMPING)
    mean = base.expected(steps, at, max(level, 0.0))
    doubt = base.day_doubt(steps.start(at).date())
    return mean, doubt + chosen.dispersion * (1.0 + (days_ahead - 1.0) * chosen.alpha**2)


def _smoothed(days: CountSeries, base: Base) -> _Smoothing:
    counts = days.counts.astype(np.float64)
    factors = np.array([base.day_factor(start.date()) for start in days.starts()])
    tried = (_run(counts, factors, *weights) for weights in product(_ALPHAS, _BETAS))
    return min(tried, key=lambda smoothing: smoothing.error)


def _run(
    counts: NDArray[np.float64], factors: NDArray[np.float64], alpha: float, beta: float
) -> _Smoothing:
    level, trend = float(np.median(counts[:_WARM_UP_DAYS] / factors[:_WARM_UP_DAYS])), 0.0
    expected = np.zeros_like(counts)
    for at, (count, factor) in enumerate(zip(counts.tolist(), factors.tolist(), strict=True)):
        before = max(level + _DAMPING * trend, 0.0)
        expected[at] = before * factor
        # A day on which little is told says little of the level.
        gain = alpha * min(factor, 1.0)
        level = before + gain * (count / factor - before)
        trend = _DAMPING * trend + beta * (level - before)
    since = min(_WARM_UP_DAYS, len(counts) // 2)
    errors = np.sqrt(counts[since:] + 0.375) - np.sqrt(expected[since:] + 0.375)
    # Weekdays' factors were learnt from the same days, which makes errors look smaller.
    free = len(counts) - since
    free_share = free / max(free - _FACTORS, 1)
    dispersion = dispersion_of(counts[since:], expected[since:]) * free_share
    return _Smoothing(level, trend, alpha, dispersion, float((errors**2).mean()))


def _band(mean: float, dispersion: float, share: float) -> tuple[int, int]:
    """The quantiles that leave half of what is outside on either side."""
    outside = (1.0 - share) / 2
    if mean <= 0.0:
        return 0, 0
    deviation = math.sqrt(mean + dispersion * mean**2)
    terms = int(mean + 12 * deviation) + 20
    if terms > _MOST_TERMS:
        from statistics import NormalDist

        margin = NormalDist().inv_cdf(1.0 - outside) * deviation
        return max(0, math.floor(mean - margin)), math.ceil(mean + margin)
    below = np.cumsum(_probabilities(mean, dispersion, terms))
    low, high = np.searchsorted(below, (outside, 1.0 - outside))
    return int(low), int(min(high, terms - 1))


def _probabilities(mean: float, dispersion: float, terms: int) -> NDArray[np.float64]:
    """Of 0 up to *terms* - 1, negative binomial with this mean, or Poisson without dispersion."""
    counts = np.arange(1, terms, dtype=np.float64)
    if dispersion < 1e-9:
        first, ratios = -mean, np.log(mean / counts)
    else:
        size = 1.0 / dispersion
        stay = size / (size + mean)
        first = size * math.log(stay)
        ratios = np.log((counts + size - 1.0) / counts) + math.log1p(-stay)
    logs = first + np.concatenate(([0.0], np.cumsum(ratios)))
    return np.exp(logs)
