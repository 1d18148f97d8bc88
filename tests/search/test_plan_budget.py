"""Requests a day, and engines that are left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.search.definition import EngineDefinition, load_definitions
from qiaocrawl.search.plan import REQUESTS_A_DAY, budgets_of, daily_limit, within_budget
from qiaocrawl.search.priority import (
    FRUITLESS_TIMES,
    MOST_SECONDS,
    EnginePauses,
    EngineResponse,
    Pause,
    engine_response,
)
from qiaocrawl.search.query import AnswerState, SearchAnswer

ENGINES = load_definitions(base_urls={"searxng": "http://127.0.0.1:8888"})


def test_limits_by_name_by_kind_and_by_default() -> None:
    given = Options({"QIAO_SEARCH_DAILY_BUDGET": "baidu=50, scraped=300,sogou=0"})
    budgets = budgets_of(given["QIAO_SEARCH_DAILY_BUDGET"])
    limits = {name: daily_limit(one, budgets) for name, one in ENGINES.items()}
    assert (limits["baidu"], limits["bing"], limits["sogou"]) == (50, 300, None)
    assert limits["searxng"] == REQUESTS_A_DAY["service"]
    assert daily_limit(ENGINES["baidu"], {}) == REQUESTS_A_DAY["scraped"]
    keyed = cast(EngineDefinition, SimpleNamespace(
        name="brave", kind="service", keys=("x",), host="api.search.brave.com"
    ))  # fmt: skip
    assert daily_limit(keyed, {}) == REQUESTS_A_DAY["keyed"]
    assert daily_limit(keyed, {"service": 9, "keyed": 7}) == 7
    assert daily_limit(keyed, {"service": 9}) == 9
    # Nobody is spared where nobody is.
    assert daily_limit(ENGINES["demo_sou"], {}) is None
    assert daily_limit(ENGINES["demo_sou"], {"demo_sou": 7}) == 7


@pytest.mark.parametrize("bad", ["baidu", "baidu=x", "=3", "baidu=-1"])
def test_a_wrong_budget_is_named(bad: str) -> None:
    with pytest.raises(ConfigError, match="QIAO_SEARCH_DAILY_BUDGET must be name=number"):
        Options({"QIAO_SEARCH_DAILY_BUDGET": bad})


def test_a_slate_ends_with_the_budget() -> None:
    assert within_budget([1, 2, 3], 2) == [1, 2]
    assert within_budget([1, 2, 3], None) == [1, 2, 3]
    assert within_budget([1, 2, 3], -5) == []


def test_who_refuses_rests_longer_each_time_and_then_for_the_run() -> None:
    rests = EnginePauses(park_after=3, first_seconds=10.0)
    assert rests.note("a", EngineResponse.REFUSES) == Pause(10.0)
    assert rests.note("a", EngineResponse.REFUSES, 100.0) == Pause(100.0)
    assert rests.note("b", EngineResponse.REFUSES) == Pause(10.0)
    assert not rests.is_parked("a")
    assert rests.note("a", EngineResponse.REFUSES) == Pause(160.0, parked=True)
    assert rests.is_parked("a")
    assert not rests.is_parked("b")
    # An answer that was under way does not bring it back.
    assert rests.note("a", EngineResponse.ANSWERS) == Pause()
    assert rests.is_parked("a")


def test_an_answer_between_begins_the_count_anew() -> None:
    rests = EnginePauses(park_after=2, first_seconds=1.0)
    for sign in (
        EngineResponse.REFUSES,
        EngineResponse.ANSWERS,
        EngineResponse.REFUSES,
        EngineResponse.SAYS_NOTHING,
    ):
        rests.note("a", sign)
    assert not rests.is_parked("a")
    assert rests.note("a", EngineResponse.SAYS_NOTHING, 30.0) == Pause(30.0)
    assert rests.note("a", EngineResponse.REFUSES).parked


def test_no_rest_is_endless() -> None:
    rests = EnginePauses(park_after=0, first_seconds=10.0)
    assert max(rests.note("a", EngineResponse.REFUSES).seconds for _ in range(400)) == MOST_SECONDS
    assert not rests.is_parked("a")


@pytest.mark.parametrize(
    ("state", "came_back", "sign"),
    [
        (AnswerState.HIT, True, EngineResponse.ANSWERS),
        (AnswerState.EMPTY, True, EngineResponse.ANSWERS),
        (AnswerState.BLOCKED, True, EngineResponse.REFUSES),
        (AnswerState.BLOCKED, False, EngineResponse.REFUSES),
        (AnswerState.DECOY, True, EngineResponse.REFUSES),
        (AnswerState.LAYOUT_CHANGED, True, EngineResponse.REFUSES),
        (AnswerState.ERROR, True, EngineResponse.SAYS_NOTHING),
        (AnswerState.ERROR, False, EngineResponse.REFUSES),
        (AnswerState.PARTIAL, True, EngineResponse.ANSWERS),
        (AnswerState.UNKNOWN, True, EngineResponse.SAYS_NOTHING),
    ],
)
def test_what_an_answer_says_of_its_engine(
    state: AnswerState, came_back: bool, sign: EngineResponse
) -> None:
    assert engine_response(SearchAnswer(state), came_back=came_back) is sign


CAPTCHA = (("baidu", "CAPTCHA"),)
NOTHING = SearchAnswer(AnswerState.BLOCKED, failed=CAPTCHA)


def test_what_engines_behind_one_do_is_no_refusal_of_it() -> None:
    assert engine_response(NOTHING, came_back=True) is EngineResponse.OTHERS_FAIL
    assert engine_response(NOTHING, came_back=False) is EngineResponse.REFUSES
    decoy = SearchAnswer(AnswerState.DECOY)
    assert engine_response(decoy, came_back=True, asks_others=True) is EngineResponse.SAYS_NOTHING


def test_one_failing_engine_never_parks_an_instance_whose_others_answer() -> None:
    rests = EnginePauses(park_after=3, first_seconds=10.0)
    by_bing = SearchAnswer(AnswerState.PARTIAL, answered_by=("bing",), failed=CAPTCHA)
    rests.note("searxng", EngineResponse.ANSWERS, 0.0, by_bing)
    for _ in range(200):
        assert rests.note("searxng", EngineResponse.OTHERS_FAIL, 0.0, NOTHING) == Pause()
    # Not before an answer came either, at once; but not for ever.
    fresh = EnginePauses(park_after=3, first_seconds=10.0)
    many = [
        fresh.note("searxng", EngineResponse.OTHERS_FAIL, 0.0, NOTHING).parked for _ in range(30)
    ]
    assert many.index(True) == 3 * FRUITLESS_TIMES - 1
    # All that ever answered fail now.
    both = SearchAnswer(AnswerState.BLOCKED, failed=(*CAPTCHA, ("bing", "timeout")))
    ends = [rests.note("searxng", EngineResponse.OTHERS_FAIL, 0.0, both).parked for _ in range(30)]
    assert ends[-1]
