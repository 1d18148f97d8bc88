"""The points of a URL pattern: what each kind of page adds or takes, and when a group is cut."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.discovery.trap_scores import (
    MAX_POINTS,
    NEW_BRANCH_POINTS,
    START_POINTS,
    PageEffects,
    PageValue,
    PatternScore,
    StoredPatternScore,
    cut_by,
    is_section,
    record_page,
    redirect,
    revoke_story,
)

EMPTY = PageEffects(PageValue.NOTHING, inside_new=1)
STORY = PageEffects(PageValue.STORY)


def points_after(*pages: PageEffects, start: float = START_POINTS) -> float:
    score = PatternScore(start)
    for page in pages:
        record_page(score, page)
    return pytest.approx(score.points)  # type: ignore[no-any-return]


def test_six_pages_that_only_lead_to_more_of_their_group_cut_it() -> None:
    score = PatternScore()
    for _ in range(5):
        record_page(score, EMPTY)
    assert not score.is_cut
    record_page(score, EMPTY)
    assert score.is_cut
    assert score.describe() == "6 pages fetched, 0 of them told a story"


@pytest.mark.parametrize(
    ("page", "change"),
    [
        (STORY, 2.0),
        (PageEffects(PageValue.NOTHING), 0.0),
        (EMPTY, -1.0),
        (PageEffects(PageValue.GONE), -0.5),
        (PageEffects(PageValue.WEAK), 0.0),
        (PageEffects(PageValue.WEAK, inside_known=(1,)), 0.3),
        (PageEffects(PageValue.WEAK, inside_new=3), -0.4),
        (PageEffects(PageValue.STORY, is_double=True), -0.2),
        (PageEffects(PageValue.STORY, is_double=True, inside_new=1), -1.0),
        (PageEffects(PageValue.STORY, is_double=True, same_path=True, inside_new=1), -4.0),
    ],
)
def test_what_one_page_is_worth(page: PageEffects, change: float) -> None:
    assert points_after(page) == START_POINTS + change


@pytest.mark.parametrize(
    ("page", "change"),
    [
        (PageEffects(PageValue.LIST, stories=(7,), fresh_story=True), 1.0),
        (PageEffects(PageValue.LIST, stories=(7,)), 0.0),
        (PageEffects(PageValue.LIST, inside_new=1, unknown=True), -0.04),
        (PageEffects(PageValue.LIST, inside_new=1, new_folders=True), -0.2),
        (PageEffects(PageValue.LIST, inside_new=1), -1.0),
        (PageEffects(PageValue.LIST), 0.0),
    ],
)
def test_what_one_list_is_worth(page: PageEffects, change: float) -> None:
    assert points_after(page) == START_POINTS + change


def test_a_list_that_names_the_same_story_again_earns_nothing_with_it() -> None:
    first = PageEffects(PageValue.LIST, stories=(7,), fresh_story=True, inside_new=1)
    assert points_after(first, first) == START_POINTS + 1 - 1


def test_points_are_capped_but_those_of_a_new_branch_are_kept() -> None:
    assert points_after(*[STORY] * 9) == MAX_POINTS
    assert points_after(STORY, start=NEW_BRANCH_POINTS) == NEW_BRANCH_POINTS
    assert points_after(EMPTY, start=NEW_BRANCH_POINTS) == NEW_BRANCH_POINTS - 1


def test_empty_pages_cost_nothing_while_a_fifth_of_the_group_tells_stories() -> None:
    score = PatternScore()
    for page in (STORY, STORY, *[EMPTY] * 8):
        record_page(score, page)
    assert (score.points, score.fetched, score.stories) == (10.0, 10, 2)
    record_page(score, EMPTY)
    assert score.points == 9.0, "two of eleven are less than a fifth"


def test_pages_that_were_under_way_when_the_group_was_cut_change_nothing() -> None:
    score = PatternScore(0.0, fetched=6)
    record_page(score, STORY)
    assert (score.points, score.fetched, score.stories) == (0.0, 6, 0)


def test_of_endless_stories_the_links_are_the_sign() -> None:
    score = PatternScore(fetched=100, stories=100, trees=100)
    for number in range(7):
        record_page(score, PageEffects(PageValue.STORY, inside_new=3, inside_known=(number,)))
    assert score.is_cut
    assert score.describe().endswith("its pages lead to ever more of it and hardly to each other")
    listed = PatternScore(fetched=100, stories=100, trees=100, listed=20)
    for number in range(7):
        record_page(listed, PageEffects(PageValue.STORY, inside_new=3, inside_known=(number,)))
    assert not listed.is_cut, "lists lead to it, so it is a section"


def test_the_narrowest_cut_group_forbids_a_url_unless_a_narrower_one_is_proven() -> None:
    cut, fresh, proven = PatternScore(0.0), PatternScore(), PatternScore(stories=2)
    assert cut_by([("narrow", fresh), ("broad", cut)]) == ("broad", cut)
    assert cut_by([("narrow", cut), ("broad", proven)]) == ("narrow", cut)
    assert cut_by([("narrow", proven), ("broad", cut)]) is None
    assert cut_by([("narrow", fresh), ("broad", fresh)]) is None


def test_where_stories_are_made_up_only_lists_prove_a_narrower_group() -> None:
    made_up = PatternScore(5.0, stories=50)
    made_up.cut_for("a program wrote them")
    told, listed = PatternScore(stories=2), PatternScore(stories=2, listed=2)
    assert cut_by([("narrow", told), ("broad", made_up)]) == ("broad", made_up)
    assert cut_by([("narrow", listed), ("broad", made_up)]) is None


def test_a_group_that_is_opened_again_has_full_points_and_a_new_judgement() -> None:
    score = PatternScore(0.0, fetched=9, cut="all alike")
    score.reopen()
    assert (score.points, score.cut, score.fetched) == (MAX_POINTS, "", 9)


def test_a_second_redirect_to_one_page_costs_a_point_and_to_another_page_nothing() -> None:
    score = PatternScore()
    for target in (1, 2, 3):
        redirect(score, target)
    assert (score.points, score.fetched) == (START_POINTS, 3)
    redirect(score, 2)
    assert score.points == START_POINTS - 1


def test_a_story_found_at_a_shorter_address_is_taken_back() -> None:
    leaf, tree = PatternScore(fetched=4, stories=4), PatternScore(fetched=4, stories=4, trees=3)
    revoke_story(leaf, same_path=True)
    revoke_story(tree, same_path=True)
    assert (leaf.points, leaf.stories) == (pytest.approx(START_POINTS - 0.2), 4)
    assert (tree.points, tree.stories) == (START_POINTS - 4 - 2, 3)


def _key(number: int) -> int:
    return int.from_bytes(blake2b(number.to_bytes(4), digest_size=8).digest())


@given(st.integers(0, 600))
def test_urls_on_lists_are_counted_about_right_and_each_once(number: int) -> None:
    score = PatternScore()
    for key in map(_key, range(number)):
        score.add_listed(key)
        score.add_listed(key)
    assert abs(score.listed - number) <= 2 + 0.1 * number


def test_a_group_whose_urls_stand_on_lists_is_a_section() -> None:
    assert is_section(PatternScore(trees=100, listed=13))
    assert not is_section(PatternScore(trees=100, listed=12)), "a fortieth of 512 is 12.8"


def test_a_stored_score_goes_on_where_it_was() -> None:
    stored = StoredPatternScore("a.cn", "a.cn/x/", 3.5, 9, 2, 1, 4, "")
    score = stored.score()
    assert (score.points, score.fetched, score.stories, score.trees, score.listed) == (
        3.5, 9, 2, 1, 4,
    )  # fmt: skip


pages = st.builds(
    PageEffects,
    value=st.sampled_from(PageValue),
    is_double=st.booleans(),
    same_path=st.booleans(),
    inside_new=st.integers(0, 5),
    inside_known=st.lists(st.integers(0, 20), max_size=4),
    stories=st.lists(st.integers(0, 10**9), max_size=4),
    fresh_story=st.booleans(),
    unknown=st.booleans(),
)


@given(st.lists(pages, max_size=60))
def test_whatever_comes_points_stay_bounded_and_a_cut_group_stays_cut(
    seen: list[PageEffects],
) -> None:
    score = PatternScore()
    was_cut = False
    for page in seen:
        record_page(score, page)
        assert score.points <= MAX_POINTS
        assert score.is_cut or not was_cut
        assert score.stories <= score.fetched >= score.trees
        was_cut = score.is_cut
