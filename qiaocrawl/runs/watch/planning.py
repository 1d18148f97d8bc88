"""When each watched page is visited next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.options.kinds import plugin_options, within
from qiaocrawl.revisit import (
    WEEK_HOURS,
    Bounds,
    Rhythms,
    Schedule,
    Tuning,
    VisitHistory,
    estimators,
    learnt_shapes,
    policies,
)
from qiaocrawl.revisit.policies import wait_factor
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.sites.sources import BOARD, SOURCE, SOURCE_WEIGHT
from qiaocrawl.storage.sites.watched import MAX_PAGE_WEIGHT, WatchedPage, with_gap

# --- The options of watching ----------------------------------------------------------------------

GROUP_WEIGHTS: Mapping[str, float] = {
    SOURCE: SOURCE_WEIGHT,
    BOARD: SOURCE_WEIGHT,
    "feed": 5.0,
    "rolling": 5.0,
    "home": 4.0,
    "channel": 3.0,
    "list": 2.0,
}
"""E1's groups with the weights of the crawl order ``weight_model``; feeds as rolling news.

A ``source`` is a feed that the topic was given: its entries are fetched wherever they lie. A
``board`` is a hot list it was given: what stands there is noted."""


def group_weights(text: str) -> Mapping[str, float]:
    """The weights of all groups, those written in *text* (``rolling=8,home=2``) as they say.

    Raises:
        ConfigError: an unknown group, or a weight outside (0, 100].
    """
    what = "QIAO_WATCH_WEIGHTS"
    given = plugin_options(what, GROUP_WEIGHTS, text)
    own = {
        group: within(what, group, float(weight), 0.01, MAX_PAGE_WEIGHT)
        for group, weight in given.items()
    }
    return {**GROUP_WEIGHTS, **own}


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The options of a round.

    Attributes:
        daily, daily_of_host: requests a day (UTC) at most, in all and of one host.
        shortest_hours, longest_hours: between two visits of a page.
        pages_per_host: watched at most.
        steps_hours: when articles are looked at again, after they came out; () = never.
        estimator, policy: names, see :mod:`qiaocrawl.revisit`.
        weights: of groups of pages, see :data:`GROUP_WEIGHTS`.
    """

    daily: int
    daily_of_host: int
    shortest_hours: float
    longest_hours: float
    pages_per_host: int
    steps_hours: tuple[float, ...]
    estimator: str
    policy: str
    weights: Mapping[str, float] = field(default_factory=lambda: GROUP_WEIGHTS)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> WatchSettings:
        """Those of *options*."""
        return cls(
            daily=options["QIAO_WATCH_DAILY_REQUESTS"],
            daily_of_host=options["QIAO_WATCH_DAILY_REQUESTS_PER_HOST"],
            shortest_hours=options["QIAO_WATCH_SHORTEST_MINUTES"] / 60,
            longest_hours=options["QIAO_WATCH_LONGEST_HOURS"],
            pages_per_host=options["QIAO_WATCH_PAGES_PER_HOST"],
            steps_hours=options["QIAO_WATCH_ARTICLE_HOURS"],
            estimator=options["QIAO_WATCH_ESTIMATOR"],
            policy=options["QIAO_WATCH_POLICY"],
            weights=group_weights(options["QIAO_WATCH_WEIGHTS"]),
        )

    def weight_of(self, kind: str, stored: float) -> float:
        """The weight of a page of a group; *stored* with it counts where an operator set it."""
        is_own = stored != GROUP_WEIGHTS.get(kind)
        return stored if is_own else self.weights.get(kind, stored)

    @property
    def longest_step_seconds(self) -> float:
        """How far off the next look at an article can be, an hour more."""
        return 3_600.0 * (max(self.steps_hours, default=0.0) + 1)

    def check(self) -> None:
        """Raise for names that do not exist and limits that contradict each other.

        Raises:
            ConfigError: the message names them.
        """
        estimators.get(self.estimator)
        policies.get(self.policy)
        if self.shortest_hours > self.longest_hours:
            raise ConfigError(
                _(
                    "QIAO_WATCH_SHORTEST_MINUTES {minutes:g} is more than QIAO_WATCH_LONGEST_HOURS "
                    "{hours:g} hours",
                    minutes=60 * self.shortest_hours,
                    hours=self.longest_hours,
                )
            )

    def most(self, limit: int, spent: int, usual: int) -> int:
        """The day's *limit*, or *spent* plus the run's *usual* limit (0 = none) if that is less."""
        # The limit counts what was spent today, the usual one this run alone.
        return min(limit, spent + usual) if usual else limit

    def tuning(self, visits_per_hour: float) -> Tuning:
        """How visits are planned when all pages together may cost so many an hour."""
        return Tuning(
            estimator=self.estimator,
            policy=self.policy,
            bounds=Bounds(visits_per_hour, self.shortest_hours, self.longest_hours),
        )


# --- When each watched page is visited next -------------------------------------------------------

Floats = NDArray[np.float64]

_HOUR = 3600.0
FIRST_WAIT_HOURS = 4.0
"""Between the first two visits of a page found during a round; then it is planned."""
# Of the daily budget, at least, for pages that lead to articles **(ours)**.
_PAGES_SHARE = 0.25
# Six doublings: 64 times the wait.
_MOST_DOUBLINGS = 6
# No wait is so many times the longest; a page due later was planned by a wrong clock.
_LONGEST_OF_ALL = 6
_GROUPS = tuple(GROUP_WEIGHTS)


@dataclass(frozen=True, slots=True)
class Seen:
    """The result of a visit. ``news`` are new links, ``at`` epoch seconds."""

    at: float
    news: int = 0
    changed: bool = False
    etag: str = ""
    modified: str = ""
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """All pages as they are to be visited, and the weeks of their hosts."""

    pages: tuple[WatchedPage, ...]
    weeks: Mapping[str, Floats]


def correct_due_time(page: WatchedPage, now: float, settings: WatchSettings) -> WatchedPage:
    """*page*, due at once where a clock that was ahead has planned it; else as it is."""
    longest = _LONGEST_OF_ALL * settings.longest_hours * _HOUR
    if (page.last_at or 0.0) <= now and page.next_at <= latest_due(now, longest):
        return page
    # A time long ago, since it is unknown when it was really visited.
    return replace(page, last_at=None if page.last_at is None else now - longest, next_at=now)


def plan_pages(
    pages: Sequence[WatchedPage],
    hours: Mapping[str, Floats],
    settings: WatchSettings,
    articles_a_day: float,
) -> Plan:
    """Share out the daily budget over *pages*.

    Args:
        hours: articles by hour of the week, by host.
        articles_a_day: requests a day that articles need.
    """
    if not pages:
        return Plan((), {})
    # However many articles there are, pages keep a quarter of the visits: they bring the news.
    a_day = max(settings.daily - articles_a_day, _PAGES_SHARE * settings.daily)
    hosts = sorted({page.host for page in pages})
    nothing = np.zeros(WEEK_HOURS)
    shapes = learnt_shapes(np.stack([hours.get(host, nothing) for host in hosts]))
    schedule = _schedule(pages, hosts, shapes, settings, a_day / 24)
    schedule.plan()
    waits = 1 / np.maximum(schedule.visits_per_hour, 1e-9)
    # Only ever longer: a host with room to spare does not get more than its pages are worth.
    waits = np.maximum(waits, waits * _crowding(schedule, settings))
    waits = np.minimum(waits, 2 * settings.longest_hours)
    planned = tuple(
        _waiting(replace(page, rate=float(rate), wait_hours=float(wait)), shapes[site], settings)
        for page, rate, wait, site in zip(pages, schedule.rates, waits, schedule.site, strict=True)
    )
    return Plan(planned, dict(zip(hosts, shapes, strict=True)))


def _schedule(
    pages: Sequence[WatchedPage],
    hosts: Sequence[str],
    shapes: Floats,
    settings: WatchSettings,
    visits_per_hour: float,
) -> Schedule:
    place = {host: number for number, host in enumerate(hosts)}
    last = [np.nan if page.last_at is None else page.last_at / _HOUR for page in pages]
    # A page an operator gave no weight counts a little.
    weights = np.array([max(settings.weight_of(page.kind, page.weight), 0.1) for page in pages])
    return Schedule(
        settings.tuning(visits_per_hour),
        VisitHistory.unpack([page.memory for page in pages]),
        Rhythms(shapes),
        site=np.array([place[page.host] for page in pages], dtype=np.int64),
        group=np.array([_group(page.kind) for page in pages], dtype=np.int64),
        weights=weights / weights.mean(),
        last=np.array(last, dtype=np.float64),
    )


def _group(kind: str) -> int:
    # Kinds of another version form a group of their own.
    return _GROUPS.index(kind) if kind in _GROUPS else len(_GROUPS)


def _crowding(schedule: Schedule, settings: WatchSettings) -> Floats:
    """How many times more than the host's own budget its pages would take."""
    of_host = np.bincount(schedule.site, schedule.visits_per_hour)
    # A host's own pages leave a quarter of its budget to articles.
    most = max((1 - _PAGES_SHARE) * settings.daily_of_host / 24, 1e-9)
    return np.asarray((of_host / most)[schedule.site])


def after_visit(
    page: WatchedPage, seen: Seen, week: Floats | None, settings: WatchSettings
) -> WatchedPage:
    """*page* with what a visit showed, and when it is due next.

    Args:
        week: of its host, from the last plan; None = every hour alike.
    """
    shape = np.ones(WEEK_HOURS) if week is None else week
    if page.last_at is not None and page.last_at > seen.at:
        # The clock ran ahead: the time since the last visit, and so the rate, is unknown.
        page = replace(page, last_at=None)
    schedule = _schedule([page], [page.host], shape[None, :], settings, 1.0)
    first = page.last_at is None
    changed = seen.changed and not first
    schedule.observe(
        np.zeros(1, dtype=np.int64),
        seen.at / _HOUR,
        np.array([float(seen.news)]),
        np.array([float(changed)]),
    )
    visited = replace(
        page,
        last_at=seen.at,
        memory=schedule.memory.pack(0),
        visits=page.visits + 1,
        changes=page.changes + changed,
        news=page.news + (0 if first else seen.news),
        changed_at=seen.at if changed or first else page.changed_at,
        gaps=_gaps(page, seen.at) if changed else page.gaps,
        failures=0,
        etag=seen.etag,
        modified=seen.modified,
        digest=seen.digest or page.digest,
    )
    return _waiting(visited, shape, settings)


def _gaps(page: WatchedPage, at: float) -> bytes:
    if page.changed_at is None or at <= page.changed_at:
        return page.gaps
    return with_gap(page, (at - page.changed_at) / _HOUR)


def after_failure(page: WatchedPage, at: float, settings: WatchSettings) -> WatchedPage:
    """*page* after a visit that brought none: each in a row doubles the wait."""
    # A page that was never seen stays so: all that its first visit shows would be news.
    seen_at = None if page.last_at is None else min(page.last_at, at)
    failed = replace(page, last_at=seen_at, failures=page.failures + 1)
    wait = max(failed.wait_hours or FIRST_WAIT_HOURS, settings.shortest_hours)
    # Bounded, so that a page that failed for a month is still looked at.
    hours = min(wait * 2.0 ** min(failed.failures, _MOST_DOUBLINGS), 4 * settings.longest_hours)
    return replace(failed, next_at=at + hours * _HOUR)


def _waiting(page: WatchedPage, shape: Floats, settings: WatchSettings) -> WatchedPage:
    """*page* with its next visit after its wait; one that fails keeps its own."""
    # A page never seen keeps the due time it was entered with.
    if page.last_at is None or page.failures:
        return page
    # What stood on a hot list for hours is told by looks that are close from the first on.
    first = 0.0 if page.kind == BOARD else FIRST_WAIT_HOURS
    wait = page.wait_hours or min(max(first, settings.shortest_hours), settings.longest_hours)
    tuning = settings.tuning(1.0)
    drawn = wait * wait_factor(settings.policy, page.key, page.visits)
    visiting = Rhythms(shape[None, :]).soften(tuning.night_power)
    due = visiting.after(
        np.zeros(1, dtype=np.int64),
        np.array([page.last_at / _HOUR]),
        np.array([max(drawn, settings.shortest_hours)]),
    )
    return replace(page, wait_hours=wait, next_at=float(due[0]) * _HOUR)
