"""What stands in a heading beside the title: badges, counters, signs, breaks, escapes."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.extract.fields.heading import joined_lines, without_badges, without_escapes
from qiaocrawl.page.page import parse_page
from qiaocrawl.text.normalise import collapse

NAME = "归侨子弟重走侨批之路"


def heading(inner: str, *witnesses: str) -> str:
    node = LexborHTMLParser(f"<h1>{inner}</h1>").css_first("h1")
    assert node is not None
    return without_badges(collapse(node.text()), node, witnesses)


@pytest.mark.parametrize(
    "inner",
    [
        f"<i>多图</i>{NAME}",
        f"{NAME}<em>视频</em>",
        f"<b>独家</b>{NAME}<small>评论</small>",
        f"<span><u>新</u>{NAME}</span>",
        f"{NAME}<small>——记一次寻根之旅</small>",
        f"{NAME}<a href='javascript:;'>听新闻</a>",
    ],
)
def test_what_a_witness_lacks_in_an_element_of_its_own_is_no_title(inner: str) -> None:
    assert heading(inner, f"{NAME}_桥边侨网") == NAME
    # Where the witness has all of it, it is the title.
    whole = collapse(LexborHTMLParser(inner).text())
    assert heading(inner, whole) == whole


@pytest.mark.parametrize(
    "inner",
    [
        f"<span class=tag>原创</span>{NAME}",
        f"{NAME}<label class=badge-hot>热</label>",
        f"{NAME}（点击：1024）",
        f"{NAME}<small>（阅读 1.2万）</small>",
        f"{NAME}<span>浏览：88次</span>",
        f'{NAME}<a class=headerlink href="#x">¶</a>',
        f'<a href="#x">#</a> {NAME}',
        f'{NAME}<a href="#x">Permalink</a>',
        f"{NAME} ¶",
    ],
)
def test_some_parts_are_known_by_their_form(inner: str) -> None:
    assert heading(inner) == NAME


@pytest.mark.parametrize(
    "inner",
    [
        f"<b>原创</b>{NAME}",
        f"{NAME}<i>上</i>",
        f"{NAME}（上）",
        "归侨学习 <code>C#</code>",
        f"{NAME} <span>【16:15】</span>",
        f'<a href="/1.html#top">{NAME}</a>',
        f"<span class=title>{NAME}</span>",
    ],
)
def test_other_parts_stay(inner: str) -> None:
    assert heading(inner) == collapse(LexborHTMLParser(inner).text())


@pytest.mark.parametrize(
    ("inner", "whole", "text"),
    [
        ("归侨子弟<br>重走侨批之路", "", "归侨子弟重走侨批之路"),
        ("归侨子弟<br>重走侨批之路", "归侨子弟 重走侨批之路_侨网", "归侨子弟 重走侨批之路"),
        # a couplet, unless <title> writes it as one
        ("重走侨批之路<br>同叙桑梓之情", "侨网", "重走侨批之路 同叙桑梓之情"),
        ("重走侨批之路<br>同叙桑梓之情", "重走侨批之路同叙桑梓之情", "重走侨批之路同叙桑梓之情"),
        ("The long<br>way home", "", "The long way home"),
        ("<p>归侨子弟</p><p>重走侨批之路</p>", "", "归侨子弟 重走侨批之路"),
    ],
)
def test_lines_of_a_heading(inner: str, whole: str, text: str) -> None:
    page = parse_page(f"<div>{inner}</div>".encode(), "text/html; charset=utf-8")
    assert joined_lines(page.blocks.blocks, whole) == text


def test_marks_escaped_twice_are_read_unless_the_page_is_about_them() -> None:
    assert without_escapes("侨商&amp;侨眷谈&quot;返乡&quot;", []) == '侨商&侨眷谈"返乡"'
    assert without_escapes("写作 &nbsp; 的用法", ["在源码里写 &nbsp; 便得一个空格"]) == (
        "写作 &nbsp; 的用法"
    )
    assert without_escapes("R&D in 2024; a review", []) == "R&D in 2024; a review"
