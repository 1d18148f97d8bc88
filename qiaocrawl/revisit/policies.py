"""How often each page is visited, when all of them together may cost a budget (T10, E1).

Cho & Garcia-Molina (2003, Effective page refresh policies) show that neither equal intervals
nor intervals in proportion to change are best; the optimum lies between, and gives up pages
that change too fast to be kept fresh.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.language import N_
from qiaocrawl.registry import Registry

Floats = NDArray[np.float64]

_BISECTIONS = 40
# Prices from e^-40 to e^40, whatever the scale of the weights.
_HALF_DECADES = 40.0
_NEVER = 1e9


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a plan has to keep.

    Attributes:
        visits_per_hour: of all pages together.
        shortest_hours, longest_hours: between two visits of one page.
        worth_hours: in this time an article's worth to its reader falls to 1/e (``value``).
        age_share: of the budget that ``both`` gives to ``age``.
        least_yield: share of its visits that must be expected to bring something (``both``):
            a page is not asked every quarter of an hour because the budget allows it.
    """

    visits_per_hour: float
    shortest_hours: float = 0.25
    longest_hours: float = 72.0
    worth_hours: float = 3.0
    age_share: float = 0.7
    least_yield: float = 0.05


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each page brings something new, per hour; (n,) each, positive.

    Attributes:
        events: as the estimator of the schedule sees it: changes, or new links that no other
            page had shown before.
        changes: of the page itself, whether or not others show the same.
    """

    events: Floats
    changes: Floats


class Policy(Protocol):
    """Visits per hour of n pages within *bounds*.

    Args:
        weights: (n,) how much that counts; positive.

    Returns:
        (n,) visits per hour. Where even the longest intervals cost more than the budget, all
        pages get less, alike.
    """

    def __call__(self, rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
        """See the class."""


policies: Registry[Policy] = Registry(
    N_("revisit policy"), "qiaocrawl.revisit_policies", "qiaocrawl.revisit"
)


def fill_budget(demand: Callable[[float], Floats], bounds: Bounds) -> Floats:
    """*demand* at the price at which all of it just costs the budget.

    Args:
        demand: visits per hour by the logarithm of the price of a visit (a Lagrange
            multiplier); none of them grows with it.
    """
    low_visits, high_visits = 1 / bounds.longest_hours, 1 / bounds.shortest_hours
    low, high = -_HALF_DECADES, _HALF_DECADES
    # Demand falls with the price, so bisection finds the price that spends the budget.
    for _ in range(_BISECTIONS):
        price = (low + high) / 2
        demanded = np.clip(demand(price), low_visits, high_visits)
        if demanded.sum() > bounds.visits_per_hour:
            low = price
        else:
            high = price
    # high, not low: the last price known to keep within the budget.
    visits: Floats = np.clip(demand(high), low_visits, high_visits)
    # A budget too small even for the longest intervals is kept all the same.
    over = visits.sum() / bounds.visits_per_hour if bounds.visits_per_hour > 0 else np.inf
    return visits / over if over > 1 else visits


def wait_factor(policy: str, key: bytes, visit: int) -> float:
    """How many intervals pass between visit number *visit* of a page and the next (T10).

    ``fixed_order`` visits all pages again and again in one order: 1. ``random_order`` visits all
    of them in each round, each time in another order: a page is due at (k + U_k) intervals, so
    1 + U_(k+1) − U_k, on average 1. ``purely_random`` takes any page each time: times between
    visits are exponential with mean 1 (Cho and Garcia-Molina 2003). All other policies: 1. U is
    drawn from *key* and the visit's number, so a plan that is made anew stays **(ours)**.
    """
    if policy == "random_order":
        return 1.0 + _draw_number(key, visit + 1) - _draw_number(key, visit)
    return -math.log1p(-_draw_number(key, visit)) if policy == "purely_random" else 1.0


def _draw_number(key: bytes, visit: int) -> float:
    """In [0, 1)."""
    digest = blake2b(key, digest_size=8, salt=visit.to_bytes(16, "big")).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**53


# phi(x) = 1 - exp(-1/x) (1 + 1/x): what the x-th visit adds, where one is due on average.
# psi(x) = 1/(2 x^2) - phi(x): the same for age. Both fall; x from 0.01 to 10,000.
_X: Floats = np.logspace(-2, 4, 2_000)
_PHI: Floats = -np.expm1(-1 / _X) - np.exp(-1 / _X) / _X
# Beyond x = 50 the difference cancels; its series begins with 1/(3 x^3).
_PSI: Floats = np.where(_X < 50, 0.5 / _X**2 - _PHI, 1 / (3 * _X**3) - 1 / (8 * _X**4))
_LOG_X, _LOG_PHI, _LOG_PSI = np.log(_X), np.log(_PHI), np.log(_PSI)


def _phi_inverse(log_value: Floats) -> Floats:
    """x at which phi(x) has this logarithm; 0 where phi never gets so high."""
    # np.interp wants ascending values, and phi falls.
    x = np.exp(np.interp(log_value, _LOG_PHI[::-1], _LOG_X[::-1]))
    # Such a page is not worth its price: clipping gives it the longest interval.
    return np.where(log_value >= _LOG_PHI[0], 0.0, x)


def _psi_inverse(log_value: Floats) -> Floats:
    return np.asarray(np.exp(np.interp(log_value, _LOG_PSI[::-1], _LOG_X[::-1])))


@policies.register("fixed_order")
@policies.register("random_order")
@policies.register("purely_random")
@policies.register("uniform")
def uniform(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """Every page alike; T10's three orders differ in when, see :func:`wait_factor`."""
    return fill_budget(lambda price: np.full(len(weights), np.exp(-price)), bounds)


@policies.register("fixed")
def fixed_intervals(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """An interval for each group, in proportion to its weight; nothing is learnt (E1)."""
    return fill_budget(lambda price: weights * np.exp(-price), bounds)


@policies.register("proportional")
def proportional(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """In proportion to the rate of change."""
    return fill_budget(lambda price: weights * rates.events * np.exp(-price), bounds)


@policies.register("freshness")
def freshness(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """The largest share of pages that are as they were when last seen.

    Cho & Garcia-Molina 2003, visits at equal intervals: the freshness of a page is
    ``(f/r)(1 - exp(-r/f))``, and at the optimum all derivatives ``w/r phi(f/r)`` are one.
    """
    rate = rates.events
    log_ratio = np.log(rate / weights)
    return fill_budget(lambda price: rate * _phi_inverse(price + log_ratio), bounds)


@policies.register("azar")
def azar(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """The same for visits at random times: ``f = max(0, sqrt(w r / price) - r)``.

    Azar et al. 2018, Tractable near-optimal policies for crawling, eq. 6 solved for f (the
    importance of a page there being *weights*).
    """
    rate = rates.events
    root = np.sqrt(weights * rate)
    return fill_budget(lambda price: np.maximum(root * np.exp(-price / 2) - rate, 0.0), bounds)


@policies.register("age")
def age(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """The least mean age of pages.

    Cho & Garcia-Molina 2003: age ``1/(2f) - 1/r + (f/r^2)(1 - exp(-r/f))``; at the optimum all
    derivatives ``w/r^2 psi(f/r)`` are one, psi(x) = 1/(2 x^2) - phi(x).
    """
    rate = rates.changes
    log_ratio = np.log(rate**2 / weights)
    return fill_budget(lambda price: rate * _psi_inverse(price + log_ratio), bounds)


@policies.register("delay")
def delay(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """The least mean delay of what is new: ``f`` goes with ``sqrt(w r)`` **(ours)**.

    An event waits half an interval on average, so the sum of ``w r / (2 f)`` is to be least.
    """
    root = np.sqrt(weights * rates.events)
    return fill_budget(lambda price: root * np.exp(-price / 2), bounds)


@policies.register("value")
def value(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """The most worth of what is found, when its worth falls with exp(-delay / H) **(ours)**.

    With visits at equal intervals an event is worth ``f H (1 - exp(-1/(f H)))`` on average; at
    the optimum all derivatives ``w r H phi(f H)`` are one. A large H (``worth_hours``) gives
    ``delay``; a small one leaves all pages that cannot be had within H.
    """
    hours = bounds.worth_hours
    log_gain = np.log(weights * rates.events * hours)
    return fill_budget(lambda price: _phi_inverse(price - log_gain) / hours, bounds)


@policies.register("both")
def both(rates: Rates, weights: Floats, bounds: Bounds) -> Floats:
    """A part of the budget by ``age``, the rest on top by ``value`` **(ours)**.

    ``value`` alone leaves pages of small sites for days, ``age`` alone spends its visits on
    pages whose news others have shown already.
    """
    share = bounds.age_share * bounds.visits_per_hour
    first = age(rates, weights, replace(bounds, visits_per_hour=share))
    rest = replace(
        # The longest interval is met by the first part already.
        bounds,
        visits_per_hour=bounds.visits_per_hour - float(first.sum()),
        longest_hours=_NEVER,
    )
    # With more visits than that, fewer than one in twenty would bring something (least_yield).
    useful = np.maximum(rates.events, rates.changes) / bounds.least_yield
    useful = np.clip(useful, 1 / bounds.longest_hours, 1 / bounds.shortest_hours)
    return np.minimum(np.add(first, value(rates, weights, rest)), useful)


# --- When to recheck an article, so that corrections and deletions are seen (E1) ------------------

LEAST_GAP = 0.5
"""A look within half of the step before it tells little: it is left out **(ours)**."""


def next_recheck(published: float, now: float, steps: Sequence[float]) -> float | None:
    """When an article is due next; None when it needs no further look.

    Args:
        published: when it came out, or was first seen.
        now: of the look that is just over.
        steps: hours after *published*, ascending, such as 1, 6, 24, 72, 240, 720.
    """
    # Beside each step the one before, to know how long it is.
    for step, before in zip(steps, (0.0, *steps), strict=False):
        due = published + step
        if due - now > LEAST_GAP * (step - before):
            return due
    return None
