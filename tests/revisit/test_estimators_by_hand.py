"""Every estimator of change against numbers worked by hand, and the contract of all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.revisit import HISTORY_BYTES, VisitHistory, estimators

USUAL = np.array([0.1])


def history(**sums: float) -> VisitHistory:
    """One page of which these sums are known."""
    memory = VisitHistory.empty(1)
    for name, value in sums.items():
        memory.column(name)[0] = value
    return memory


def rate(name: str, memory: VisitHistory) -> float:
    return float(estimators.get(name)(memory, USUAL)[0])


def ring(*visits: tuple[float, bool]) -> VisitHistory:
    """One page of these last intervals, the newest first: hours, and whether it had changed."""
    memory = VisitHistory.empty(1)
    for place, (hours, has_changed) in enumerate(visits):
        memory.intervals[0, place] = hours
        memory.changes[0, place] = has_changed
    return memory


def test_cho_takes_the_share_of_visits_that_found_nothing() -> None:
    # Four of ten visits, two hours apart, found a change: -ln(6.5 / 10.5) every two hours.
    by_hand = -math.log(6.5 / 10.5) / 2
    assert rate("cho", history(visits=10, changes=4, hours=20)) == pytest.approx(by_hand)


def test_cho_stays_finite_for_pages_that_never_or_always_changed() -> None:
    never = rate("cho", history(visits=10, changes=0, hours=10))
    always = rate("cho", history(visits=10, changes=10, hours=10))
    assert never == 1e-6, "-ln(10.5 / 10.5) = 0, and no page is taken for slower than that"
    assert always == pytest.approx(math.log(21))


def test_likelihood_of_one_changed_interval_has_a_closed_form() -> None:
    # w / (exp(r w) - 1) = w / 2, the half interval that is added: r = ln(3) / w.
    assert rate("likelihood", ring((4.0, True))) == pytest.approx(math.log(3) / 4, rel=1e-6)


def test_likelihood_lets_the_older_of_two_intervals_count_nine_tenths() -> None:
    # 1 / (exp(r) - 1) = 0.9 + 0.5, and 0.9 / (exp(r) - 1) = 1 + 0.5 the other way round.
    newest = rate("likelihood", ring((1.0, True), (1.0, False)))
    older = rate("likelihood", ring((1.0, False), (1.0, True)))
    assert newest == pytest.approx(math.log(1 + 1 / 1.4), rel=1e-6)
    assert older == pytest.approx(math.log(1 + 0.9 / 1.5), rel=1e-6)


def test_likelihood_of_a_page_that_never_changed_is_the_slowest_rate() -> None:
    assert rate("likelihood", ring(*[(5.0, False)] * 12)) == pytest.approx(1e-6)


def test_counted_links_are_weighed_against_a_day_of_the_usual_rate() -> None:
    assert rate("count", history(news=3, hours=12)) == pytest.approx((3 + 24 * 0.1) / (12 + 24))


def test_rhythm_divides_by_busy_hours_and_says_so() -> None:
    memory = history(news=3, hours=12, busy=6)
    assert rate("rhythm", memory) == pytest.approx((3 + 24 * 0.1) / (6 + 24))
    assert [name for name in estimators.names() if estimators.get(name).in_busy_time] == ["rhythm"]


def test_halved_is_one_an_interval_and_one_a_day_before_the_first_visit() -> None:
    assert rate("halved", history(interval=8)) == 1 / 8
    assert rate("halved", history()) == 1 / 24


@pytest.mark.parametrize("name", estimators.names())
def test_pages_are_judged_one_by_one(name: str) -> None:
    rng = np.random.default_rng(5)
    memory = VisitHistory(rng.uniform(0, 10, (6, HISTORY_BYTES // 4)))
    usual = rng.uniform(0.01, 1, 6)
    together = estimators.get(name)(memory, usual)
    alone = [
        estimators.get(name)(memory.rows(np.array([page])), usual[page : page + 1])[0]
        for page in range(6)
    ]
    assert together == pytest.approx(alone)


@pytest.mark.parametrize("name", estimators.names())
def test_the_memory_is_left_as_it_was(name: str) -> None:
    memory = history(visits=5, changes=2, hours=9, busy=4, news=3, interval=6)
    before = memory.table.copy()
    estimators.get(name)(memory, USUAL)
    assert np.array_equal(memory.table, before)


# What a disk may give back; VisitHistory makes zeros of what is no number.
stored_rows = st.lists(st.binary(min_size=HISTORY_BYTES, max_size=HISTORY_BYTES), max_size=3)


@pytest.mark.parametrize("name", estimators.names())
@given(rows=stored_rows, usual=st.floats(1e-6, 60))
def test_any_stored_history_gives_a_positive_finite_rate(
    name: str, rows: list[bytes], usual: float
) -> None:
    memory = VisitHistory.unpack(rows)
    rates = estimators.get(name)(memory, np.full(len(rows), usual))
    assert rates.shape == (len(rows),)
    assert np.isfinite(rates).all()
    assert (rates > 0).all()


@given(st.integers(1, 50), st.floats(0.1, 1000), st.data())
def test_of_two_pages_the_one_that_changed_more_often_is_never_slower(
    visits: int, hours: float, data: st.DataObject
) -> None:
    changes = sorted(data.draw(st.tuples(st.integers(0, visits), st.integers(0, visits))))
    for name, column in (("cho", "changes"), ("count", "news")):
        slow, fast = (
            rate(name, history(visits=visits, hours=hours, **{column: n})) for n in changes
        )
        assert slow <= fast
