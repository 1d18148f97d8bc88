"""The benchmark of titles against bodies: its own arithmetic by hand-worked cases."""

from __future__ import annotations

import math

import pytest

from benchmarks.dedup_bodies import (
    Measured,
    by_sketches,
    groups_of,
    near_pairs,
    pair_rates,
    rows_of,
    vectors_of,
)
from benchmarks.demo_scores import Rates


def test_cosines_are_those_of_all_words() -> None:
    # 甲 stands everywhere and weighs nothing; each 丙丁戊 stands once and only adds to a length.
    vectors = vectors_of([["甲", "乙", "丙"], ["甲", "乙", "丁"], ["甲", "戊"]])
    two, one = math.log(3 / 2), math.log(3)
    expected = two**2 / (two**2 + one**2)
    assert float(vectors.rows[0] @ vectors.rows[1]) == pytest.approx(expected, rel=1e-5)
    assert near_pairs(vectors, expected - 1e-4).tolist() == [[0, 1]]
    assert near_pairs(vectors, expected + 1e-4).tolist() == []
    assert near_pairs(vectors_of([[], []]), 0.8).tolist() == []


def test_connected_articles_are_one_group() -> None:
    groups = groups_of(5, [(0, 1), (3, 1)])
    assert groups[0] == groups[1] == groups[3]
    assert len(set(groups)) == 3
    assert pair_rates(["a", "a", "b", "b", "c"], groups) == Rates(1 / 3, 1 / 2, 2 / 5)


def test_sketches_find_the_copy() -> None:
    body = "侨乡的老屋门前又挂起了灯笼。\n归来的人在门前站了很久。\n今年有12户人家回来过年。"
    other = "渔港今天迎来开渔第一船。\n码头上的吊机忙到了深夜。\n这一船一共卸下了30吨鱼。"
    groups = by_sketches([body, other, f"转载自本地论坛的消息。\n{body}"])
    assert groups[0] == groups[2] != groups[1]


def test_time_is_compared_with_bodies_of_the_same_segmenter() -> None:
    nothing = Rates(0.0, 0.0, 0.0)
    measured = [
        Measured("titles, vector space", 0.8, 1.0, nothing),
        Measured("bodies, vector space", 0.5, 4.0, nothing),
        Measured("titles, vector space, rjieba", 0.8, 1.0, nothing),
        Measured("bodies, vector space, rjieba", 0.5, 2.0, nothing),
        Measured("bodies, sketches", None, 3.0, nothing),
    ]
    rows = rows_of(measured, 7)
    assert [row["less_time"] for row in rows] == [0.75, 0.0, 0.5, 0.0, 0.25]
    assert {row["articles"] for row in rows} == {7}
