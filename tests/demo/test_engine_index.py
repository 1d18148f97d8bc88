"""The index behind the demo's search engines: what matches, what comes first, what is stale."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.demo.engine_index import (
    EngineIndex,
    IndexedPage,
    draw,
    indexed_pages,
    on_site,
    text_units,
)
from qiaocrawl.demo.model import DemoPage, Gold, Kind
from qiaocrawl.text.normalise import fold


def page(number: int, title: str, text: str = "", host: str = "a.test") -> IndexedPage:
    url = f"http://{host}/{number}"
    return IndexedPage(url, host, title, text, None, fold(f"{title} {text}"))


def found(index: EngineIndex, words: str, site: str = "") -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in index.search(words, site)]


@pytest.mark.parametrize(
    ("folded", "units"),
    [
        ("归侨回乡", ["归侨", "侨回", "回乡"]),
        ("侨", ["侨"]),
        ("covid 19归侨", ["covid", "19", "归侨"]),
        ("归侨，回乡", ["归侨", "回乡"]),
        ("_ -", []),
    ],
)
def test_a_text_is_bigrams_of_han_and_whole_latin_words(folded: str, units: list[str]) -> None:
    assert text_units(folded) == units


def test_a_page_matches_when_it_holds_all_units_of_the_query() -> None:
    index = EngineIndex([page(1, "归侨回乡"), page(2, "归侨座谈"), page(3, "乡村")])
    assert sorted(found(index, "归侨")) == ["1", "2"]
    assert found(index, "归侨 回乡") == ["1"]
    assert found(index, "归侨 乡村") == []
    assert found(index, "歸僑回鄉") == ["1"], "traditional words find simplified pages"
    assert found(index, "") == found(index, "！") == []


def test_a_word_in_the_title_counts_three_times() -> None:
    filler = "码头消息" * 3
    index = EngineIndex([page(1, filler, f"归侨 归侨 {filler}"), page(2, f"归侨 {filler}", filler)])
    assert found(index, "归侨") == ["2", "1"]


def test_of_pages_of_equal_score_the_first_address_comes_first() -> None:
    index = EngineIndex([page(number, "归侨回乡") for number in (3, 1, 2)])
    assert found(index, "归侨") == ["1", "2", "3"]


def test_a_short_page_comes_before_a_long_one_that_says_it_as_often() -> None:
    index = EngineIndex([page(1, "码头", "归侨" + "水位又高" * 30), page(2, "码头", "归侨")])
    assert found(index, "归侨") == ["2", "1"]


def test_hits_of_a_site_are_on_its_host_or_below_it() -> None:
    index = EngineIndex([page(1, "归侨", host="a.test"), page(2, "归侨", host="news.a.test"),
                         page(3, "归侨", host="ba.test")])  # fmt: skip
    assert sorted(found(index, "归侨", "a.test")) == ["1", "2"]
    assert on_site("news.a.test", "a.test")
    assert not on_site("ba.test", "a.test")


def test_unrelated_pages_hold_no_unit_of_the_query_and_are_always_the_same() -> None:
    pages = [page(number, "归侨" if number % 2 else "码头") for number in range(20)]
    index = EngineIndex(pages)
    chosen = index.unrelated_pages("归侨", 4)
    assert {hit.title for hit in chosen} == {"码头"}
    assert [hit.url for hit in chosen] == [
        hit.url for hit in EngineIndex(reversed(pages)).unrelated_pages("归侨", 4)
    ]
    assert len(index.unrelated_pages("归侨", 99)) == 10


def test_an_empty_index_answers_nothing() -> None:
    assert EngineIndex([]).search("归侨") == EngineIndex([]).unrelated_pages("归侨", 3) == []


def demo_page(path: str, **fields: object) -> tuple[tuple[str, str], DemoPage]:
    gold = replace(Gold(f"http://a.test{path}", Kind.ARTICLE, "utf-8", "归侨", "正文"), **fields)  # type: ignore[arg-type]
    return ("a.test", path), DemoPage(200, (), b"", gold)


def test_an_engine_knows_what_robots_may_read_and_has_a_title() -> None:
    rows = dict([
        demo_page("/1"), demo_page("/2", robots_allowed=False), demo_page("/3", title=""),
        demo_page("/4", kind=Kind.ROBOTS), demo_page("/5", kind=Kind.LOGIN_WALL),
        demo_page("/6", kind=Kind.SHELL), demo_page("/7", kind=Kind.LIST),
    ])  # fmt: skip
    rows["a.test", "/8"] = DemoPage(200, (), b"")
    texts = {known.url.rpartition("/")[2]: known.text for known in indexed_pages(rows)}
    assert texts == {"1": "正文", "5": "", "6": "", "7": "正文"}


def test_every_twentieth_page_is_remembered_where_it_no_longer_is() -> None:
    rows = dict(demo_page(f"/{number}?p=1") for number in range(400))
    known = indexed_pages(rows)
    gone = [row.url for row in known if row.url.startswith("http://a.test/old/")]
    assert 8 <= len(gone) <= 35
    assert not any("?" in url for url in gone)


@given(st.text(), st.integers(1, 1000))
def test_a_draw_depends_on_its_parts_alone(part: str, sides: int) -> None:
    assert 0 <= draw(part, 1, sides=sides) == draw(part, "1", sides=sides) < sides


def test_draws_fall_on_all_sides_alike() -> None:
    counts = Counter(draw("x", number, sides=5) for number in range(2000))
    assert all(330 < counts[side] < 470 for side in range(5))


words = st.text(st.sampled_from("归侨回乡a "), max_size=6)


@given(st.lists(words, max_size=8), words)
def test_search_finds_exactly_what_a_look_at_every_page_finds(
    titles: list[str], query: str
) -> None:
    index = EngineIndex([page(number, title) for number, title in enumerate(titles)])
    wanted = set(text_units(fold(query)))
    by_hand = [
        str(number) for number, title in enumerate(titles)
        if wanted and wanted <= set(text_units(fold(f"{title} ")))
    ]  # fmt: skip
    assert sorted(found(index, query), key=int) == by_hand
