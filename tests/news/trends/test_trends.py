"""Trends: the calendar, counts, Kleinberg's automaton, what is usual, forecasts."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.news.trends.bursts import count_bursts, forecast, gap_bursts
from qiaocrawl.news.trends.trend import trend_of
from qiaocrawl.news.trends.usual import (
    HOLIDAY,
    WORKED_WEEKEND,
    CountSeries,
    HolidayCalendar,
    Stretch,
    count_series,
    default_calendar,
    make_base,
    read_calendar,
    seconds_of,
    step_of,
)
from qiaocrawl.text.zones import SHANGHAI

# A Monday.
MONDAY = datetime(2026, 3, 2, tzinfo=SHANGHAI)
DAY = timedelta(days=1)
# Monday to Sunday, and how many texts of a hundred a day has where it is a holiday.
WEEK, FEAST = (1.2, 1.2, 1.2, 1.2, 1.2, 0.5, 0.5), 0.3


def daily(first: datetime, counts: list[int]) -> CountSeries:
    return CountSeries("day", step_of(first, "day"), np.array(counts, np.int64))


def usual(first: datetime, days: int, level: float, seed: int = 1) -> list[int]:
    """Counts by chance around a week that calms down on weekends and holidays."""
    calendar, random = default_calendar(), np.random.default_rng(seed)
    factors = []
    for number in range(days):
        kind = calendar.kind_of((first + number * DAY).date())
        factors.append(FEAST if kind == HOLIDAY else 1.2 if kind == WORKED_WEEKEND else WEEK[kind])
    return [int(count) for count in random.poisson(level * np.array(factors))]


def test_the_calendar_knows_holidays_and_days_worked_instead() -> None:
    calendar = default_calendar()
    assert calendar.kind_of(date(2026, 2, 16)) == HOLIDAY
    assert calendar.name_of(date(2026, 2, 16)) == "春节"
    assert calendar.kind_of(date(2026, 2, 14)) == WORKED_WEEKEND
    assert calendar.kind_of(date(2023, 12, 30)) == HOLIDAY
    assert calendar.kind_of(date(2026, 3, 2)) == 0
    # Every year that comes along has its 11 or 13 days off in law, and days worked for some.
    for year in calendar.years:
        assert 20 <= sum(day.year == year for day in calendar.off) <= 40
        assert all(day.weekday() >= 5 and day not in calendar.off for day in calendar.worked)


def test_an_operator_s_year_takes_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "holidays.toml"
    file.write_text('[2026]\n[2026.off]\n"馆庆" = [2026-03-02, 2026-03-03]\n', "utf-8")
    calendar = read_calendar(file)
    assert calendar.name_of(date(2026, 3, 3)) == "馆庆"
    assert calendar.name_of(date(2026, 2, 16)) == ""
    assert calendar.name_of(date(2025, 10, 1)) == "国庆节、中秋节"
    file.write_text(
        '[2026]\nwork = [2026-03-02]\n[2026.off]\n"倒" = [2026-03-03, 2026-03-02]\n[soon]\n',
        "utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        read_calendar(file)
    for fault in ("2026-03-02", "倒", "[soon]"):
        assert fault in str(caught.value)


def test_steps_are_those_of_china() -> None:
    moments = seconds_of(
        [datetime(2026, 3, 1, 15, 59, tzinfo=UTC), datetime(2026, 3, 1, 16, tzinfo=UTC)]
    )
    days = count_series(moments, "day", MONDAY - DAY, MONDAY + DAY)
    assert (days.starts(), days.counts.tolist()) == ([MONDAY - DAY, MONDAY], [1, 1])
    weeks = count_series(moments, "week", MONDAY - DAY, MONDAY + DAY)
    assert (weeks.starts(), weeks.counts.tolist()) == ([MONDAY - 7 * DAY, MONDAY], [1, 1])
    hours = count_series(moments, "hour", MONDAY, MONDAY + timedelta(minutes=61))
    assert hours.counts.tolist() == [1, 0]
    assert len(count_series(moments, "day", MONDAY, MONDAY)) == 0


def least_cost(costs: np.ndarray, up_cost: float) -> float:
    """By trying every sequence of states."""
    return min(
        sum(float(costs[state, at]) for at, state in enumerate(states))
        + up_cost * sum(later > now for now, later in zip((0, *states), states, strict=False))
        for states in product((0, 1), repeat=costs.shape[1])
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_automaton_finds_the_cheapest_states(seed: int) -> None:
    random = np.random.default_rng(seed)
    totals = random.integers(5, 40, 9)
    relevant = random.binomial(totals, np.where(np.arange(9) // 3 == 1, 0.5, 0.1))
    share = relevant.sum() / totals.sum()
    costs = np.array([
        [-math.log(math.comb(d, r) * p**r * (1 - p) ** (d - r))
         for r, d in zip(relevant.tolist(), totals.tolist(), strict=True)]
        for p in (share, 2 * share)
    ])  # fmt: skip
    states = np.zeros(9, int)
    for burst in count_bursts(relevant, totals):
        states[burst.begin : burst.end] = 1
        saved = (costs[0] - costs[1])[burst.begin : burst.end].sum()
        assert burst.weight == pytest.approx(saved)
    ups = sum(later > now for now, later in zip((0, *states), states, strict=False))
    own = costs[states, np.arange(9)].sum() + ups * math.log(9)
    assert own == pytest.approx(least_cost(costs, math.log(9)))


def test_bursts_of_moments() -> None:
    slow = [n * 3_600.0 for n in range(20)]
    dense = [slow[-1] + n * 60.0 for n in range(1, 15)]
    rest = [dense[-1] + n * 3_600.0 for n in range(1, 20)]
    (burst,) = gap_bursts([*slow, *dense, *rest])
    assert (burst.begin, burst.end) == (19, 33)
    assert burst.weight > 0
    assert gap_bursts(slow) == []
    assert gap_bursts([5.0]) == gap_bursts([5.0, 5.0]) == []
    with pytest.raises(ValueError, match="ascend"):
        gap_bursts([2.0, 1.0])
    with pytest.raises(ValueError, match="relevant <= total"):
        count_bursts([2], [1])
    with pytest.raises(ValueError, match="s must be above 1"):
        count_bursts([1], [2], s=1.0)


def test_what_grows_with_everything_is_no_burst() -> None:
    totals = [100] * 10 + [1000] * 3 + [100] * 10
    assert count_bursts([total // 10 for total in totals], totals) == []
    (burst,) = count_bursts([10] * 10 + [40] * 3 + [10] * 10, [100] * 23)
    assert (burst.begin, burst.end) == (10, 13)
    # Nearly all texts are relevant: twice that share is none, yet a burst can be told.
    assert count_bursts([6] * 20 + [10] * 5, [10] * 25)[0].begin == 20
    assert count_bursts([0, 0], [5, 5]) == count_bursts([5, 5], [5, 5]) == []


def test_a_base_knows_weekdays_and_holidays() -> None:
    first = datetime(2026, 1, 5, tzinfo=SHANGHAI)
    base = make_base(daily(first, usual(first, 56, 100.0)), default_calendar())
    assert base is not None
    ahead = daily(first + 56 * DAY, [])
    assert [base.expected_count(ahead, at) for at in range(7)] == pytest.approx(
        [120] * 5 + [50] * 2, rel=0.12
    )
    labour_day = (datetime(2026, 5, 1, tzinfo=SHANGHAI) - ahead.start(0)).days
    assert base.expected_count(ahead, labour_day) == pytest.approx(30, rel=0.2)
    assert base.deviation(120, base.expected_count(ahead, 0)) == pytest.approx(0, abs=1)
    # The same count is usual on a Monday and none on a Sunday.
    assert base.deviation(120, base.expected_count(ahead, 6)) > 5
    weeks = CountSeries("week", step_of(ahead.start(0), "week"), np.zeros(0, np.int64))
    assert base.expected_count(weeks, 0) == pytest.approx(700, rel=0.05)


def test_a_burst_in_the_base_hides_no_later_one() -> None:
    first = MONDAY - 56 * DAY
    calm = usual(first, 56, 20.0)
    struck = [count + (300 if 40 <= at < 43 else 0) for at, count in enumerate(calm)]
    bases = [make_base(daily(first, counts), HolidayCalendar()) for counts in (calm, struck)]
    assert bases[0] is not None
    assert bases[1] is not None
    assert bases[1].level == pytest.approx(bases[0].level, rel=0.2)
    assert bases[1].deviation(80, 20) > 3.5
    assert make_base(daily(first, calm[:6]), HolidayCalendar()) is None


def test_chance_alone_is_seldom_unusual() -> None:
    seen = []
    for seed in range(20):
        counts = usual(MONDAY, 84, 6.0, seed)
        base = make_base(daily(MONDAY, counts[:56]), default_calendar())
        assert base is not None
        later = daily(MONDAY, counts)
        seen += [base.deviation(counts[at], base.expected_count(later, at)) for at in range(56, 84)]
    assert np.mean(np.abs(seen) > 3) < 0.01
    assert 0.7 < np.std(seen) < 1.15


def test_hours_have_their_share_of_working_days_and_others() -> None:
    random = np.random.default_rng(5)
    by_hour = np.where((np.arange(24) >= 8) & (np.arange(24) < 18), 9.0, 0.5)
    counts = [by_hour if day % 7 < 5 else np.full(24, 2.0) for day in range(28)]
    series = CountSeries("hour", step_of(MONDAY, "hour"), random.poisson(np.concatenate(counts)))
    base = make_base(series, HolidayCalendar())
    assert base is not None
    week = series.part(0, 168)
    assert base.expected_count(week, 10) == pytest.approx(9, rel=0.2)
    assert base.expected_count(week, 3) == pytest.approx(0.5, abs=0.3)
    assert base.expected_count(week, 5 * 24 + 3) == pytest.approx(2, rel=0.35)
    with pytest.raises(ValueError, match="whole days"):
        make_base(series.part(1, 168), HolidayCalendar())


def test_nine_in_ten_days_lie_in_the_band() -> None:
    inside = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        level = 15.0 * np.exp(np.cumsum(random.normal(0, 0.03, 70)))
        rates = level * np.array([WEEK[at % 7] for at in range(70)]) * random.gamma(12, 1 / 12, 70)
        counts = random.poisson(rates).tolist()
        days = daily(MONDAY, counts[:56])
        base = make_base(days, HolidayCalendar())
        assert base is not None
        steps = forecast(days, base, days, 14)
        assert [step.start for step in steps] == [MONDAY + at * DAY for at in range(56, 70)]
        inside += [step.low <= count <= step.high
                   for step, count in zip(steps, counts[56:], strict=True)]  # fmt: skip
    assert 0.84 <= np.mean(inside) <= 0.97


def test_a_trend_of_moments() -> None:
    counts = usual(MONDAY, 63, 12.0)
    counts[60:] = [count + 40 for count in counts[60:]]
    moments = [MONDAY + at * DAY + n * timedelta(seconds=60)
               for at, count in enumerate(counts) for n in range(count)]  # fmt: skip
    everything = [MONDAY + at * DAY + n * timedelta(seconds=60)
                  for at in range(63) for n in range(120)]  # fmt: skip
    since, before = MONDAY + 56 * DAY, MONDAY + 63 * DAY - timedelta(hours=12)
    trend = trend_of(moments, everything, Stretch(since, before, ahead=3), default_calendar())
    assert [step.count for step in trend.steps] == counts[56:]
    assert [step.is_burst for step in trend.steps] == [False] * 4 + [True] * 3
    assert [step.is_whole for step in trend.steps] == [True] * 6 + [False]
    assert all((step.deviation or 0) > 4 for step in trend.steps[4:])
    assert all(abs(step.deviation or 9) < 4 for step in trend.steps[:4])
    assert (trend.direction, trend.base_days, trend.unknown_years) == ("up", 56, ())
    # The day that is not over yet is forecast first.
    assert trend.forecast[0].start == MONDAY + 62 * DAY
    alone = trend_of(moments[-50:], everything, Stretch(since, before), default_calendar())
    assert (alone.direction, alone.base_days) == ("unknown", 0)
    assert alone.steps[0].deviation is None
