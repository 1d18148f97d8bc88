"""Searches through the joined texts and names of a page's blocks."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.block_texts import SHORT_CHARS, BlockTexts, enclosing, lines_with
from qiaocrawl.page.page import Page, parse_page

LONG = "侨乡的正文有许多话要说，" * 20


def page_of(body: str) -> Page:
    return parse_page(f"<body>{body}".encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("whole", "words", "lines"),
    [
        ("", ("评论",), []),
        ("首页\n评论\n正文\n全部评论 回复", ("评论",), [1, 3]),
        ("首页\n评论\n正文\n全部评论 回复", ("回复", "首页"), [0, 3]),
        ("评论 评论\n正文", ("评论", "论"), [0]),
        ("正文", (), []),
    ],
)
def test_lines_with(whole: str, words: tuple[str, ...], lines: list[int]) -> None:
    assert lines_with(whole, words) == lines


def test_only_short_blocks_are_searched() -> None:
    texts = page_of(f"<p>{LONG}评论</p><p>首页</p><p>网友评论</p>").once(BlockTexts)
    assert len(texts.texts[0]) > SHORT_CHARS
    assert texts.short == "首页\n网友评论"
    assert texts.short_with(("评论",)) == [2]
    assert texts.short_with(("回复",)) == []
    assert texts.lines >= {"首页", "网友评论"}


def test_elements_by_their_names_whatever_white_space_these_have() -> None:
    page = page_of("<div class='a\n  title'><p>甲</p></div><div id=crumbs>乙</div><p>丙</p>")
    elements = page.blocks.elements
    found = page.once(BlockTexts).elements_named("title", "crumb")
    assert [elements[index].names.split()[-1] for index in found] == ["title", "crumbs"]
    assert page.once(BlockTexts).elements_named("comment") == []


@pytest.mark.parametrize(
    "body",
    [
        "<p>一</p><div><section><p>二</p></section><p><img src=a.jpg></p><p>三</p></div>",
        "<div><p>一</p>二<ul><li>三</li></ul></div>四",
        "一<br>二<div>三</div><div></div><div><img src=b.jpg></div>",
        "",
    ],
)
def test_elements_that_begin_until_a_block(body: str) -> None:
    page = page_of(body)
    elements, texts = page.blocks.elements, page.once(BlockTexts)
    for block in range(-1, len(page.blocks.blocks) - 1):
        until = texts.elements_until(block)
        assert until == sum(element.first <= block for element in elements)
    assert texts.elements_until(len(page.blocks.blocks)) == len(elements)


def test_elements_around_a_block_innermost_first() -> None:
    page = page_of("<main><section><p>一</p></section></main>")
    innermost = page.blocks.blocks[0].element
    tags = [page.blocks.elements[i].tag for i in enclosing(page.blocks, innermost, 3)]
    assert tags == ["p", "section", "main"]
    assert enclosing(page.blocks, -1, 3) == []
