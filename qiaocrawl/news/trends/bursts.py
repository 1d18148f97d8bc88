"""What is to be expected of the next steps, with a band that most of them lie in."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qiaocrawl.news.trends.usual import (
    SECONDS,
    Base,
    CountSeries,
    count_series,
    dispersion_of,
    is_off,
    make_base,
)
from qiaocrawl.text.zones import SHANGHAI, start_of_days

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.news.trends.usual import HolidayCalendar

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
    chosen = _smooth(days, base)
    behind = [_step(days, base, steps, len(steps) + at, chosen) for at in range(ahead)]
    return [
        ForecastStep(steps.start(len(steps) + at), mean, *count_band(mean, dispersion, share))
        for at, (mean, dispersion) in enumerate(behind)
    ]


def _step(
    days: CountSeries, base: Base, steps: CountSeries, at: int, chosen: _Smoothing
) -> tuple[float, float]:
    """Mean and dispersion of a step to come."""
    middle = steps.start(at).timestamp() + SECONDS[steps.unit] / 2
    days_ahead = max(1.0, math.ceil((middle - days.start(len(days)).timestamp()) / _DAY_SECONDS))
    level = chosen.level + chosen.trend * _DAMPING * (1 - _DAMPING**days_ahead) / (1 - _DAMPING)
    mean = base.expected_count(steps, at, max(level, 0.0))
    doubt = base.day_doubt(steps.start(at).date())
    return mean, doubt + chosen.dispersion * (1.0 + (days_ahead - 1.0) * chosen.alpha**2)


def _smooth(days: CountSeries, base: Base) -> _Smoothing:
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


def count_band(mean: float, dispersion: float, share: float = 0.9) -> tuple[int, int]:
    """The counts between which a step lies in this *share* of cases, the rest on both sides."""
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


# --- Kleinberg's automaton with two states: when something was told more densely than usual -------
# Source: J. Kleinberg, "Bursty and Hierarchical Structure in Streams", KDD 2002; Data Mining and
# Knowledge Discovery 7 (2003), 373-397. State 0 is the usual rate, state 1 is *s* times that.
#
# - :func:`count_bursts` is section 4 (batches): of d_t texts of step t r_t are relevant. State i
#   expects the share p_i, where p_0 = R / D over all steps and p_1 = s · p_0, and costs
#   σ(i, r_t, d_t) = -ln [ C(d_t, r_t) · p_i^r_t · (1 - p_i)^(d_t - r_t) ].
# - :func:`gap_bursts` is section 2 (moments): of n gaps between n + 1 moments of a time T, state i
#   has the density α_i · e^(-α_i · x) with α_0 = n / T and α_1 = s · α_0.
#
# Both: to go from state 0 to 1 costs γ · ln n, where n is the number of steps or gaps; to stay and
# to go down cost nothing; the automaton begins in state 0. The sequence of states of least cost is
# found exactly (Viterbi). A burst's weight is the sum of σ(0) - σ(1) over its steps.

DEFAULT_S, DEFAULT_GAMMA = 2.0, 1.0
"""The values of the paper's experiments."""


@dataclass(frozen=True, slots=True)
class Burst:
    """A longest run of steps in state 1: places *begin* up to *end*, which is outside."""

    begin: int
    end: int
    weight: float


def count_bursts(
    relevant: Sequence[int] | NDArray[np.int64],
    totals: Sequence[int] | NDArray[np.int64],
    *,
    s: float = DEFAULT_S,
    gamma: float = DEFAULT_GAMMA,
) -> list[Burst]:
    """Bursts of what *relevant* counts among *totals*, step by step.

    Where s · p_0 reaches 1 there is no such share; p_1 then lies halfway from p_0 to 1 **(ours)**.

    Raises:
        ValueError: the sequences differ in length, a step has more relevant than there are, *s*
            is not above 1, or *gamma* is below 0.
    """
    r, d = np.asarray(relevant, np.float64), np.asarray(totals, np.float64)
    _check(s, gamma)
    if r.shape != d.shape or (r < 0).any() or (r > d).any():
        raise ValueError("every step needs 0 <= relevant <= total")
    if not r.sum() or r.sum() == d.sum():
        return []
    usual = float(r.sum() / d.sum())
    dense = s * usual if s * usual < 1.0 else (1.0 + usual) / 2
    # The binomial coefficient is the same in both states, so it changes no choice and no weight.
    costs = np.stack([-(r * math.log(p) + (d - r) * math.log1p(-p)) for p in (usual, dense)])
    return list(_bursts(costs, gamma))


def gap_bursts(
    times_seconds: Sequence[float], *, s: float = DEFAULT_S, gamma: float = DEFAULT_GAMMA
) -> list[Burst]:
    """Bursts of moments in ascending order; ``begin`` and ``end`` are places of gaps.

    The burst's first moment is that at ``begin``, its last that at ``end``.

    Raises:
        ValueError: moments descend, *s* is not above 1, or *gamma* is below 0.
    """
    gaps = np.diff(np.asarray(times_seconds, np.float64))
    _check(s, gamma)
    if (gaps < 0).any():
        raise ValueError("moments must ascend")
    if not gaps.size or not gaps.sum():
        return []
    rate = len(gaps) / float(gaps.sum())
    costs = np.stack([a * gaps - math.log(a) for a in (rate, s * rate)])
    return list(_bursts(costs, gamma))


def _check(s: float, gamma: float) -> None:
    if not s > 1.0 or not gamma >= 0.0:
        raise ValueError(f"s must be above 1 and gamma not below 0, got {s:g} and {gamma:g}")


def _bursts(costs: NDArray[np.float64], gamma: float) -> Iterator[Burst]:
    states = _cheapest_states(costs, gamma * math.log(costs.shape[1]))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], states, [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        weight = float((costs[0, begin:end] - costs[1, begin:end]).sum())
        yield Burst(begin, end, weight)


def _cheapest_states(costs: NDArray[np.float64], up_cost: float) -> NDArray[np.int8]:
    """The sequence of states of least cost; of two that cost the same the lower state."""
    low, high = 0.0, math.inf
    came_from = np.zeros(costs.shape, np.int8)
    for at, (low_step, high_step) in enumerate(costs.T.tolist()):
        came_from[0, at], came_from[1, at] = high < low, high < low + up_cost
        low, high = min(low, high) + low_step, min(high, low + up_cost) + high_step
    states = np.zeros(costs.shape[1], np.int8)
    state = int(high < low)
    for at in range(costs.shape[1] - 1, -1, -1):
        states[at] = state
        state = int(came_from[state, at])
    return states


# --- How unusual the newest hours are, judged while they are still going on **(ours)** ------------
# A day that is not over says little: in the morning it has few texts, however much is told. So the
# 24 hours before a moment are judged, against what is usual for just these hours: the rest of
# yesterday and the hours of today that are over, each as its weekday and its time of day have it.

BASE_DAYS = 56
_DAY = timedelta(days=1)
_SECONDS_A_DAY, _HOUR_SECONDS, _HOURS = 86_400, 3_600, 24


class Newest(NamedTuple):
    """The 24 hours before a moment against what is usual.

    Args:
        texts: how many.
        expected, deviation: None without a base; see :class:`qiaocrawl.news.trends.usual.Base`.
        in_burst: by the automaton, over steps of 24 hours that end at the moment.
    """

    texts: int
    expected: float | None
    deviation: float | None
    in_burst: bool


def newest_of(
    times: NDArray[np.float64],
    all_times: NDArray[np.float64],
    now: datetime,
    calendar: HolidayCalendar,
) -> Newest:
    """What stands out just before the aware moment *now*; later texts are not looked at.

    Args:
        times: seconds as ``series.seconds_of`` makes them, in any order.
        all_times: of all texts that might have been such: bursts are of their share.
    """
    end = now.timestamp()
    texts = int(((times > end - _SECONDS_A_DAY) & (times <= end)).sum())
    in_burst = _in_burst(times, all_times, end)
    base, shares = _base(times, now, calendar)
    if base is None:
        return Newest(texts, None, None, in_burst)
    expected = _expected_count(base, shares, now)
    return Newest(texts, expected, base.deviation(texts, expected), in_burst)


def _in_burst(times: NDArray[np.float64], all_times: NDArray[np.float64], end: float) -> bool:
    own, everything = (_days_back(moments, end) for moments in (times, all_times))
    return any(burst.end == len(own) for burst in count_bursts(own, everything))


def _days_back(moments: NDArray[np.float64], end: float) -> NDArray[np.int64]:
    """Counts of 24 hours each, the last of them up to *end* and with it."""
    days = BASE_DAYS + 1
    places = days - 1 - ((end - moments) // _SECONDS_A_DAY).astype(np.int64)
    inside = places[(places >= 0) & (places < days)]
    return np.bincount(inside, minlength=days).astype(np.int64)


def _base(
    times: NDArray[np.float64], now: datetime, calendar: HolidayCalendar
) -> tuple[Base | None, NDArray[np.float64]]:
    """By whole days before the 24 hours, from the first that has a text; and shares of hours."""
    begin = now - _DAY
    midnight = start_of_days(begin, 1)
    hours = count_series(times, "hour", midnight - timedelta(days=BASE_DAYS), midnight)
    by_day = hours.counts.reshape(-1, _HOURS).sum(axis=1)
    if not by_day.any():
        return None, np.zeros((2, _HOURS))
    looked = int(np.flatnonzero(by_day)[0])
    days = CountSeries("day", hours.first // _HOURS + looked, by_day[looked:])
    base = make_base(days, calendar)
    if base is None:
        return None, np.zeros((2, _HOURS))
    by_hour = make_base(hours.part(looked * _HOURS, len(hours)), calendar)
    assert by_hour is not None, "it has as many days"
    return base, by_hour.hour_shares


def _expected_count(base: Base, shares: NDArray[np.float64], now: datetime) -> float:
    """The usual count of the 24 hours before *now*."""
    today = now.astimezone(SHANGHAI)
    yesterday = today - _DAY
    over = _share_over(base, shares, today), _share_over(base, shares, yesterday)
    factors = base.day_factor(today.date()), base.day_factor(yesterday.date())
    return base.level * (factors[0] * over[0] + factors[1] * (1.0 - over[1]))


def _share_over(base: Base, shares: NDArray[np.float64], when: datetime) -> float:
    """Which share of its day's texts there usually is until *when*."""
    own = shares[int(is_off(base.calendar.kind_of(when.date())))]
    into = (when.minute * 60 + when.second) / _HOUR_SECONDS
    return float(own[: when.hour].sum() + own[when.hour] * into)
