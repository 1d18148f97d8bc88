"""Splitting by time."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.search.definition import EngineDefinition, load_definitions
from qiaocrawl.search.plan import (
    LAST_PERIODS,
    can_ask,
    checked_period,
    is_cut_off,
    is_past,
    range_of,
    shorter_periods,
)
from qiaocrawl.search.query import AnswerState, Hit, Query, SearchAnswer
from qiaocrawl.search.records import Signal
from qiaocrawl.search.request import day_range

TODAY = date(2026, 3, 5)
BING = load_definitions()["bing"]


def _engine(supports: Any) -> EngineDefinition:
    return cast(EngineDefinition, SimpleNamespace(supports_period=supports))


NAMED = _engine(lambda period: period in ("", *LAST_PERIODS))
DAYS = _engine(lambda period: True)
NONE = _engine(lambda period: not period)


def test_an_engine_of_last_periods_is_asked_for_ever_shorter_ones() -> None:
    asked, period = [], ""
    while found := shorter_periods(NAMED, period, TODAY):
        (period,) = found
        asked.append(period)
    assert asked == ["year", "month", "week", "day"]
    assert shorter_periods(NONE, "", TODAY) == ()
    assert can_ask(NONE, "")


def test_days_are_halved_down_to_one_and_none_is_left_out() -> None:
    recent, before = shorter_periods(DAYS, "", TODAY)
    assert recent == "2025-03-06/2026-03-06"
    assert range_of(before)[1] == range_of(recent)[0]

    def single_days(period: str) -> list[str]:
        halves = shorter_periods(DAYS, period, TODAY)
        return [day for half in halves for day in single_days(half)] if halves else [period]

    days = single_days("2026-01-28/2026-03-01")
    first = date(2026, 1, 28)
    expected = [first + timedelta(days=n) for n in range(32)]
    assert sorted(days) == [f"{day}/{day + timedelta(days=1)}" for day in expected]


@pytest.mark.parametrize("period", LAST_PERIODS)
def test_a_last_period_is_halved_into_the_days_it_was_asked_for(period: str) -> None:
    first, end = day_range(period, TODAY)
    newer, older = shorter_periods(DAYS, period, TODAY)
    assert (range_of(older)[0], range_of(newer)[1]) == (first, end)
    assert range_of(older)[1] == range_of(newer)[0]


def test_when_an_answer_is_cut_off() -> None:
    says_more = (Signal("select", "a.next"),)
    engine = replace(BING, paging=replace(BING.paging, per_page=10, max_pages=5),
                     signals=replace(BING.signals, next=says_more))  # fmt: skip
    hit = SearchAnswer(AnswerState.HIT, has_next=True)
    query = Query("t", "侨", "", "bing", page=3)
    assert is_cut_off(query, hit, engine, most_pages=3)
    assert not is_cut_off(replace(query, page=2), hit, engine, most_pages=3)
    searxng = replace(engine, signals=replace(engine.signals, next=()))
    assert not is_cut_off(query, hit, searxng, most_pages=3), "nobody says that more follow"
    full = replace(hit, hits=(Hit("http://a.test/", "侨"),) * 5)
    assert is_cut_off(query, full, searxng, most_pages=3)
    last = SearchAnswer(AnswerState.HIT, total=80)
    assert is_cut_off(replace(query, page=5), last, engine, most_pages=9)
    assert not is_cut_off(replace(query, page=5), replace(last, total=50), engine, most_pages=9)
    assert not is_cut_off(query, replace(last, total=None), engine, most_pages=3)
    # At the engine's own limit no page has a next one: without a total a full page tells.
    end = replace(full, has_next=False)
    assert is_cut_off(replace(query, page=5), end, searxng, most_pages=9)
    assert not is_cut_off(replace(query, page=4), end, searxng, most_pages=9)
    few = replace(end, hits=end.hits[:4])
    assert not is_cut_off(replace(query, page=5), few, searxng, most_pages=9)


def test_past_days_are_over() -> None:
    assert is_past("2026-02-01/2026-03-05", TODAY)
    assert not is_past("2026-02-01/2026-03-06", TODAY)
    assert not is_past("week", TODAY)
    assert not is_past("", TODAY)


@pytest.mark.parametrize("good", ["", "day", "year", "2026-01-01/2026-02-01"])
def test_periods_of_the_operator(good: str) -> None:
    assert checked_period(f" {good} ") == good


@pytest.mark.parametrize(
    "bad", ["2w", "2026-01-01", "2026-02-01/2026-01-01", "2026-02-30/2026-03-01", "a/b"]
)
def test_no_period(bad: str) -> None:
    with pytest.raises(ConfigError, match="period= must be one of day"):
        checked_period(bad)
