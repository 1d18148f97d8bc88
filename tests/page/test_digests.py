"""Digests of blocks: one for the same text in the same kind of place, in every process."""

from __future__ import annotations

from qiaocrawl.page.blocks import element_path
from qiaocrawl.page.page import parse_page


def digests(html: str) -> list[int]:
    found: list[int] = parse_page(html.encode("utf-8", "surrogatepass")).block_digests.tolist()
    return found


def test_text_and_place_both_count() -> None:
    one, again, other, elsewhere, tag = digests(
        "<div class=a><p>版权所有</p><p>版权所有</p><p>版权共有</p></div>"
        "<div class=b><p>版权所有</p></div><div class=a><h2>版权所有</h2></div>"
    )
    assert one == again
    assert len({one, other, elsewhere, tag}) == 4


def test_white_space_and_numbers_of_pages_do_not_count() -> None:
    first, second, third = digests(
        "<div id=post-17><p>报料热线  全天\t接听</p></div>"
        "<div id=post-18><p>报料热线 全天 接听</p></div>"
        "<div id=post-18><div><div><p>报料热线 全天 接听</p></div></div></div>"
    )
    assert first == second == third


def test_digests_are_the_same_everywhere() -> None:
    # Stored templates hold them: another value needs another VERSION of templates.
    assert digests("<div class=x><p>一</p></div>") == [10380241880753007853]


def test_places_read_like_css() -> None:
    elements = parse_page(
        b'<div class="Entry Content" id=c-12><p>a</p><div><span>b</span></div></div>'
    ).blocks.elements
    assert [element_path(elements, at) for at in range(len(elements))] == [
        "body",
        "div.entry.content.c-0",
        "div.entry.content.c-0 > p",
        "div.entry.content.c-0 > div",
    ]


def test_hostile_markup_is_no_matter() -> None:
    assert digests("") == []
    assert len(digests("<div>" * 3000 + "x")) == 1
    assert len(digests(f'<p class="{"9 " * 100_000}">\ud800 \x00')) == 1
