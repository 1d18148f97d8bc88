"""Entries of an index: headings that lead to other pages of the site, and the text below them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.extract.block_marks import block_marks
from qiaocrawl.extract.entries import (
    Entry,
    Excerpt,
    excerpts_of,
    is_link_to_site,
    is_linked_again,
    page_entries,
    stands_in,
)
from qiaocrawl.page.page import Page, parse_page
from qiaocrawl.text.normalise import letters_of
from qiaocrawl.urls import url_key

URL = "http://www.a.test/list.html"
TEXT = "老码头的工人说，今年的水位比往年高，船要等到月底才能靠岸，大家都在等。"


def page(body: str, url: str = URL, title: str = "河边杂记", head: str = "") -> Page:
    html = f"<meta charset=utf-8><title>{title}</title>{head}<body>{body}"
    return parse_page(html.encode(), "text/html", url)


def heading(address: str, text: str = "水位又高了", tag: str = "h2", name: str = "") -> str:
    return f"<{tag} class='{name}'><a href='{address}'>{text}</a></{tag}>"


def entry(address: str, text: str = TEXT, **options: str) -> str:
    return f"<div>{heading(address, **options)}<p>{text}</p></div>"


def entries(shown: Page, headline: int = -1) -> tuple[Entry, ...]:
    return page_entries(shown, shown.once(block_marks), headline)


def addresses(shown: Page, headline: int = -1) -> list[str]:
    return [found.url.removeprefix("http://www.a.test") for found in entries(shown, headline)]


def test_linked_headings_with_text_below_them_are_entries_in_order() -> None:
    shown = page(entry("/1.html", text=f"甲{TEXT}") + entry("/2.html"))
    first, second = entries(shown)
    assert (first.url, first.title) == ("http://www.a.test/1.html", "水位又高了")
    texts = [block.text for block in shown.blocks.blocks]
    assert texts[first.first : first.end] == ["水位又高了", f"甲{TEXT}"]
    assert texts[second.first : second.end] == ["水位又高了", TEXT]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://b.test/1.html", "another site"),
        ("/", "the first page"),
        ("/index.html", "the first page under its file's name"),
        ("/list.html", "this very page"),
        ("/list", "this page without its ending"),
        ("#top", "a place on this page"),
        ("javascript:void(0)", "no page"),
    ],
)
def test_a_heading_that_leads_to_no_other_page_of_the_site_is_no_entry(
    address: str, why: str
) -> None:
    assert addresses(page(entry(address) + entry("/2.html"))) == ["/2.html"], why


def test_the_headline_of_the_page_is_no_entry_whatever_address_it_leads_to() -> None:
    shown = page(entry("/p/9.html", text=TEXT), title="水位又高了 - 河边杂记")
    assert addresses(shown) == []
    short = page(entry("/p/9.html", text=TEXT), title="又高 - 河边杂记")
    assert addresses(short) == ["/p/9.html"]
    canonical = "<link rel=canonical href='http://www.a.test/p/9.html'>"
    assert addresses(page(entry("/p/9.html"), head=canonical)) == []


def test_headings_of_a_list_without_texts_are_no_entries() -> None:
    assert addresses(page("".join(heading(f"/{n}.html") for n in range(9)))) == []


def test_a_class_that_says_title_makes_a_heading_of_any_element() -> None:
    for name in ("post-title", "headline", "tit", "subject"):
        assert addresses(page(entry("/1.html", tag="div", name=name))) == ["/1.html"], name
    for name in ("item", "titanic"):
        assert addresses(page(entry("/1.html", tag="div", name=name))) == [], name


def test_a_page_without_an_address_has_no_entries() -> None:
    assert entries(page(entry("/1.html"), url="")) == ()


def test_one_linked_heading_among_the_paragraphs_of_a_text_is_a_remark() -> None:
    body = f"<div><h1>老码头的船</h1><p>{TEXT}</p>{{}}<p>{TEXT}</p></div>"
    assert addresses(page(body.format(heading("/1.html"))), headline=0) == []
    two = f"{heading('/1.html')}<p>{TEXT}</p>{heading('/2.html')}"
    assert addresses(page(body.format(two)), headline=0) == ["/1.html", "/2.html"]


def test_an_entry_ends_where_the_next_one_or_the_headline_begins() -> None:
    flat = heading("/1.html") + f"<p>{TEXT}</p>" + heading("/2.html") + f"<p>{TEXT}</p>"
    first, second = entries(page(flat))
    assert (first.block, first.end, second.block, second.end) == (0, 2, 2, 4)
    shown = page(f"{flat}<h1>老码头的船</h1><p>{TEXT}</p>")
    assert [found.end for found in entries(shown, headline=4)] == [2, 4]


def test_a_link_below_the_text_that_leads_there_again_is_seen() -> None:
    for address, again in (("/1.html", True), ("/1", True), ("/2.html", False), ("#x", False)):
        more = f"<p><a href='{address}'>阅读全文</a></p>"
        shown = page(f"<div>{heading('/1.html')}<p>{TEXT}</p>{more}</div>")
        assert is_linked_again(shown, entries(shown)[0], [1]) is again, address
    long = f"<p><a href='/1.html'>{TEXT * 3}</a></p>"
    shown = page(f"<div>{heading('/1.html')}<p>{TEXT}</p>{long}</div>")
    assert not is_linked_again(shown, entries(shown)[0], [1]), "too long for 'read more'"


def test_a_block_leads_to_another_page_of_the_site_or_does_not() -> None:
    shown = page("<p><a href='/1.html'>甲</a></p><p><a href='http://b.test/'>乙</a></p><p>丙</p>")
    assert [is_link_to_site(shown, index) for index in range(3)] == [True, False, False]


def texts_below(*texts: str) -> tuple[Page, list[int]]:
    shown = page("".join(entry(f"/{n}.html", text=text) for n, text in enumerate(texts)))
    below = [i for i, block in enumerate(shown.blocks.blocks) if block.text in texts]
    return shown, below


def test_excerpts_name_the_page_they_are_taken_from_and_their_share_of_the_text() -> None:
    long, short = TEXT * 2, "工人说：水位比往年高了很多，船要等。"
    shown, below = texts_below(short, long)
    first, second = excerpts_of(shown, entries(shown), below)
    assert first.key == url_key("http://www.a.test/1.html"), "the longest first"
    assert second.key == url_key("http://www.a.test/0.html")
    assert first.share == pytest.approx(len(long) / len(long + short))
    assert stands_in(first.sample, letters_of(long))


def test_a_page_with_much_text_of_its_own_has_no_excerpts() -> None:
    lead = "".join(f"<p>第{n}天。{TEXT}</p>" for n in range(3))
    shown = page(f"<div>{lead}</div>" + entry("/1.html") + entry("/2.html"))
    blocks = shown.blocks.blocks
    text = [index for index, block in enumerate(blocks) if len(block.text) > 20]
    assert excerpts_of(shown, entries(shown), text) == []
    assert excerpts_of(shown, entries(shown), text[3:])
    assert excerpts_of(shown, (), text) == excerpts_of(shown, entries(shown), []) == []


def test_a_block_of_a_few_letters_is_no_excerpt() -> None:
    shown, below = texts_below("水位高了——————————————！", TEXT)
    assert [found.key for found in excerpts_of(shown, entries(shown), below)] == [
        url_key("http://www.a.test/1.html")
    ]


def test_an_excerpt_is_known_again_by_its_beginning_and_its_middle() -> None:
    shown, below = texts_below(TEXT * 4)
    (excerpt,) = excerpts_of(shown, entries(shown), below)
    whole = letters_of(TEXT * 4)
    assert isinstance(excerpt, Excerpt)
    assert len(excerpt.sample) == 32 + 24
    assert stands_in(excerpt.sample, f"甲{whole}乙")
    assert not stands_in(excerpt.sample, whole[:40]), "the middle is missing"
    assert not stands_in(excerpt.sample, whole[40:][::-1])


@given(st.text(max_size=300))
def test_letters_are_lower_case_and_without_marks_and_stay_so(text: str) -> None:
    letters = letters_of(text)
    assert letters_of(letters) == letters
    assert letters_of(" ，".join(text)) == letters_of("".join(text))
    assert "_" not in letters
