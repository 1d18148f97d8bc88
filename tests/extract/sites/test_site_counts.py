"""The counts behind one site's template: what each article adds, and what is forgotten when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.extract.sites.boilerplate_model import MAX_SEEN, REDESIGN_PAGES, SiteCounts
from qiaocrawl.extract.sites.site_template import MIN_PAGES, SiteTemplate
from qiaocrawl.items import SiteObservation

HOST = "a.test"


def article(number: int, *blocks: int, title: int = -1, place: str = "div.text", **fields: object
            ) -> SiteObservation:  # fmt: skip
    """Article *number* with blocks of these digests, and a title of its own unless given."""
    digests = np.array(sorted(blocks), "<u8").tobytes()
    return SiteObservation(HOST, number, number if title < 0 else title, digests, place, **fields)  # type: ignore[arg-type]


def taught(number: int, *blocks: int, **fields: object) -> SiteCounts:
    counts = SiteCounts(HOST)
    for page in range(number):
        counts.learn(article(page, *blocks, **fields))  # type: ignore[arg-type]
    return counts


def template(counts: SiteCounts) -> SiteTemplate:
    made = counts.template()
    assert made is not None
    return made


def block_counts(counts: SiteCounts) -> dict[int, int]:
    digests, numbers = template(counts).known_blocks
    return dict(zip(digests.tolist(), numbers.tolist(), strict=True))


def test_there_is_no_template_before_the_fifth_article() -> None:
    counts = taught(MIN_PAGES - 1, 1)
    assert counts.template() is None
    assert not counts.is_unsaved
    counts.learn(article(99, 1))
    assert template(counts).pages == MIN_PAGES
    assert counts.is_unsaved


def test_a_block_counts_once_for_each_title_and_alone_it_is_not_told() -> None:
    counts = taught(4, 7)
    counts.learn(article(10, 7, 8, title=3))
    counts.learn(article(11, 9, title=11))
    assert block_counts(counts) == {7: 4}, "8 and 9 stood there once, and title 3 was known"


def test_an_article_that_was_counted_lately_teaches_nothing() -> None:
    counts = taught(MIN_PAGES, 7)
    assert not counts.learn(article(2, 7, 8))
    assert template(counts).pages == MIN_PAGES
    for number in range(1000, 1000 + MAX_SEEN):
        counts.learn(article(number))
    assert counts.learn(article(2)), "256 others have come since"


def test_while_pages_are_few_a_template_is_new_after_each_and_then_after_every_fourth() -> None:
    counts = taught(31)
    made = template(counts)
    assert template(counts) is made
    counts.learn(article(100))
    changes = []
    for number in range(101, 109):
        before = template(counts)
        counts.learn(article(number))
        changes.append(template(counts) is not before)
    assert changes == [False, False, False, True] * 2


def test_names_count_by_title_and_those_met_once_are_left_out() -> None:
    counts = SiteCounts(HOST)
    for number in range(6):
        names = ("江北晚报", "社会") if number % 2 else ("江北晚报",)
        counts.learn(article(number, names=names))
    counts.learn(article(50, names=("江北晚报", "一次"), title=5))
    assert template(counts).names == (("江北晚报", 6), ("社会", 3))


def test_a_whole_title_counts_on_every_article() -> None:
    counts = SiteCounts(HOST)
    for number in range(6):
        counts.learn(article(number, title=7, names=("=西山片区", "公务网")))
    made = template(counts)
    assert made.names == (("=西山片区", 6),), "a name counts once for the one title they have"
    assert made.site_names == {"西山片区"}


def test_once_a_place_is_settled_others_wait_until_they_are_met_again() -> None:
    counts = taught(REDESIGN_PAGES)
    counts.learn(article(50, place="div.video"))
    assert template(counts).places == (("div.text", 8),)
    assert not counts.is_rebuilt
    counts.learn(article(51, in_known_place=True))
    assert dict(template(counts).places) == {"div.text": 9, "div.video": 1}


def test_eight_articles_in_a_row_that_stand_elsewhere_mean_a_rebuilt_site() -> None:
    counts = taught(REDESIGN_PAGES)
    for number in range(REDESIGN_PAGES - 1):
        counts.learn(article(50 + number, place="div.new"))
    counts.learn(article(60, place="div.new", title=50))
    assert not counts.is_rebuilt, "a title that was met is no sign of anything"
    counts.learn(article(61, place="div.new"))
    assert counts.is_rebuilt
    counts.reset()
    assert (counts.pages, counts.redesigns, counts.is_rebuilt) == (0, 1, False)
    assert counts.template() is None


def test_an_article_without_a_place_says_nothing_of_places() -> None:
    assert template(taught(6, place="")).places == ()


def test_after_128_articles_all_counts_are_halved() -> None:
    counts = taught(127, 7, names=("江北晚报",))
    counts.learn(article(500, 7, 9, names=("江北晚报", "一次")))
    made = template(counts)
    assert made.pages == 64
    assert block_counts(counts) == {7: 64}
    assert (made.places, made.names) == ((("div.text", 64),), (("江北晚报", 64),))


def test_a_contradiction_is_counted_and_stays_when_counts_are_halved() -> None:
    counts = taught(130, contradicts=True)
    assert template(counts).disagreements == 130


def test_a_template_that_is_restored_goes_on_where_it_was() -> None:
    counts = taught(20, 3, 5, names=("江北晚报",))
    again = SiteCounts(HOST)
    again.restore(template(counts))
    assert again.template() == template(counts)
    assert not again.learn(article(7, 3)), "what was seen is stored too"
    for each in (counts, again):
        each.learn(article(200, 3, names=("江北晚报",)))
    assert block_counts(again) == block_counts(counts) == {3: 21, 5: 20}
    assert template(again).places == template(counts).places


pages = st.lists(
    st.tuples(st.integers(0, 40), st.lists(st.integers(0, 30), max_size=6, unique=True)),
    max_size=60,
)


@given(pages)
def test_counts_are_those_of_a_plain_count_by_title(seen: list[tuple[int, list[int]]]) -> None:
    counts, by_hand, urls = SiteCounts(HOST), dict[int, int](), set[int]()
    for number, blocks in seen:
        if counts.learn(article(number, *blocks)):
            assert number not in urls
            by_hand.update((block, by_hand.get(block, 0) + 1) for block in blocks)
        urls.add(number)
    assert counts.pages == len(urls)
    if counts.pages >= MIN_PAGES:
        assert block_counts(counts) == {b: n for b, n in by_hand.items() if n > 1}
        assert template(counts).known_blocks[0].tolist() == sorted(block_counts(counts))


@pytest.mark.parametrize("width", [200])
def test_of_too_many_blocks_those_that_came_once_and_long_ago_go_first(width: int) -> None:
    counts = taught(2, 1, 2, 3)
    for number in range(2, 14):
        counts.learn(article(number, *range(10_000 * number, 10_000 * number + width)))
    assert block_counts(counts) == {1: 2, 2: 2, 3: 2}
    known = counts._rows["digest"].tolist()
    assert len(known) <= 2048
    assert not any(10_000 * 2 <= digest < 10_000 * 2 + width for digest in known)
    assert known == sorted(known)
