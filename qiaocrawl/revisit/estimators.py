"""How often a page brings something new, from what its visits brought (T10)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.language import N_
from qiaocrawl.registry import Registry

# --- How often a page brings something new, from what its visits brought (T10) --------------------

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RING = 12
"""Intervals kept one by one, for the estimate by maximum likelihood."""
_SUMS = ("visits", "changes", "hours", "busy", "news", "interval")
_PLACE = {name: place for place, name in enumerate(_SUMS)}
_WIDTH = len(_SUMS) + 2 * RING
# "<f4": four bytes a number, the same on every machine.
HISTORY_BYTES = 4 * _WIDTH
"""Of one page, packed."""


class VisitHistory:
    """The visits of many pages, a row each.

    ``column(name)`` gives, faded by time: ``visits`` and ``changes`` (visits that brought
    something), ``hours`` and ``busy`` hours they cover, ``news`` (new links in them);
    ``interval`` is the hours of the rule ×0.5/×1.5 and does not fade.
    """

    def __init__(self, table: Floats) -> None:
        self.table = table

    @classmethod
    def empty(cls, pages: int) -> VisitHistory:
        """Nothing known of *pages* pages."""
        return cls(np.zeros((pages, _WIDTH)))

    @classmethod
    def unpack(cls, rows: list[bytes]) -> VisitHistory:
        """From bytes of :meth:`pack`; what is no such row counts as nothing known."""
        memory = cls.empty(len(rows))
        for place, row in enumerate(rows):
            if len(row) == HISTORY_BYTES:
                values = np.frombuffer(row, dtype="<f4")
                # Damaged rows: nan, infinite or negative numbers count as nothing known.
                memory.table[place] = np.where(np.isfinite(values), np.maximum(values, 0), 0)
        return memory

    def pack(self, page: int) -> bytes:
        """The row of *page* as HISTORY_BYTES bytes."""
        return bytes(self.table[page].astype("<f4").tobytes())

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> Floats:
        """A sum of all pages; writing to it changes the memory."""
        return self.table[:, _PLACE[name]]

    def rows(self, pages: Ints) -> VisitHistory:
        """A copy of some rows."""
        return VisitHistory(self.table[pages])

    @property
    def intervals(self) -> Floats:
        """(pages, RING) hours of the last intervals, the newest first; 0 where there is none."""
        return self.table[:, len(_SUMS) : len(_SUMS) + RING]

    @property
    def changes(self) -> Floats:
        """(pages, RING) whether something was new after each of :attr:`intervals`."""
        return self.table[:, len(_SUMS) + RING :]

    def add(
        self,
        pages: Ints,
        *,
        hours: Floats,
        busy: Floats,
        news: Floats,
        changed: Floats,
        fading_hours: float,
    ) -> None:
        """Note a visit of each of *pages* (every page once).

        Args:
            hours, busy: since the visit before.
            news: new links found.
            changed: 1 where anything was new.
            fading_hours: after which a visit counts 1/e of a new one.
        """
        rows = self.table[pages]
        remaining = np.exp(-hours / fading_hours)[:, None]
        added = np.stack([np.ones_like(hours), changed, hours, busy, news], axis=1)
        rows[:, :5] = rows[:, :5] * remaining + added
        first = len(_SUMS)
        for start, newest in ((first, hours), (first + RING, changed)):
            # The ring moves on by one; the oldest interval falls out.
            rows[:, start + 1 : start + RING] = rows[:, start : start + RING - 1]
            rows[:, start] = newest
        self.table[pages] = rows


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
    N_("estimator of change"), "qiaocrawl.change_estimators", "qiaocrawl.revisit"
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
        widths, changed = memory.intervals, memory.changes > 0
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


# --- The week of a newsroom: how busy each of its 168 hours is, and time measured by it -----------

WEEK_HOURS = 168
# No hour is taken for emptier than this: what is published against all habit is found too.
_LEAST = 0.05
# Rows of cumulated hours are told apart by this step when all are searched at once.
_STEP = 4.0 * WEEK_HOURS


class Rhythms:
    """Busy time: hours weighted by how much a site publishes in them, 1 on average **(ours)**.

    A process whose rate follows the week is a steady one in busy time; so all that is known of
    steady Poisson processes serves for newsrooms too.

    Args:
        shapes: (sites, 168) positive, hour of the week 0 being Thursday 00:00 UTC, as the epoch
            began; each row is scaled to a mean of 1.
    """

    def __init__(self, shapes: Floats) -> None:
        raised = np.maximum(shapes, _LEAST * shapes.mean(axis=1, keepdims=True))
        self.shapes: Floats = raised / raised.mean(axis=1, keepdims=True)
        zero = np.zeros((len(shapes), 1))
        self._sums: Floats = np.hstack([zero, np.cumsum(self.shapes, axis=1)])
        # All rows in one ascending array: searchsorted() then finds hour and row at once.
        self._flat = (self._sums[:, :-1] + _STEP * np.arange(len(shapes))[:, None]).ravel()

    @classmethod
    def flat(cls, sites: int) -> Rhythms:
        """Every hour as busy as any other."""
        return cls(np.ones((sites, WEEK_HOURS)))

    def soften(self, power: float) -> Rhythms:
        """The same with every hour's share to this *power*: 0 gives flat ones, 1 these."""
        return Rhythms(self.shapes**power)

    def busy(self, site: Any, at: Any) -> Floats:
        """Busy hours from the epoch to *at*, for sites and times of one length."""
        weeks, within = np.divmod(at, WEEK_HOURS)
        # Rounding may give 168.0 for the last moment of a week.
        hour = np.minimum(within.astype(np.int64), WEEK_HOURS - 1)
        done = self._sums[site, hour] + (within - hour) * self.shapes[site, hour]
        return np.asarray(weeks * WEEK_HOURS + done)

    def after(self, site: Any, since: Any, busy_hours: Any) -> Floats:
        """When *busy_hours* have passed from *since* on."""
        weeks, within = np.divmod(self.busy(site, since) + busy_hours, WEEK_HOURS)
        row = np.asarray(site) * WEEK_HOURS
        hour = np.searchsorted(self._flat, within + _STEP * np.asarray(site), "right") - 1 - row
        hour = np.clip(hour, 0, WEEK_HOURS - 1)
        # Within the hour time runs evenly.
        rest = (within - self._sums[site, hour]) / self.shapes[site, hour]
        return np.asarray(weeks * WEEK_HOURS + hour + rest)


def learnt_shapes(counts: Floats, *, trust: float = 200.0) -> Floats:
    """How busy the hours are, from the number of articles published in them.

    A site's own counts are shrunk to the week of all sites, and that to a flat one **(ours)**:
    with n articles the site's own week counts n / (n + *trust*).

    Args:
        counts: (sites, 168) of any size, zeros where nothing is known.
        trust: articles after which a site's own week counts as much as that of all.

    Returns:
        (sites, 168) with a mean of 1 in each row.
    """
    flat = np.full(WEEK_HOURS, 1.0 / WEEK_HOURS)
    total = counts.sum(axis=0)
    common = (total + trust * flat) / (total.sum() + trust)
    own = (counts + trust * common) / (counts.sum(axis=1, keepdims=True) + trust)
    # What is published in an hour also says something about its neighbours.
    smooth = 0.25 * np.roll(own, 1, axis=1) + 0.5 * own + 0.25 * np.roll(own, -1, axis=1)
    return np.asarray(smooth * WEEK_HOURS)
