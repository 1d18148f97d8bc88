"""Requests a day, and engines that are left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.options import Options
from qiaocrawl.search import EngineDefinition, load_definitions
from qiaocrawl.search.plan_budget import (
    REQUESTS_A_DAY,
    budgets_of,
    daily_limit,
    within_budget,
)
from qiaocrawl.search.query import AnswerState, SearchAnswer
from qiaocrawl.search.resting import BARREN_TIMES, MOST_SECONDS, EngineRests, Rest, Sign, sign_of

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
    rests = EngineRests(park_after=3, first_seconds=10.0)
    assert rests.note("a", Sign.REFUSES) == Rest(10.0)
    assert rests.note("a", Sign.REFUSES, 100.0) == Rest(100.0)
    assert rests.note("b", Sign.REFUSES) == Rest(10.0)
    assert not rests.is_parked("a")
    assert rests.note("a", Sign.REFUSES) == Rest(160.0, parked=True)
    assert rests.is_parked("a")
    assert not rests.is_parked("b")
    # An answer that was under way does not bring it back.
    assert rests.note("a", Sign.ANSWERS) == Rest()
    assert rests.is_parked("a")


def test_an_answer_between_begins_the_count_anew() -> None:
    rests = EngineRests(park_after=2, first_seconds=1.0)
    for sign in (Sign.REFUSES, Sign.ANSWERS, Sign.REFUSES, Sign.SAYS_NOTHING):
        rests.note("a", sign)
    assert not rests.is_parked("a")
    assert rests.note("a", Sign.SAYS_NOTHING, 30.0) == Rest(30.0)
    assert rests.note("a", Sign.REFUSES).parked


def test_no_rest_is_endless() -> None:
    rests = EngineRests(park_after=0, first_seconds=10.0)
    assert max(rests.note("a", Sign.REFUSES).seconds for _ in range(400)) == MOST_SECONDS
    assert not rests.is_parked("a")


@pytest.mark.parametrize(
    ("state", "came_back", "sign"),
    [
        (AnswerState.HIT, True, Sign.ANSWERS),
        (AnswerState.EMPTY, True, Sign.ANSWERS),
        (AnswerState.BLOCKED, True, Sign.REFUSES),
        (AnswerState.BLOCKED, False, Sign.REFUSES),
        (AnswerState.DECOY, True, Sign.REFUSES),
        (AnswerState.LAYOUT_CHANGED, True, Sign.REFUSES),
        (AnswerState.ERROR, True, Sign.SAYS_NOTHING),
        (AnswerState.ERROR, False, Sign.REFUSES),
        (AnswerState.PARTIAL, True, Sign.ANSWERS),
        (AnswerState.UNKNOWN, True, Sign.SAYS_NOTHING),
    ],
)
def test_what_an_answer_says_of_its_engine(
    state: AnswerState, came_back: bool, sign: Sign
) -> None:
    assert sign_of(SearchAnswer(state), came_back=came_back) is sign


CAPTCHA = (("baidu", "CAPTCHA"),)
NOTHING = SearchAnswer(AnswerState.BLOCKED, failed=CAPTCHA)


def test_what_engines_behind_one_do_is_no_refusal_of_it() -> None:
    assert sign_of(NOTHING, came_back=True) is Sign.OTHERS_FAIL
    assert sign_of(NOTHING, came_back=False) is Sign.REFUSES
    decoy = SearchAnswer(AnswerState.DECOY)
    assert sign_of(decoy, came_back=True, asks_others=True) is Sign.SAYS_NOTHING


def test_one_failing_engine_never_parks_an_instance_whose_others_answer() -> None:
    rests = EngineRests(park_after=3, first_seconds=10.0)
    by_bing = SearchAnswer(AnswerState.PARTIAL, answered_by=("bing",), failed=CAPTCHA)
    rests.note("searxng", Sign.ANSWERS, 0.0, by_bing)
    for _ in range(200):
        assert rests.note("searxng", Sign.OTHERS_FAIL, 0.0, NOTHING) == Rest()
    # Not before an answer came either, at once; but not for ever.
    fresh = EngineRests(park_after=3, first_seconds=10.0)
    many = [fresh.note("searxng", Sign.OTHERS_FAIL, 0.0, NOTHING).parked for _ in range(30)]
    assert many.index(True) == 3 * BARREN_TIMES - 1
    # All that ever answered fail now.
    both = SearchAnswer(AnswerState.BLOCKED, failed=(*CAPTCHA, ("bing", "timeout")))
    ends = [rests.note("searxng", Sign.OTHERS_FAIL, 0.0, both).parked for _ in range(30)]
    assert ends[-1]
