"""Schedules the visits of all watched pages from what earlier visits brought."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.revisit.estimators import FIRST_INTERVAL_HOURS, Rhythms, VisitHistory, estimators
from qiaocrawl.revisit.policies import Bounds, Rates, policies, wait_factor

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# One event a day.
_UNKNOWN_RATE = 1 / 24
_COMMON_HOURS = 240.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a schedule judges and plans; the defaults were chosen by ``benchmarks/watch.py``.

    Attributes:
        estimator, policy: by name.
        change_estimator: for policies that look at changes of the pages themselves.
        fading_hours: after which a visit counts 1/e of a new one.
        night_power: how far visits follow the site's week: 0 not at all, 1 in proportion.
        bounds: budget and limits.
    """

    estimator: str = "rhythm"
    policy: str = "both"
    change_estimator: str = "cho"
    fading_hours: float = 336.0
    night_power: float = 0.5
    bounds: Bounds = field(default_factory=lambda: Bounds(1.0))


class Schedule:
    """Pages with their visits so far, and when each is due.

    Args:
        memory: of n pages.
        site: (n,) which row of *rhythms* is theirs.
        group: (n,) numbers of the groups pages are alike in; of little known ones the rate is
            taken from their group.
        weights: (n,) how much what they bring counts.
        last: (n,) hours since the epoch of the last visit; nan where there was none.

    Raises:
        ConfigError: no such estimator or policy.
    """

    def __init__(
        self,
        tuning: Tuning,
        memory: VisitHistory,
        rhythms: Rhythms,
        *,
        site: Ints,
        group: Ints,
        weights: Floats,
        last: Floats,
    ) -> None:
        self.tuning, self.memory = tuning, memory
        self._estimate = estimators.get(tuning.estimator)
        self._changes = estimators.get(tuning.change_estimator)
        self._allot = policies.get(tuning.policy)
        self.site, self._group, self._weights = site, group, weights
        self.last = last
        self.use_rhythms(rhythms)
        pages = len(memory)
        self.rates: Floats = np.full(pages, _UNKNOWN_RATE)
        self.visits_per_hour: Floats = np.zeros(pages)
        self.due: Floats = np.zeros(pages)
        self._observed: Ints = np.zeros(pages, dtype=np.int64)

    def use_rhythms(self, rhythms: Rhythms) -> None:
        """Measure busy time by *rhythms* from now on."""
        self._rhythms = rhythms
        in_busy_time = self._estimate.in_busy_time
        # An estimator in plain hours knows no week, so visits do not follow one.
        self._visiting = rhythms.soften(self.tuning.night_power if in_busy_time else 0.0)

    # --- what was seen -----------------------------------------------------------------------

    def observe(self, pages: Ints, now: float, news: Floats, changed: Floats) -> None:
        """Note that *pages* (each once) were seen at *now*, with so many new links.

        A first visit tells nothing of a rate: all its links are new.

        Args:
            changed: 1 where the page was another than before, new links or not.
        """
        first = np.isnan(self.last[pages])
        again = pages[~first]
        if len(again):
            since, site = self.last[again], self.site[again]
            until = np.full(len(again), now)
            busy = self._rhythms.busy(site, until) - self._rhythms.busy(site, since)
            self.memory.add(
                # Least lengths: two visits in one second would divide by 0.
                again,
                hours=np.maximum(until - since, 1e-3),
                busy=np.maximum(busy, 1e-4),
                news=news[~first],
                changed=changed[~first],
                fading_hours=self.tuning.fading_hours,
            )
            self._halve(again, changed[~first] > 0)
        self.last[pages] = now
        self._observed[pages] += 1
        self._set_due(pages)

    def _halve(self, pages: Ints, is_changed: NDArray[np.bool_]) -> None:
        interval = self.memory.column("interval")
        was = np.where(interval[pages] > 0, interval[pages], FIRST_INTERVAL_HOURS)
        bounds = self.tuning.bounds
        interval[pages] = np.clip(
            was * np.where(is_changed, 0.5, 1.5), bounds.shortest_hours, bounds.longest_hours
        )

    # --- what follows ------------------------------------------------------------------------

    def plan(self) -> None:
        """Estimate all rates again and share out the budget; sets rates, visits and due times."""
        usual = self._usual()
        self.rates = self._estimate(self.memory, usual)
        rates = Rates(self.rates, self._changes(self.memory, usual))
        self.visits_per_hour = self._allot(rates, self._weights, self.tuning.bounds)
        self._set_due(np.arange(len(self.memory)))

    def _usual(self) -> Floats:
        """The mean rate of each page's group, shrunk to that of all."""
        hours = self.memory.column("busy" if self._estimate.in_busy_time else "hours")
        news = self.memory.column("news")
        # One event a day is the prior of all pages together.
        common = (news.sum() + 1) / (hours.sum() + 1 / _UNKNOWN_RATE)
        groups = int(self._group.max(initial=0)) + 1
        of_group = np.bincount(self._group, news, groups) + common * _COMMON_HOURS
        rates = of_group / (np.bincount(self._group, hours, groups) + _COMMON_HOURS)
        return np.asarray(rates[self._group])

    def _set_due(self, pages: Ints) -> None:
        visits = self.visits_per_hour[pages]
        longest = 2 * self.tuning.bounds.longest_hours
        wait = np.minimum(1 / np.maximum(visits, 1e-9), longest) * self._factors(pages)
        since = self.last[pages]
        seen = ~np.isnan(since)
        due = self.due[pages]
        due[seen] = self._visiting.after(self.site[pages[seen]], since[seen], wait[seen])
        self.due[pages] = due

    def _factors(self, pages: Ints) -> Floats:
        counts = zip(pages.tolist(), self._observed[pages].tolist(), strict=True)
        policy = self.tuning.policy
        return np.array([wait_factor(policy, n.to_bytes(8, "big"), seen) for n, seen in counts])
