"""How often a page brings something new, from what its visits brought (T10)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.language import N_
from qiaocrawl.registry import Registry
from qiaocrawl.revisit.visit_history import VisitHistory

Floats = NDArray[np.float64]

PRIOR_HOURS = 24.0
"""The mean rate of similar pages counts as much as so many hours of watching the page itself
**(ours)**."""
FIRST_INTERVAL_HOURS = 24.0
# Bisections; forty leave less than 1e-10 of the interval.
_STEPS = 40
# From once in 114 years to once a minute: no page is taken for slower or faster.
_LOWEST, _HIGHEST = 1e-6, 60.0
_RING_FADING = 0.9


class Estimator(Protocol):
    """Rates of all pages of a memory.

    Args:
        memory: of n pages.
        usual: (n,) rates of pages like these, per hour, for those of which little is known.

    Returns:
        (n,) events per hour (per busy hour where ``in_busy_time``), positive.
    """

    in_busy_time: bool

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """See the class."""


estimators: Registry[Estimator] = Registry(
    N_("estimator of change"), "qiaocrawl.revisit", "qiaocrawl.change_estimators"
)


class BiasCorrected:
    """Cho & Garcia-Molina 2003 (Estimating frequency of change, eq. 5): changes yes or no.

    ``r = -ln((X + 0.5) / (n + 0.5))`` a mean interval, X of n visits having found no change: a
    visit sees one change where there were several, and the plain ratio is far too low for pages
    that change faster than they are visited. n and X fade with time **(ours)**.
    """

    in_busy_time = False

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """As :class:`Estimator`; without a visit, *usual*."""
        visits, hours = memory.column("visits"), memory.column("hours")
        # A damaged row may tell of more changes than visits.
        unchanged = np.maximum(visits - memory.column("changes"), 0)
        # The + 0.5 keep the ratio finite for pages that never or always changed.
        ratio = -np.log((unchanged + 0.5) / (visits + 0.5))
        rate = ratio * visits / np.maximum(hours, 1e-9)
        return np.where(visits > 0, np.clip(rate, _LOWEST, _HIGHEST), usual)


class MaximumLikelihood:
    """Cho & Garcia-Molina 2003, irregular intervals, over the last 12 visits.

    Solves ``sum over changed of w / (exp(r w) - 1) = sum over unchanged of w``. Each visit
    counts 0.9 of the next newer one, and half an unchanged interval of mean length is added,
    without which a page that changed at every visit had no finite rate **(both ours)**.
    """

    in_busy_time = False

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """As :class:`Estimator`; without a visit, *usual*."""
        widths, changed = memory.intervals, memory.changed > 0
        there = widths > 0
        count = there.sum(axis=1)
        # Newest first, so that the power grows with age.
        weight = _RING_FADING ** np.arange(widths.shape[1]) * there
        half = 0.5 * widths.sum(axis=1) / np.maximum(count, 1)
        # Half an unchanged interval is added here (see the class).
        still = (weight * widths * ~changed).sum(axis=1) + half
        low = np.full(len(memory), np.log(_LOWEST))
        high = np.full(len(memory), np.log(_HIGHEST))
        # 1 where there is no interval: its weight is 0, and 0 / expm1(0) would be nan.
        safe = np.where(there, widths, 1.0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            # Bisection over the logarithm: rates span eight decades. exp(50) does not overflow.
            power = np.minimum(np.exp(middle)[:, None] * safe, 50.0)
            moved = (weight * changed * safe / np.expm1(power)).sum(axis=1)
            # Left side falls with the rate: where it is too high, the rate is too low.
            is_low = moved > still
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.where(count > 0, np.exp(low), usual)


class Counted:
    """New links in the hours they came in **(ours)**: ``(news + h u) / (hours + h)``.

    A list page does not only say that it changed: it shows how many links are new. So the rate
    is seen directly, with no bias for changes seen late. u is the rate of pages like this and
    h = 24 hours (the mean of a Gamma distribution whose prior has that weight).
    """

    in_busy_time = False

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """As :class:`Estimator`."""
        news, hours = memory.column("news"), memory.column("hours")
        rate = (news + PRIOR_HOURS * usual) / (hours + PRIOR_HOURS)
        return np.clip(rate, _LOWEST, _HIGHEST)


class CountedInBusyTime:
    """As ``count``, in the busy hours of the site's week **(ours)**: nights and weekends count
    little, so a page is not taken for dead over a holiday of two days.
    """

    in_busy_time = True

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """As :class:`Estimator`, per busy hour."""
        news, busy = memory.column("news"), memory.column("busy")
        rate = (news + PRIOR_HOURS * usual) / (busy + PRIOR_HOURS)
        return np.clip(rate, _LOWEST, _HIGHEST)


class HalvedOrHalfMore:
    """StormCrawler's AdaptiveScheduler: the interval is halved by a change, else half as long
    again; the rate is one an interval. Scaled to a budget by the policy ``proportional``.
    """

    in_busy_time = False

    def __call__(self, memory: VisitHistory, usual: Floats) -> Floats:
        """As :class:`Estimator`; a day for pages without a visit, as there."""
        interval = memory.column("interval")
        return np.where(interval > 0, 1 / np.maximum(interval, 1e-9), 1 / FIRST_INTERVAL_HOURS)


estimators.register("cho")(BiasCorrected())
estimators.register("likelihood")(MaximumLikelihood())
estimators.register("count")(Counted())
estimators.register("rhythm")(CountedInBusyTime())
estimators.register("halved")(HalvedOrHalfMore())
