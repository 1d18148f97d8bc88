"""A year of visits by one policy in a simulated world; the schedule is the crawler's own."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.watching.world import GROUP_WEIGHTS, START, World
from qiaocrawl.revisit import (
    WEEK_HOURS,
    Rhythms,
    Schedule,
    Tuning,
    VisitHistory,
    learnt_shapes,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TICK_HOURS = 0.25
_DAY_TICKS = 96
_PLAN_TICKS = 24
_WEEK_TICKS = 7 * _DAY_TICKS
WARM_UP_HOURS = 28 * 24


@dataclass(frozen=True, slots=True)
class Contender:
    """A way to plan visits; *uses_weights*: of groups."""

    name: str
    tuning: Tuning
    uses_weights: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a year came to, its first four weeks apart.

    Attributes:
        mean_age_hours: of pages: time since the first change not seen yet, 0 without one.
        within_hour: share of articles found at most an hour after they came out.
        within_day: the same for a day.
        median_delay_hours: of the articles found.
        visits_a_day: really made.
        useful: share of visits that found something new.
    """

    contender: str
    budget_a_day: float
    seed: int
    mean_age_hours: float
    within_hour: float
    within_day: float
    median_delay_hours: float
    visits_a_day: float
    useful: float
    seconds: float


class _Year:
    """The state of one run."""

    def __init__(self, world: World, contender: Contender, a_day: float) -> None:
        self.world, self.a_day = world, a_day
        bounds = replace(contender.tuning.bounds, visits_per_hour=a_day / 24)
        weights = (
            np.array(GROUP_WEIGHTS)[world.group]
            if contender.uses_weights
            else (np.ones(world.pages))
        )
        self.counts = np.zeros((int(world.site.max()) + 1, WEEK_HOURS))
        self.schedule = Schedule(
            replace(contender.tuning, bounds=bounds), VisitHistory.empty(world.pages),
            Rhythms.flat(len(self.counts)), site=world.site, group=world.group,
            weights=weights, last=np.full(world.pages, np.nan),
        )  # fmt: skip
        rng = np.random.default_rng(0)
        self.schedule.due = START + rng.random(world.pages) * world.pages / a_day * 24
        self.next_entry = world.upto(np.arange(world.pages), -1.0)
        self.found = np.full(len(world.published), np.inf)
        self.area = 0.0
        self.visits = self.useful = self.spent = 0

    def visit_due(self, hours: float) -> None:
        """Visit what is due at *hours* since START, the latest first, within the day's budget."""
        now = START + hours
        due = np.flatnonzero(self.schedule.due <= now)
        room = int(self.a_day) - self.spent
        if len(due) > room:
            late = (now - self.schedule.due[due]) * self.schedule.visits_per_hour[due]
            due = due[np.argsort(-late)][: max(room, 0)]
        if len(due):
            self.spent += len(due)
            self._visit(due, hours)

    def _visit(self, pages: Ints, hours: float) -> None:
        world = self.world
        first, last = self.next_entry[pages], world.upto(pages, hours)
        has_new = last > first
        counted = hours >= WARM_UP_HOURS
        if counted:
            appeared = world.entry_time(first[has_new], pages[has_new])
            self.area += float(((hours - appeared) ** 2).sum()) / 2
            self.visits += len(pages)
            self.useful += int(has_new.sum())
        shown = np.minimum(last - first, world.shown[pages])
        owner = np.repeat(np.arange(len(pages)), shown)
        before = np.cumsum(shown) - shown
        entries = np.arange(len(owner)) + np.repeat(last - shown - before, shown)
        articles = world.articles[entries]
        is_new = np.isinf(self.found[articles])
        self.found[articles[is_new]] = hours
        self._note_hours(np.unique(articles[is_new]))
        news = np.bincount(owner, is_new, len(pages)).astype(np.float64)
        self.next_entry[pages] = last
        self.schedule.observe(pages, START + hours, news, has_new.astype(float))

    def _note_hours(self, articles: Ints) -> None:
        hour = (START + self.world.published[articles]).astype(np.int64) % WEEK_HOURS
        np.add.at(self.counts, (self.world.article_site[articles], hour), 1.0)

    def age_left(self, hours: float) -> float:
        """The area under the ages that nobody ended by a visit."""
        pages = np.arange(self.world.pages)
        has_new = self.world.upto(pages, hours) > self.next_entry
        first = self.world.entry_time(self.next_entry[has_new], pages[has_new])
        return float(((hours - np.maximum(first, WARM_UP_HOURS)) ** 2).sum()) / 2


def run_year(world: World, contender: Contender, a_day: float, seed: int, hours: int) -> Result:
    """Visit the pages of *world* for *hours*, at most *a_day* visits a day."""
    began = time.perf_counter()
    year = _Year(world, contender, a_day)
    for tick in range(round(hours / TICK_HOURS)):
        if tick % _DAY_TICKS == 0:
            year.spent = 0
        if tick % _WEEK_TICKS == 0 and tick:
            year.schedule.use_rhythms(Rhythms(learnt_shapes(year.counts)))
        if tick % _PLAN_TICKS == 0:
            year.schedule.plan()
        year.visit_due(tick * TICK_HOURS)
    return _result(year, contender, seed, hours, time.perf_counter() - began)


def _result(year: _Year, contender: Contender, seed: int, hours: int, seconds: float) -> Result:
    world = year.world
    listed = np.zeros(len(world.published), dtype=bool)
    listed[world.articles] = True
    # What came out on the last day could not have been found a day later.
    judged = listed & (world.published >= WARM_UP_HOURS) & (world.published < hours - 24)
    delay = year.found[judged] - world.published[judged]
    days = (hours - WARM_UP_HOURS) / 24
    return Result(
        contender.name, year.a_day, seed,
        mean_age_hours=(year.area + year.age_left(hours)) / world.pages / (24 * days),
        within_hour=float((delay <= 1).mean()), within_day=float((delay <= 24).mean()),
        median_delay_hours=float(np.median(delay[np.isfinite(delay)])),
        visits_a_day=year.visits / days, useful=year.useful / max(year.visits, 1),
        seconds=seconds,
    )  # fmt: skip
