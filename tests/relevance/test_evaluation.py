"""Rates with error bars, halves, groups and neighbouring thresholds."""

from __future__ import annotations

import pytest

from qiaocrawl.items import Relevance
from qiaocrawl.relevance.evaluation import (
    Counts,
    JudgedTitle,
    Rate,
    at_thresholds,
    by_group,
    counts,
    halves,
    wilson,
)
from qiaocrawl.topic.tree import GoldenTitle, is_held_out


def _judged(title: str, truth: bool, score: float, group: str = "") -> JudgedTitle:
    return JudgedTitle(GoldenTitle(title, truth, group), Relevance("t", score, score >= 0.5, "m"))


TITLES = [
    _judged("甲", True, 0.9, "一"), _judged("乙", True, 0.45, "一"),
    _judged("丙", False, 0.55, "二"), _judged("丁", False, 0.0, "二"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    # Worked out by hand from (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n).
    [
        (8, 10, 0.4902, 0.9433),
        (10, 10, 0.7225, 1.0),
        (0, 10, 0.0, 0.2775),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_wilson_interval(count: int, total: int, low: float, high: float) -> None:
    rate = wilson(count, total)
    assert rate.value == count / total
    assert (rate.low, rate.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_nothing_counted_says_nothing() -> None:
    nothing = Counts(0, 0, 0, 0)
    assert nothing.precision == nothing.recall == nothing.f1 == Rate(0.0, 0.0, 1.0)


def test_counts_and_rates() -> None:
    cells = counts(TITLES)
    assert cells == Counts(hits=1, false_hits=1, misses=1, rejections=1)
    assert (cells.precision.value, cells.recall.value, cells.f1.value) == (0.5, 0.5, 0.5)


def test_bootstrap_of_f1_holds_it_narrows_with_titles_and_repeats() -> None:
    few, many = Counts(16, 4, 4, 16).f1, Counts(1600, 400, 400, 1600).f1
    for rate in (few, many):
        assert rate.value == pytest.approx(0.8)
        assert rate.low < 0.8 < rate.high
    assert many.high - many.low < (few.high - few.low) / 5
    assert Counts(16, 4, 4, 16).f1 == few
    # Right throughout leaves no other draw than 1.
    assert Counts(20, 0, 0, 20).f1 == Rate(1.0, 1.0, 1.0)


def test_halves_are_those_of_the_digests_and_hold_all() -> None:
    tuning, held_out = halves(TITLES)
    assert len(tuning) + len(held_out) == len(TITLES)
    assert all(is_held_out(title.golden.title) for title in held_out)
    assert not any(is_held_out(title.golden.title) for title in tuning)


def test_groups_stand_in_order() -> None:
    assert {name: len(members) for name, members in by_group(TITLES).items()} == {"一": 2, "二": 2}


def test_neighbouring_thresholds_judge_by_score() -> None:
    rows = dict(at_thresholds(TITLES, 0.5))
    assert list(rows) == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7])
    assert rows[0.5] == counts(TITLES)
    assert rows[0.3] == Counts(2, 1, 0, 1)
    assert rows[0.6] == Counts(1, 0, 1, 2)
    # No threshold above 1, and a score of 0 is never on topic.
    assert [limit for limit, _ in at_thresholds(TITLES, 0.9)][-1] == 1.0
    assert at_thresholds(TITLES, 0.0) == [(0.0, Counts(2, 1, 0, 1))]
