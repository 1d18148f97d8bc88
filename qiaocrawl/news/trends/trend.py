"""Counts of a stretch of time against what is usual, with bursts and a forecast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from qiaocrawl.language import N_
from qiaocrawl.news.trends.bursts import Burst, ForecastStep, count_band, count_bursts, forecast
from qiaocrawl.news.trends.usual import (
    Base,
    CountSeries,
    HolidayCalendar,
    Stretch,
    Unit,
    count_series,
    make_base,
    seconds_of,
    step_of,
)
from qiaocrawl.storage.schema import article, verdict
from qiaocrawl.storage.selection import Selection, article_conditions, published
from qiaocrawl.storage.values import from_time
from qiaocrawl.text.zones import SHANGHAI

if TYPE_CHECKING:
    from numpy.typing import NDArray

Direction = Literal["up", "down", "steady", "unknown"]
DIRECTION_NAMES: Mapping[Direction, str] = {
    "up": N_("above the usual"),
    "down": N_("below the usual"),
    "steady": N_("as usual"),
    "unknown": N_("too few days before to know what is usual"),
}
"""In words, untranslated."""

_TURNS_AT = 2.0


@dataclass(frozen=True, slots=True)
class TrendStep:
    """A step of the stretch.

    Args:
        expected, deviation: None without a base; see :class:`qiaocrawl.news.trends.usual.Base`.
        usual: what nine in ten such steps lie between; None without a base.
        is_burst: by the automaton.
        is_whole: False of a step that is not over; its count may still grow.
        holiday: the name of the holiday it begins on, "" for none.
    """

    start: datetime
    count: int
    expected: float | None
    deviation: float | None
    is_burst: bool
    is_whole: bool
    holiday: str
    usual: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """The stretch, its bursts (places of ``steps``) and what is to be expected next.

    Args:
        direction: of all whole steps together against what is usual.
        base_days: that the base is made of; 0 for no base.
        unknown_years: of the stretch and its base, whose holidays the calendar does not know.
    """

    unit: Unit
    steps: tuple[TrendStep, ...]
    bursts: tuple[Burst, ...]
    forecast: tuple[ForecastStep, ...]
    direction: Direction
    base_days: int
    unknown_years: tuple[int, ...]


def trend_of(
    times: Iterable[datetime] | NDArray[np.float64],
    all_times: Iterable[datetime] | NDArray[np.float64],
    stretch: Stretch,
    calendar: HolidayCalendar,
) -> Trend:
    """The trend of what was told at *times*.

    Args:
        times: aware, in any order, of the base too; others count nowhere.
        all_times: of all texts that might have been such, these too: bursts are of their share.
            Where they are the same, bursts are none.

    Either may be seconds as ``seconds_of`` makes them, for whoever asks for many trends.
    """
    seconds, all_seconds = (
        moments if isinstance(moments, np.ndarray) else seconds_of(moments)
        for moments in (times, all_times)
    )
    counts = count_series(seconds, stretch.unit, stretch.since, stretch.before)
    before, totals = (_with_base(moments, stretch) for moments in (seconds, all_seconds))
    base, days = _base_of(seconds, stretch, calendar)
    first = counts.first - before.first
    bursts = [
        _move_burst(burst, first)
        for burst in count_bursts(before.counts, totals.counts)
        if burst.end > first
    ]
    steps = _steps(counts, base, bursts, stretch, calendar)
    ahead: list[ForecastStep] = []
    if base is not None and stretch.ahead:
        ahead = forecast(days, base, _whole(counts, stretch), stretch.ahead)
    years = {start.year for start in (*before.starts(), *(step.start for step in ahead))}
    return Trend(
        stretch.unit,
        tuple(steps),
        tuple(bursts),
        tuple(ahead),
        _direction(steps, base),
        base.days if base else 0,
        tuple(sorted(years - calendar.years)),
    )


def _with_base(seconds: NDArray[np.float64], stretch: Stretch) -> CountSeries:
    since = stretch.since - timedelta(days=stretch.base_days)
    return count_series(seconds, stretch.unit, since, stretch.before)


def _base_of(
    seconds: NDArray[np.float64], stretch: Stretch, calendar: HolidayCalendar
) -> tuple[Base | None, CountSeries]:
    """What is usual, by the days before the stretch, and all whole days that there are.

    Days before the very first text are none: nobody looked yet.
    """
    since = stretch.since - timedelta(days=stretch.base_days)
    days = count_series(seconds, "day", since, stretch.before)
    if not _is_whole(days, len(days) - 1, stretch.before):
        days = days.part(0, len(days) - 1)
    looked = int(np.flatnonzero(days.counts)[0]) if days.counts.any() else len(days)
    end = step_of(stretch.since, "day") - days.first
    if stretch.unit == "hour":
        hours = count_series(seconds, "hour", days.start(looked), days.start(max(end, looked)))
        return make_base(hours, calendar), days.part(looked, len(days))
    judged = 7 if stretch.unit == "week" else 1
    base = make_base(days.part(looked, max(end, looked)), calendar, judged)
    return base, days.part(looked, len(days))


def _steps(
    counts: CountSeries,
    base: Base | None,
    bursts: list[Burst],
    stretch: Stretch,
    calendar: HolidayCalendar,
) -> list[TrendStep]:
    steps = []
    for at, start in enumerate(counts.starts()):
        count = int(counts.counts[at])
        expected = base.expected_count(counts, at) if base else None
        deviation = usual = None
        if base is not None and expected is not None:
            deviation = base.deviation(count, expected)
            usual = count_band(expected, base.dispersion + base.day_doubt(start.date()))
        steps.append(
            TrendStep(
                start,
                count,
                expected,
                deviation,
                any(burst.begin <= at < burst.end for burst in bursts),
                _is_whole(counts, at, stretch.before),
                calendar.name_of(start.date()),
                usual,
            )
        )
    return steps


def _is_whole(series: CountSeries, at: int, before: datetime) -> bool:
    return at >= 0 and series.start(at + 1) <= before


def _whole(series: CountSeries, stretch: Stretch) -> CountSeries:
    """Without a last step that is not over: the forecast is of that one first."""
    return series.part(0, len(series) - (not _is_whole(series, len(series) - 1, stretch.before)))


def _move_burst(burst: Burst, first: int) -> Burst:
    return Burst(max(burst.begin - first, 0), burst.end - first, burst.weight)


def _direction(steps: list[TrendStep], base: Base | None) -> Direction:
    whole = [step for step in steps if step.is_whole]
    if base is None or not whole:
        return "unknown"
    expected = np.array([step.expected for step in whole], np.float64)
    variance = float((expected + base.dispersion * expected**2).sum())
    surplus = sum(step.count for step in whole) - float(expected.sum())
    deviations = surplus / math.sqrt(max(variance, 1.0))
    return "up" if deviations >= _TURNS_AT else "down" if deviations <= -_TURNS_AT else "steady"


# --- When articles came out, for counts over time -------------------------------------------------


class ArticleMoment(NamedTuple):
    """When an article came out, or was fetched where that is unknown.

    ``tells_hour``: it names an hour, not only a day (midnight in China).
    """

    at: datetime
    tells_hour: bool


def article_moments(
    c: Connection, selection: Selection, *, reprints_once: bool = False
) -> list[ArticleMoment]:
    """Of all articles that *selection* means, in no order.

    Args:
        reprints_once: of a group of reprints the earliest that *selection* means only.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    group = func.coalesce(verdict.c.group_id, article.c.id) if reprints_once else article.c.id
    statement = select(published, article.c.published_at.is_not(None), group).where(
        *article_conditions(c, selection)
    )
    if reprints_once:
        statement = statement.outerjoin(verdict, verdict.c.article_id == article.c.id)
        statement = statement.order_by(published, article.c.id)
    moments, seen = [], set()
    for stored, is_dated, number in c.execute(statement):
        if number in seen:
            continue
        seen.add(number)
        at = from_time(stored)
        assert at is not None, "every article was fetched some time"
        local = at.astimezone(SHANGHAI)
        is_midnight = (local.hour, local.minute, local.second) == (0, 0, 0)
        moments.append(ArticleMoment(at, bool(is_dated) and not is_midnight))
    return moments


def trend_of_selection(
    c: Connection,
    selection: Selection,
    stretch: Stretch,
    calendar: HolidayCalendar,
    *,
    reprints_once: bool = False,
) -> tuple[Trend | None, int]:
    """The trend of the articles that *selection* means, whatever times it names itself.

    Returns:
        It, None where there is no such article even before the stretch; and how many articles
        were left out, which in steps of hours are those that name a day only.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    since = stretch.since - timedelta(days=stretch.base_days + 7)
    chosen = replace(selection, since=since, before=stretch.before)
    # With reprints: the earliest of all of a group may lie in another step than that chosen.
    every = Selection(since=since, before=stretch.before)
    if stretch.unit != "hour" and not reprints_once:
        hours = article_hours(c, chosen)
        if not len(hours):
            return None, 0
        return trend_of(hours, article_hours(c, every), stretch, calendar), 0
    moments = article_moments(c, chosen, reprints_once=reprints_once)
    if not moments:
        return None, 0
    counted, everything = moments, article_moments(c, every)
    if stretch.unit == "hour":
        counted, everything = (
            [moment for moment in own if moment.tells_hour] for own in (moments, everything)
        )
    trend = trend_of(_times(counted), _times(everything), stretch, calendar)
    return trend, len(moments) - len(counted)


def article_hours(c: Connection, selection: Selection) -> NDArray[np.float64]:
    """When the articles that *selection* means came out, by the hour, as ``seconds_of`` has it.

    Counted by the database: of a million articles there are some thousand hours.

    Raises:
        StorageError: the selection's topic was never imported.
    """
    # Both databases give hours of UTC as the beginning of the stored text.
    hour = func.substr(published, 1, 13)
    statement = select(hour, func.count()).where(*article_conditions(c, selection))
    found = c.execute(statement.group_by(hour)).all()
    starts = seconds_of(
        datetime.strptime(begin, "%Y-%m-%d %H").replace(tzinfo=UTC) for begin, _count in found
    )
    return np.repeat(starts, [count for _begin, count in found])


def _times(moments: Iterable[ArticleMoment]) -> list[datetime]:
    return [moment.at for moment in moments]


def begin_of(trend: Trend, start: datetime) -> str:
    """When a step begins, as a table has it."""
    return f"{start:%Y-%m-%d %H:%M}" if trend.unit == "hour" else f"{start:%Y-%m-%d}"
