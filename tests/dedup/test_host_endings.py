"""How a host's names are learnt from what ends its titles, and how they are taken back."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.dedup.site_names import MAX_CANDIDATES, MAX_KNOWN, MAX_SEEN, WINDOW, HostEndings

NAME, CHANNEL, SERIES = "$江北晚报", "<社会", "^独家"


def counted(endings: HostEndings, times: int, *marked: str, is_ended: bool = True) -> list[bool]:
    """What each of *times* titles with these texts changed."""
    return [endings.count(marked, is_ended=is_ended) for _ in range(times)]


def fresh(times: int, *marked: str, is_ended: bool = True) -> HostEndings:
    endings = HostEndings()
    counted(endings, times, *marked, is_ended=is_ended)
    return endings


def test_the_fourth_title_that_ends_in_a_text_makes_it_a_name() -> None:
    endings = HostEndings()
    assert counted(endings, 4, NAME) == [False, False, False, True]
    assert endings.knows(NAME)
    assert counted(endings, 2, NAME) == [False, False], "it is known already"


def test_a_channel_before_a_name_needs_three_titles_and_a_beginning_four() -> None:
    assert not fresh(2, CHANNEL).knows(CHANNEL)
    assert fresh(3, CHANNEL).knows(CHANNEL)
    assert not fresh(3, SERIES).knows(SERIES)
    assert fresh(4, SERIES).knows(SERIES)


def test_a_name_ends_a_fifth_of_the_titles_that_end_in_something_short() -> None:
    for others, is_name in ((16, True), (17, False)):
        endings = fresh(others)
        counted(endings, 4, NAME)
        assert endings.knows(NAME) is is_name, "4 of 20, and 4 of 21"
    endings = fresh(60, is_ended=False)
    counted(endings, 4, NAME)
    assert endings.knows(NAME), "titles that end in nothing short are not counted"


def test_what_begins_titles_begins_half_of_all_with_a_separator() -> None:
    for others, is_name in ((4, True), (5, False)):
        endings = fresh(others, is_ended=False)
        counted(endings, 4, SERIES)
        assert endings.knows(SERIES) is is_name


def test_a_name_that_does_not_go_on_is_taken_back_at_the_end_of_the_window() -> None:
    endings = fresh(4, NAME)
    changed = counted(endings, WINDOW - 4)
    assert changed == [False] * (WINDOW - 5) + [True]
    assert not endings.knows(NAME)


def test_a_name_that_passed_its_trial_stays_though_it_is_met_no_more() -> None:
    endings = fresh(WINDOW, NAME)
    counted(endings, 3 * WINDOW)
    assert endings.knows(NAME)


def test_half_the_share_is_enough_to_pass_the_trial() -> None:
    # A tenth of 128 titles: 13 pass and 12 do not.
    for times, stays in ((13, True), (12, False)):
        endings = fresh(times, NAME)
        counted(endings, WINDOW - times)
        assert endings.knows(NAME) is stays


def test_counts_are_halved_after_a_window_so_that_a_new_name_is_learnt_on_an_old_host() -> None:
    endings = fresh(3 * WINDOW, NAME)
    needed = next(n for n in range(1, 100) if counted(endings, 1, "$新名") == [True])
    # 64 are left of the past: n of 64 + n is a fifth at 16; without halving it took 96.
    assert needed == 16


def test_a_title_is_new_once_until_sixty_four_others_have_come() -> None:
    endings = HostEndings()
    assert endings.is_new(7)
    assert not endings.is_new(7)
    for digest in range(100, 100 + MAX_SEEN - 1):
        endings.is_new(digest)
    assert not endings.is_new(7)
    assert endings.is_new(99)
    assert endings.is_new(7), "the ring came round"


def test_of_too_many_names_the_one_not_met_for_longest_goes() -> None:
    endings = HostEndings()
    names = [f"<{number}" for number in range(MAX_KNOWN)]
    counted(endings, 3, *names, is_ended=False)
    counted(endings, 1, names[0], is_ended=False)
    counted(endings, 3, "<one more", is_ended=False)
    assert endings.knows(names[0])
    assert not endings.knows(names[1])
    assert endings.knows("<one more")


TEXTS = ("$a", "$b", "<c", "^d", "$e")
titles = st.lists(st.lists(st.sampled_from(TEXTS), max_size=3, unique=True), max_size=300)


@given(titles)
def test_a_change_is_told_exactly_when_what_is_known_changes(seen: list[list[str]]) -> None:
    endings = HostEndings()

    def known() -> set[str]:
        return {text for text in TEXTS if endings.knows(text)}

    for marked in seen:
        before = known()
        is_changed = endings.count(marked, is_ended=bool(marked))
        assert is_changed or known() == before


@given(st.iterables(st.integers(0, 10_000), max_size=400))
def test_what_is_counted_of_a_host_is_bounded(numbers: Iterable[int]) -> None:
    endings = HostEndings()
    for number in numbers:
        endings.count([f"${number}", f"<{number}"], is_ended=True)
        assert len(endings._counts) <= 2 * MAX_CANDIDATES
