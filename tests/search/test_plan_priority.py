"""Which due queries are asked first, and that each gets its turn."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.search.priority import (
    FOLLOW_UPS_A_PLACE,
    LONGEST_WAITING_EVERY,
    DueQuery,
    ExpectedYield,
    PairYield,
    QueryLine,
    most_rounds,
    pair_of,
    prioritise,
)
from qiaocrawl.search.query import Query


def _due(term: str, rank: int = 0, since: float = 0.0, site: str = "") -> DueQuery:
    return DueQuery(Query("t", term, site, "e"), rank, since)


def test_nothing_known_keeps_the_order_of_the_plan() -> None:
    due = [_due(f"词{n}", rank=n) for n in range(9)]
    assert prioritise(reversed(due), ExpectedYield({})) == due
    assert prioritise([], ExpectedYield({})) == []


def test_what_brought_most_new_pages_on_topic_comes_first() -> None:
    expected_yield = ExpectedYield({
        ("多", "", "e"): PairYield(3, 30, 20, 18),
        ("多而不切题", "", "e"): PairYield(3, 30, 20, 1),
        ("少", "", "e"): PairYield(3, 1, 1, 1),
        ("无", "", "e"): PairYield(3, 0),
    })  # fmt: skip
    terms = ["无", "少", "多而不切题", "多", "新"]
    by_worth = sorted(terms, key=lambda term: -expected_yield.of((term, "", "e")))
    assert by_worth == ["多", "新", "多而不切题", "少", "无"]
    # Posterior means by hand: (30 + e) / (3 + 1) new a request, (18 + 5p) / (20 + 5) on topic.
    expected, p = expected_yield.prior_yield(("多", "", "e")), 21 / 43
    assert expected_yield.of(("多", "", "e")) == pytest.approx(
        (30 + expected) / 4 * (18 + 5 * p) / 25
    )


def test_a_question_never_asked_is_judged_by_its_term_site_and_engine() -> None:
    expected_yield = ExpectedYield({
        ("富", "a.test", "e"): PairYield(10, 80), ("贫", "b.test", "e"): PairYield(10, 1),
    })  # fmt: skip
    new = [expected_yield.of(pair) for pair in (
        ("富", "c.test", "e"), ("别", "a.test", "e"), ("别", "c.test", "e"), ("贫", "c.test", "e"),
    )]  # fmt: skip
    assert new[0] == pytest.approx(new[1])
    assert new[0] > new[2] > new[3] > 0
    assert expected_yield.of(("富", "a.test", "无")) > expected_yield.of(("贫", "b.test", "无"))


def test_every_fourth_place_is_for_who_waits_longest() -> None:
    due = [_due(f"词{n}", rank=n, since=-n) for n in range(12)]
    order = [one.rank for one in prioritise(due, ExpectedYield({}))]
    assert order[LONGEST_WAITING_EVERY - 1 :: LONGEST_WAITING_EVERY] == [11, 10, 9]
    assert sorted(order) == list(range(12))


def test_no_pair_waits_longer_than_promised_whatever_the_others_bring() -> None:
    """A game against the order: who was asked last time is always worth most."""
    pairs, a_round = 57, 9
    waits = {f"词{n}": 0.0 for n in range(pairs)}  # since when it is due
    waited = dict.fromkeys(waits, 0)
    longest = 0
    rng = random.Random(7)
    favourites = set(rng.sample(sorted(waits), a_round))
    for now in range(1, 200):
        expected_yield = ExpectedYield({
            (term, "", "e"): PairYield(5, 500 if term in favourites else 0) for term in waits
        })  # fmt: skip
        due = [_due(term, rank=n, since=waits[term]) for n, term in enumerate(sorted(waits))]
        asked = {one.query.term for one in prioritise(due, expected_yield)[:a_round]}
        for term in waits:
            waited[term] = 0 if term in asked else waited[term] + 1
            waits[term] = now if term in asked else waits[term]
        longest = max(longest, *waited.values())
        favourites = asked
    assert 1 < longest <= most_rounds(pairs, a_round)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 100)), max_size=30), st.integers(1, 30))
def test_all_are_arranged_and_each_beginning_keeps_the_turns(
    given_due: list[tuple[int, float]], end: int
) -> None:
    due = [_due(f"词{n}", rank, since) for n, (rank, since) in enumerate(given_due)]
    order = prioritise(due, ExpectedYield({}))
    assert sorted(order, key=lambda one: one.query.term) == sorted(
        due, key=lambda one: one.query.term
    )
    turns = min(end, len(order)) // LONGEST_WAITING_EVERY
    oldest = sorted(due, key=lambda one: (one.waiting_since, one.rank))[:turns]
    begun = {pair_of(one.query) for one in order[:end]}
    assert {pair_of(one.query) for one in oldest} <= begun


def test_a_round_shorter_than_a_turn_promises_nothing() -> None:
    assert most_rounds(10, LONGEST_WAITING_EVERY - 1) == float("inf")
    assert most_rounds(10, 2 * LONGEST_WAITING_EVERY) == 5


def test_of_words_never_asked_those_come_first_that_most_stored_pages_have() -> None:
    due = [_due(term, rank=n) for n, term in enumerate(("问过", "少", "多"))]
    poor = {("问过", "", "e"): PairYield(9, 0)}
    order = prioritise(due, ExpectedYield(poor, {"少": 1, "多": 7}))
    assert [one.query.term for one in order] == ["多", "少", "问过"]


def _line(*terms: str) -> QueryLine:
    return QueryLine({"e": [_due(term).query for term in terms]}, ExpectedYield({}))


def _ask(line: QueryLine, term: str, place: float, new_urls: int) -> float:
    query = _due(term).query
    line.note(query, new_urls)
    return line.place_of_next_page(query, place)


def test_a_next_page_goes_before_what_is_expected_to_bring_less() -> None:
    line = _line("甲", "乙", "丙")
    assert 0 < _ask(line, "甲", 0, 10) < 1
    # What brings less than others did comes last.
    assert _ask(line, "乙", 1, 1) > 2


def test_what_is_learnt_in_a_run_counts_at_once() -> None:
    line = _line("甲", "乙", "丙", "丁")
    assert _ask(line, "甲", 0, 4) == 0.5
    for term in ("乙", "丙"):
        line.note(_due(term).query, 10)
    assert _ask(line, "甲", 0.5, 1) == 3.5
    assert _ask(line, "丙", 2, 10) == 2.5


def test_three_next_pages_at_most_before_one_query_of_the_line() -> None:
    """However much one word brings, every fourth request is for another."""
    line = _line("甲", "乙", "丙")
    for term in ("乙", "丙"):
        line.note(_due(term).query, 0)
    places = [_ask(line, "甲", 0, 10) for _ in range(2 * FOLLOW_UPS_A_PLACE)]
    assert places == [0.5] * FOLLOW_UPS_A_PLACE + [1.5] * FOLLOW_UPS_A_PLACE


def test_what_waits_behind_the_line_is_followed_at_once() -> None:
    line = _line("甲")
    assert line.place_of_next_page(_due("乙").query, 1e9) == 1e9
    assert QueryLine({}, ExpectedYield({})).place_of_next_page(_due("甲").query, 0) == 0
