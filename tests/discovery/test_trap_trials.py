"""Second tries of cut groups: how many, how they are paid for, and when a group is opened."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.discovery.static_traps import FIRST_TRIAL, TrapTrials, group_of

GROUP = "a.cn/calendar/"


def trials(fetched: int = 1000, host: str = "a.cn") -> TrapTrials:
    made = TrapTrials()
    for _ in range(fetched):
        made.count_page(host)
    return made


def try_pages(made: TrapTrials, *, good: int = 0, repeats: int = 0, closed: Iterable[int] = ()
              ) -> None:  # fmt: skip
    """Four pages of GROUP, the first of them good, the last ones repeating others."""
    new_closed = [*closed, 0, 0, 0, 0]
    for place in range(4):
        made.count_trial(GROUP, is_good=place < good, has_text=False, repeats=place >= 4 - repeats,
                   new_closed=new_closed[place])  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "group"),
    [
        ("trap: a.cn/x/# (40 pages fetched, 0 of them told a story)", "a.cn/x/#"),
        ("trap: a.cn/x/#", "a.cn/x/#"),
        ("pager of a.cn/list", ""),
        ("", ""),
    ],
)
def test_the_reason_of_a_closed_url_names_its_group(reason: str, group: str) -> None:
    assert group_of(reason) == group


def test_a_group_is_tried_with_four_urls_then_with_twice_as_many() -> None:
    made = trials()
    assert made.shares({GROUP: 100}) == {GROUP: FIRST_TRIAL}
    made.ends(GROUP, good=0, tried=4)
    assert made.shares({GROUP: 100}) == {GROUP: 2 * FIRST_TRIAL}
    assert made.shares({GROUP: 3}) == {GROUP: 3}, "no more than are closed"


def test_a_tenth_of_what_a_host_gave_otherwise_is_shared_among_its_groups() -> None:
    made = trials(fetched=60)
    assert made.shares({"a.cn/1": 9, "a.cn/2": 9, "b.cn/1": 9}) == {
        "a.cn/1": 3, "a.cn/2": 3, "b.cn/1": 0,
    }  # fmt: skip
    assert made.shares({"a.cn/1": 9}) == {"a.cn/1": 0}, "the six are spent"


def test_what_a_small_share_leaves_goes_to_the_larger_ones() -> None:
    made = trials(fetched=100)
    for _ in range(2):
        made.ends("a.cn/large", good=0, tried=4)
    assert made.shares({"a.cn/large": 99, "a.cn/small": 1}) == {"a.cn/small": 1, "a.cn/large": 9}


def test_a_page_with_a_text_of_its_own_that_leads_no_deeper_pays_for_two_tries() -> None:
    made = trials(fetched=20)
    assert made.shares({GROUP: 99}) == {GROUP: 2}
    made.count_trial(GROUP, is_good=False, has_text=True, repeats=False, new_closed=0)
    made.count_trial(GROUP, is_good=False, has_text=True, repeats=False, new_closed=1)
    assert made.shares({GROUP: 99}) == {GROUP: 2}
    for _ in range(50):
        made.count_trial(GROUP, is_good=False, has_text=True, repeats=False, new_closed=0)
    made.ends(GROUP, good=0, tried=50)
    assert made.shares({GROUP: 99}) == {GROUP: 6}, "never more than half of the twenty"


def test_a_group_is_opened_when_half_of_a_round_bring_something_new() -> None:
    made = trials()
    try_pages(made, good=2, closed=(0, 0, 5, 5))
    assert made.ends(GROUP, good=2, tried=4)
    try_pages(made, good=2, closed=(0, 0, 5, 5))
    assert not made.ends(GROUP, good=1, tried=4), "articles that were new to the store count too"
    try_pages(made, good=1, closed=(0, 5, 5, 5))
    assert not made.ends(GROUP, good=4, tried=4)


def test_a_group_that_runs_dry_is_opened_and_one_that_grows_or_repeats_is_not() -> None:
    made = trials()
    try_pages(made, closed=(1, 1))
    assert made.ends(GROUP, good=0, tried=4), "two new closed URLs of four pages"
    try_pages(made, closed=(1, 1, 1))
    assert not made.ends(GROUP, good=0, tried=4)
    try_pages(made, repeats=3)
    assert not made.ends(GROUP, good=0, tried=4)
    assert not made.ends(GROUP, good=0, tried=0), "nothing was tried"


@given(st.integers(0, 500), st.lists(st.integers(0, 80), min_size=1, max_size=6), st.integers(1, 8))
def test_trials_that_pay_nothing_cost_a_tenth_of_the_host_at_most(
    fetched: int, closed: list[int], rounds: int
) -> None:
    made = trials(fetched)
    asked = 0
    for _ in range(rounds):
        shares = made.shares({f"a.cn/{place}": count for place, count in enumerate(closed)})
        assert all(0 <= shares[f"a.cn/{place}"] <= count for place, count in enumerate(closed))
        asked += sum(shares.values())
        for group, share in shares.items():
            made.ends(group, 0, share)
    assert asked <= fetched // 10
