"""Kleinberg's automaton with two states: when something was told more densely than usual.

Source: J. Kleinberg, "Bursty and Hierarchical Structure in Streams", KDD 2002; Data Mining and
Knowledge Discovery 7 (2003), 373-397. State 0 is the usual rate, state 1 is *s* times that.

- :func:`count_bursts` is section 4 (batches): of d_t texts of step t r_t are relevant. State i
  expects the share p_i, where p_0 = R / D over all steps and p_1 = s · p_0, and costs
  σ(i, r_t, d_t) = -ln [ C(d_t, r_t) · p_i^r_t · (1 - p_i)^(d_t - r_t) ].
- :func:`gap_bursts` is section 2 (moments): of n gaps between n + 1 moments of a time T, state i
  has the density α_i · e^(-α_i · x) with α_0 = n / T and α_1 = s · α_0.

Both: to go from state 0 to 1 costs γ · ln n, where n is the number of steps or gaps; to stay and
to go down cost nothing; the automaton begins in state 0. The sequence of states of least cost is
found exactly (Viterbi). A burst's weight is the sum of σ(0) - σ(1) over its steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
