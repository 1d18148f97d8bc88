"""What is usual: a base that knows weekdays, hours and public holidays **(ours)**.

expected = level · factor of the kind of day · share of the hour

The level is the mean of the base with a half-life of four weeks. Factors are drawn towards those
of all days like them while few are known: a weekday towards working days, a holiday towards days
off, both towards 1. Counts far above what is expected are cut before they teach anything, so that
a burst of last week does not hide that of today.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import parse_toml
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from numpy.typing import NDArray

# --- Which days people work in China: weekdays, weekends, public holidays and days worked
# instead

WORKED_WEEKEND, HOLIDAY = 7, 8
"""Kinds of day behind the seven weekdays, of which Monday is 0."""
DAY_KINDS = 9
_SATURDAY = 5
_LONGEST_HOLIDAY_DAYS = 31
_DAY = timedelta(days=1)
_KEYS = {"off", "work"}


@dataclass(frozen=True, slots=True)
class HolidayCalendar:
    """Days off by their name, and weekend days that are worked.

    Args:
        years: those it knows; in others Saturdays and Sundays are off and no other day.
    """

    years: frozenset[int] = frozenset()
    off: Mapping[date, str] = field(default_factory=dict)
    worked: frozenset[date] = frozenset()

    def kind_of(self, day: date) -> int:
        """The weekday from 0, :data:`WORKED_WEEKEND` or :data:`HOLIDAY`."""
        if day in self.off:
            return HOLIDAY
        return WORKED_WEEKEND if day in self.worked else day.weekday()

    def name_of(self, day: date) -> str:
        """What the holiday is called; "" for no holiday."""
        return self.off.get(day, "")


def is_off(kind: int) -> bool:
    """Whether people do not work on a day of this kind."""
    return kind == HOLIDAY or _SATURDAY <= kind < WORKED_WEEKEND


@cache
def default_calendar() -> HolidayCalendar:
    """The years that come along."""
    return read_calendar()


def calendar_with(file: str) -> HolidayCalendar:
    """The years that come along, and those of the file of QIAO_HOLIDAYS; "" for none.

    Raises:
        ConfigError: as :func:`read_calendar`.
    """
    return read_calendar(Path(file)) if file else default_calendar()


def read_calendar(file: Traversable | None = None) -> HolidayCalendar:
    """The years that come along, and those of *file*, which take the place of ours.

    Raises:
        ConfigError: the file cannot be read, or with all that is wrong in it.
    """
    shipped = resources.files(__package__).joinpath("data", "holidays.toml")
    years = _read_years(shipped) | (_read_years(file) if file is not None else {})
    off = {
        day: name
        for year in years.values()
        for name, (first, last) in year.get("off", {}).items()
        for day in _days(first, last)
    }
    worked = (day for year in years.values() for day in year.get("work", ()))
    return HolidayCalendar(frozenset(map(int, years)), off, frozenset(worked))


def _read_years(file: Traversable) -> dict[str, Any]:
    try:
        years = parse_toml(file.read_bytes())
    except (OSError, ValueError) as error:
        reason = _("cannot be read as TOML in UTF-8: {error}", error=error)
        raise ConfigError(f"{file}: {reason}") from None
    faults = [f"[{year}]: {fault}" for year, own in years.items() for fault in _faults(year, own)]
    if faults:
        raise ConfigError("\n  ".join([f"{file}:", *faults]))
    return years


def _faults(year: str, table: Any) -> Iterator[str]:
    if not year.isdecimal() or not isinstance(table, dict) or not set(table) <= _KEYS:
        yield _("a year with off and work is needed")
        return
    off, worked = table.get("off", {}), table.get("work", [])
    if not isinstance(off, dict) or not isinstance(worked, list):
        yield _("a year with off and work is needed")
        return
    for name, days in off.items():
        if not (
            isinstance(days, list)
            and len(days) == 2
            and all(map(_is_day, days))
            and timedelta() <= days[1] - days[0] < _LONGEST_HOLIDAY_DAYS * _DAY
        ):
            yield _("{name}: first and last day are needed, as [2026-10-01, 2026-10-07]", name=name)
    for day in worked:
        if not _is_day(day) or day.weekday() < _SATURDAY:
            yield _("work: {day} is no Saturday or Sunday", day=day)


def _is_day(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + number * _DAY


# --- What stretch of time is looked at, in which steps --------------------------------------------

Unit = Literal["hour", "day", "week"]

SECONDS: Mapping[Unit, int] = {"hour": 3_600, "day": 86_400, "week": 604_800}
"""How long a step is."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is looked at: aware moments from *since* up to *before*, against the days before it.

    Args:
        unit: of a step.
        base_days: before the day of *since* that tell what is usual.
        ahead: steps to forecast.
    """

    since: datetime
    before: datetime
    unit: Unit = "day"
    base_days: int = 56
    ahead: int = 0


# --- How many there were in each hour, day or week of China's time --------------------------------

_CHINA_SECONDS = 8 * 3_600
_DAY_SECONDS = 86_400
# 1970 began on a Thursday; weeks begin on Mondays.
_FIRST_MONDAY_SECONDS = 4 * _DAY_SECONDS


@dataclass(frozen=True, slots=True)
class CountSeries:
    """Counts of steps that follow each other.

    Args:
        first: number of the first step, counted from 1970 in China's time.
        counts: one a step, int64.
    """

    unit: Unit
    first: int
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def start(self, at: int) -> datetime:
        """When the step at place *at* begins, in China's time; one behind the last is allowed."""
        seconds = (self.first + at) * SECONDS[self.unit] + _offset(self.unit) - _CHINA_SECONDS
        return datetime.fromtimestamp(seconds, UTC).astimezone(SHANGHAI)

    def starts(self) -> list[datetime]:
        """When each step begins."""
        return [self.start(at) for at in range(len(self))]

    def part(self, begin: int, end: int) -> CountSeries:
        """The steps from place *begin* up to *end*."""
        return CountSeries(self.unit, self.first + begin, self.counts[begin:end])


def step_of(when: datetime, unit: Unit) -> int:
    """The number of the step in which the aware moment *when* lies."""
    local = when.timestamp() + _CHINA_SECONDS - _offset(unit)
    return int(local // SECONDS[unit])


def seconds_of(times: Iterable[datetime]) -> NDArray[np.float64]:
    """Aware moments as seconds since 1970, which :func:`count_series` counts fast."""
    return np.fromiter((when.timestamp() for when in times), np.float64)


def count_series(
    seconds: NDArray[np.float64], unit: Unit, since: datetime, before: datetime
) -> CountSeries:
    """Counts of moments from the step of *since* to the last that begins before *before*.

    Moments outside of these steps count nowhere.

    Args:
        seconds: as :func:`seconds_of` makes them.
    """
    first = step_of(since, unit)
    end = step_of(before, unit)
    # A moment that begins a step belongs to it, as an end it does not.
    is_whole = CountSeries(unit, end, np.zeros(0, np.int64)).start(0) == before
    size = max(end - first + (not is_whole), 0)
    local = seconds + _CHINA_SECONDS - _offset(unit)
    places = (local // SECONDS[unit]).astype(np.int64) - first
    inside = places[(places >= 0) & (places < size)]
    return CountSeries(unit, first, np.bincount(inside, minlength=size).astype(np.int64))


def _offset(unit: Unit) -> int:
    return _FIRST_MONDAY_SECONDS if unit == "week" else 0


# --- What is usual: a base that knows weekdays, hours and public holidays **(ours)** --------------

LEAST_DAYS = 7
"""With fewer days there is no base."""
_HALF_LIFE_DAYS = 28.0
# Days of weight 1 that a factor's prior counts as, and texts that of an hour.
_PRIOR_DAYS, _PRIOR_TEXTS = 2.0, 24.0
# Holidays differ from days off by a third or so, until some were seen.
_HOLIDAY_DOUBT = 0.1
_CUT_DEVIATIONS = 3.0
_ROUNDS = 5
_HOURS = 24
_LEAST_FACTOR = 0.05
# 1.4826 · median of |x - median| is the standard deviation of what is normal.
_MAD_TO_DEVIATION = 1.4826


@dataclass(frozen=True, slots=True)
class Base:
    """What is usual.

    Args:
        level: texts of a day of factor 1.
        day_factors: of the seven weekdays, worked weekend days and holidays.
        day_weights: how many days of each kind they were learnt from, recent ones for more.
        hour_shares: 2 x 24, of a working day and of a day off; each sums to 1.
        dispersion: what the variance has above Poisson's, as a share of the squared mean.
        centre, scale: of the base's own residuals, see :meth:`deviation`.
        days: that it was made of.
    """

    calendar: HolidayCalendar
    level: float
    day_factors: NDArray[np.float64]
    day_weights: NDArray[np.float64]
    hour_shares: NDArray[np.float64]
    dispersion: float
    centre: float
    scale: float
    days: int

    def day_factor(self, day: date) -> float:
        """How many times the level a day has."""
        return float(self.day_factors[self.calendar.kind_of(day)])

    def day_doubt(self, day: date) -> float:
        """How unsure the factor of a holiday is, as a share of its square; 0 for a weekday."""
        kind = self.calendar.kind_of(day)
        if kind < WORKED_WEEKEND:
            return 0.0
        return _HOLIDAY_DOUBT * _PRIOR_DAYS / (float(self.day_weights[kind]) + _PRIOR_DAYS)

    def expected_count(self, series: CountSeries, at: int, level: float | None = None) -> float:
        """The usual count of the step at place *at*, which may lie behind the last."""
        start = series.start(at)
        level = self.level if level is None else level
        if series.unit == "hour":
            shares = self.hour_shares[int(is_off(self.calendar.kind_of(start.date())))]
            return level * self.day_factor(start.date()) * float(shares[start.hour])
        days = 7 if series.unit == "week" else 1
        return level * sum(
            self.day_factor(start.date() + timedelta(number)) for number in range(days)
        )

    def deviation(self, count: float, expected: float) -> float:
        """The seasonal robust z of a count: how unusual it is, in standard deviations.

        Counts are made alike in variance by 2·√(x + 3/8) (Anscombe 1948). Median and MAD of the
        base's residuals are taken off, but no less than the deviation 1 that pure chance has.
        """
        return float((_residual(count, expected) - self.centre) / self.scale)


def make_base(series: CountSeries, calendar: HolidayCalendar, days_judged: int = 1) -> Base | None:
    """The base of a *series* of whole days or their hours; None for less than a week.

    Args:
        days_judged: days of what will be judged by it, 7 for weeks.

    Raises:
        ValueError: the series is one of weeks, or its hours begin or end within a day.
    """
    hours = _HOURS if series.unit == "hour" else 1
    if series.unit == "week" or (hours == _HOURS and (series.first % hours or len(series) % hours)):
        raise ValueError("a base is made of whole days")
    counts = series.counts.reshape(-1, hours).astype(np.float64)
    if len(counts) < LEAST_DAYS:
        return None
    kinds = np.array([calendar.kind_of(start.date()) for start in series.starts()[::hours]])
    weights = 0.5 ** (np.arange(len(counts))[::-1] / _HALF_LIFE_DAYS)
    level, factors, shares = _fit(counts, kinds, weights)
    expected = _expected_counts(level, factors, shares, kinds)
    residuals = _residual(_running(counts, days_judged), _running(expected, days_judged))
    centre = float(np.median(residuals))
    scale = max(1.0, _MAD_TO_DEVIATION * float(np.median(np.abs(residuals - centre))))
    by_hour = shares if hours == _HOURS else np.full((2, _HOURS), 1.0 / _HOURS)
    dispersion = dispersion_of(counts.sum(axis=1), expected.sum(axis=1))
    seen = np.bincount(kinds, weights, minlength=DAY_KINDS).astype(np.float64)
    return Base(calendar, level, factors, seen, by_hour, dispersion, centre, scale, len(counts))


def dispersion_of(counts: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """φ of variance = μ + φ·μ², by moments, of counts cut as those that teach a base."""
    squares, dispersion = float((expected**2).sum()), 0.0
    if not squares:
        return dispersion
    # What is far above depends on the dispersion itself, so it is found in a few steps.
    for _round in range(_ROUNDS):
        errors = _cut(counts, expected, dispersion) - expected
        dispersion = max(0.0, float((errors**2 - expected).sum()) / squares)
    return dispersion


def _fit(
    counts: NDArray[np.float64], kinds: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    level, factors = float(np.average(counts.sum(axis=1), weights=weights)), np.ones(DAY_KINDS)
    shares = np.full((2, counts.shape[1]), 1.0 / counts.shape[1])
    for _round in range(_ROUNDS):
        expected = _expected_counts(level, factors, shares, kinds)
        usual = _cut(counts, expected, dispersion_of(counts.sum(axis=1), expected.sum(axis=1)))
        days = usual.sum(axis=1)
        level = float((days * weights).sum() / (factors[kinds] * weights).sum())
        factors = _day_factors(days, kinds, weights, level)
        shares = _hour_shares(usual, kinds)
    return level, factors, shares


def _expected_counts(
    level: float,
    factors: NDArray[np.float64],
    shares: NDArray[np.float64],
    kinds: NDArray[np.int64],
) -> NDArray[np.float64]:
    off = np.array([is_off(kind) for kind in range(DAY_KINDS)]).astype(int)[kinds]
    return np.asarray(level * factors[kinds][:, None] * shares[off], np.float64)


def _running(counts: NDArray[np.float64], days: int) -> NDArray[np.float64]:
    """Sums of so many days in a row."""
    sums = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    return np.asarray(sums[days:] - sums[:-days])


def _cut(
    counts: NDArray[np.float64], expected: NDArray[np.float64], dispersion: float
) -> NDArray[np.float64]:
    # One text more than nothing is no burst, so no count below 1 is cut to less.
    most = expected + _CUT_DEVIATIONS * np.sqrt(expected + dispersion * expected**2)
    return np.minimum(counts, np.maximum(most, 1.0))


def _day_factors(
    days: NDArray[np.float64], kinds: NDArray[np.int64], weights: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    def factor(of_kinds: Sequence[int], prior: float) -> float:
        own = np.isin(kinds, of_kinds)
        usual = level * (float(weights[own].sum()) + _PRIOR_DAYS)
        texts = float((days[own] * weights[own]).sum())
        return (texts + prior * level * _PRIOR_DAYS) / usual if usual else 1.0

    work = [kind for kind in range(HOLIDAY) if not is_off(kind)]
    groups = factor(work, 1.0), factor([kind for kind in range(DAY_KINDS) if is_off(kind)], 1.0)
    factors = [factor([kind], groups[is_off(kind)]) for kind in range(DAY_KINDS)]
    return np.maximum(factors, _LEAST_FACTOR)


def _hour_shares(counts: NDArray[np.float64], kinds: NDArray[np.int64]) -> NDArray[np.float64]:
    off = np.array([is_off(int(kind)) for kind in kinds])
    even = np.full(counts.shape[1], 1.0 / counts.shape[1])
    all_days = counts.sum(axis=0) + _PRIOR_TEXTS * even
    all_days /= all_days.sum()
    rows = [counts[off == side].sum(axis=0) + _PRIOR_TEXTS * all_days for side in (False, True)]
    return np.array([row / row.sum() for row in rows])


def _residual(
    counts: NDArray[np.float64] | float, expected: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    return np.asarray(2 * np.sqrt(np.add(counts, 0.375)) - 2 * np.sqrt(np.add(expected, 0.375)))
