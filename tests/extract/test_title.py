"""Titles: the heading the page's <title> confirms, without the site's name."""

from __future__ import annotations

import pytest

from qiaocrawl.extract.title import title_of, without_site_name
from qiaocrawl.page import Page, parse_page


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", "https://www.example.com/1.html")


NAME = "侨乡新春联谊会举行"
SITE = '<meta property="og:site_name" content="南桥侨网">'


@pytest.mark.parametrize(
    ("html", "title"),
    [
        # the heading is confirmed by <title>
        (f"<title>{NAME}_新闻_南桥侨网</title><h1>{NAME}</h1>", NAME),
        ("<title>侨乡新春联谊会举行</title><h2> 侨乡新春\n联谊会举行 </h2>", "侨乡新春 联谊会举行"),
        # a logo as h1 is not the title
        (f"{SITE}<title>{NAME} - 南桥侨网</title><h1>南桥侨网</h1>", NAME),
        # the site's name is known or repeated
        (f"{SITE}<title>侨批展开幕|南桥侨网</title>", "侨批展开幕"),
        ("<title>侨批展开幕_要闻_南桥日报</title>\n<a>要闻</a>\n<p>南桥日报</p>", "侨批展开幕"),
        # a dash that belongs to the title
        ("<title>中国队4-0获胜</title>", "中国队4-0获胜"),
        ("<title>GPT-2 与侨刊整理</title>", "GPT-2 与侨刊整理"),
        ("<title>归来 - 一位侨领的半生</title>", "归来 - 一位侨领的半生"),
        # other witnesses
        ('<meta property="og:title" content="侨批展幕"><title>侨批展幕 桥</title>', "侨批展幕"),
        ('<script type="application/ld+json">{"headline": "侨批展开幕"}</script>', "侨批展开幕"),
        ("<h1>侨批展今日开幕</h1>", "侨批展今日开幕"),
        ("<p>没有题目</p>", ""),
    ],
)  # fmt: skip
def test_title(html: str, title: str) -> None:
    assert title_of(page_of(html)) == title


def test_parts_are_cut_only_where_they_are_names() -> None:
    page = page_of("<title>甲_乙_丙</title>\n<p>乙</p>\n<p>丙</p>")
    assert without_site_name("甲_乙_丙", page) == "甲"
    assert without_site_name("甲_乙_丁", page) == "甲_乙_丁"
    assert without_site_name("甲_乙_丁", page, frozenset(["丁"])) == "甲"
    assert without_site_name("", page) == ""


def test_very_long_titles_are_cut() -> None:
    assert len(title_of(page_of(f"<title>{'侨' * 1_000_000}</title>"))) == 300
