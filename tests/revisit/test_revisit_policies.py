"""A budget over pages: kept, within limits, and best where theory says what is best."""

from __future__ import annotations

import numpy as np
import pytest

from qiaocrawl.revisit import Bounds, Rates, Rhythms, Schedule, Tuning, VisitHistory, policies
from qiaocrawl.revisit.policies import Floats, wait_factor

RATES = np.logspace(-3, 1, 40)
WEIGHTS = np.ones(40)
WIDE = Bounds(20.0, shortest_hours=1e-3, longest_hours=1e6, least_yield=1e-6)


def allotted(name: str, bounds: Bounds, weights: Floats = WEIGHTS) -> Floats:
    return policies.get(name)(Rates(RATES, RATES), weights, bounds)


@pytest.mark.parametrize("name", policies.names())
def test_budget_and_limits_are_kept(name: str) -> None:
    bounds = Bounds(20.0, 0.25, 72.0)
    visits = allotted(name, bounds)
    assert visits.sum() <= 20.0 * 1.001
    assert visits.min() >= 1 / 72 * 0.999
    assert visits.max() <= 4.001
    scarce = allotted(name, Bounds(0.1, 0.25, 72.0))
    assert scarce.sum() <= 0.1001, "too little for the longest intervals is kept too"
    heavy = np.where(np.arange(40) == 20, 5.0, 1.0)
    if name not in ("uniform", "fixed_order", "random_order", "purely_random"):
        assert allotted(name, bounds, heavy)[20] >= visits[20]


def freshness(visits: Floats) -> float:
    return float((visits / RATES * -np.expm1(-RATES / visits)).mean())


def age(visits: Floats) -> float:
    some = 0.5 / visits - 1 / RATES + visits / RATES**2 * -np.expm1(-RATES / visits)
    return float(some.mean())


def delay(visits: Floats) -> float:
    return float((RATES / (2 * visits)).sum())


def worth(visits: Floats) -> float:
    return float((RATES * visits * -np.expm1(-1 / visits)).sum())


def test_each_policy_is_the_best_by_its_own_measure() -> None:
    bounds = Bounds(20.0, 1e-3, 1e6, worth_hours=1.0)
    visits = {name: np.maximum(allotted(name, bounds), 1e-5) for name in policies.names()}
    for name, measure, sign in (
        ("freshness", freshness, 1), ("age", age, -1), ("delay", delay, -1), ("value", worth, 1),
    ):  # fmt: skip
        best = sign * measure(visits[name])
        for other in ("uniform", "proportional", "freshness", "azar", "age", "delay", "value"):
            assert best >= sign * measure(visits[other]) - 1e-3 * abs(best), (name, other)


def test_a_page_that_changes_too_fast_is_given_up_by_freshness_alone() -> None:
    # Cho & Garcia-Molina 2003: neither uniform nor proportional, the optimum lies between.
    visits = allotted("freshness", Bounds(2.0, 1e-3, 1e6))
    assert visits[-1] < visits[20]
    assert allotted("age", Bounds(2.0, 1e-3, 1e6))[-1] > visits[-1]


def test_azar_has_its_closed_form() -> None:
    visits = allotted("azar", WIDE)
    inside = visits > 1e-4
    roots = (visits + RATES)[inside] / np.sqrt(RATES[inside])
    assert roots == pytest.approx(roots[0], rel=1e-3)


def test_no_page_is_asked_again_and_again_for_nothing() -> None:
    rich = allotted("both", Bounds(1e4, 0.25, 72.0, least_yield=0.05))
    assert rich[0] == pytest.approx(max(RATES[0] / 0.05, 1 / 72))
    assert rich[-1] == pytest.approx(4.0)


def test_a_schedule_learns_which_pages_bring_something() -> None:
    rng = np.random.default_rng(4)
    rates = np.array([0.002, 0.05, 1.0])
    schedule = Schedule(
        Tuning(bounds=Bounds(0.6, 0.25, 72.0)), VisitHistory.empty(3), Rhythms.flat(1),
        site=np.zeros(3, int), group=np.zeros(3, int), weights=np.ones(3), last=np.full(3, np.nan),
    )  # fmt: skip
    schedule.due[:] = 1000.0
    made, last = np.zeros(3), np.full(3, 1000.0)
    for now in np.arange(1000.0, 1800.0, 0.25):
        due = np.flatnonzero(schedule.due <= now)
        if len(due):
            news = rng.poisson(rates[due] * (now - last[due])).astype(float)
            schedule.observe(due, now, news, (news > 0) * 1.0)
            made[due] += 1
            last[due] = now
        if now % 6 == 0:
            schedule.plan()
    assert made[0] < made[1] < made[2]
    assert made.sum() == pytest.approx(0.6 * 800, rel=0.25)
    assert schedule.rates[2] == pytest.approx(1.0, rel=0.3)


def test_the_three_orders_of_refreshing() -> None:
    names = ("fixed_order", "random_order", "purely_random")
    waits = {
        name: np.array([[wait_factor(name, bytes([page]), visit) for visit in range(400)]
                        for page in range(20)])
        for name in names
    }  # fmt: skip
    assert (waits["fixed_order"] == 1).all()
    # Due at (k + U_k) intervals: in each round exactly once, so 400 rounds take 400 ± 1.
    due = np.cumsum(waits["random_order"], axis=1)
    assert np.abs(due[:, -1] - 400).max() < 1
    assert 0 < waits["random_order"].min() < 0.3
    assert 1.7 < waits["random_order"].max() < 2
    # Of different pages another order in each round.
    ranks = np.argsort(due[:, 10:30] % 1, axis=0)
    assert len({tuple(column) for column in ranks.T}) == 20
    # Exponential: mean 1, and exp(-1) of them longer than that.
    random = waits["purely_random"]
    assert random.mean() == pytest.approx(1.0, abs=0.05)
    assert (random > 1).mean() == pytest.approx(np.exp(-1), abs=0.03)
    for name in names:
        assert allotted(name, WIDE) == pytest.approx(np.full(40, 0.5))


def test_a_schedule_follows_its_order() -> None:
    for name, same in (("fixed_order", True), ("purely_random", False)):
        schedule = Schedule(
            Tuning("cho", name, bounds=Bounds(2.0)), VisitHistory.empty(2), Rhythms.flat(1),
            site=np.zeros(2, np.int64), group=np.zeros(2, np.int64), weights=np.ones(2),
            last=np.full(2, np.nan),
        )  # fmt: skip
        schedule.plan()
        schedule.observe(np.arange(2), 100.0, np.zeros(2), np.zeros(2))
        # Two visits an hour over two pages: one each, after an hour or after a drawn time.
        assert (schedule.due.tolist() == [101.0, 101.0]) is same
