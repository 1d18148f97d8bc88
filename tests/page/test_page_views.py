"""A page's views: title, meta, JSON-LD, refresh, canonical link, robots."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.page.page import Page, parse_page

URL = "https://www.example.com/news/1.html"


def page_of(html: str) -> Page:
    return parse_page(html.encode(), "text/html; charset=utf-8", URL)


def test_meta_takes_the_first_of_a_name_whatever_its_kind() -> None:
    page = page_of(
        '<meta name="Keywords" content=" 侨务,\n 侨乡 "><meta name=keywords content=b>'
        '<meta property="og:title" content="题"><meta itemprop=datePublished content=2024-03-05>'
        "<meta name=empty content=''><meta charset=utf-8>"
    )
    assert page.meta == {"keywords": "侨务, 侨乡", "og:title": "题", "datepublished": "2024-03-05"}


def test_title_is_one_line_and_the_first() -> None:
    assert page_of("<title>\n 侨务\t新闻 </title><svg><title>图</title></svg>").title == "侨务 新闻"
    assert page_of("<p>无题</p>").title == ""


def test_json_ld_is_read_graphs_opened_and_nonsense_skipped() -> None:
    good = {"@graph": [{"@type": "NewsArticle", "headline": "题"}, 5]}
    html = (
        f'<script type="application/ld+json">{json.dumps(good)}</script>'
        '<script type="application/ld+json">{not json}</script>'
        '<script type="application/ld+json">{"headline": "行\n断"}</script>'
        f'<script type="application/ld+json">{"[" * 100_000}</script>'
        f'<script type="application/ld+json">{"1" * 5000}</script>'
        "<script>var a = {}</script>"
    )
    page = page_of(html)
    assert [item.get("headline") for item in page.json_ld] == [None, "题", "行\n断"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/b.html", "https://www.example.com/b.html"),
        ("3;URL='http://example.org/x'", "http://example.org/x"),
        ("0;/c", "https://www.example.com/c"),
        ("600", ""),
        ("5; url=", ""),
        ("0; url=file:///etc/passwd", ""),
        ("0; url=1.html", ""),
    ],
)
def test_meta_refresh(content: str, target: str) -> None:
    assert page_of(f'<meta http-equiv="Refresh" content="{content}">').refresh_url == target


def test_canonical_link_is_resolved() -> None:
    assert page_of('<link rel="Canonical" href="2.html?utm_source=x">').canonical_link == (
        "https://www.example.com/news/2.html"
    )
    assert page_of("<link rel=stylesheet href=a.css>").canonical_link == ""


def test_lines_are_those_of_the_source_or_blocks_where_it_has_none() -> None:
    page = page_of("<p>甲\n乙</p>\n<script>\nvar a = 1;\n</script>丙")
    assert page.lines.texts == ["甲", "乙", "", "", "丙"]
    minified = "<div>" + "".join(f"<p>第{i}段<b>正</b>文</p>" for i in range(300)) + "</div>"
    assert page_of(minified).texts[:2] == ["第0段正文", "第1段正文"]


@given(
    st.binary(max_size=300) | st.text(alphabet="<>/ab!-='\"& \n侨", max_size=120).map(str.encode)
)
@settings(deadline=None)
def test_every_view_of_any_bytes(body: bytes) -> None:
    page = parse_page(b"<title>a" + body, "", URL)
    assert len(page.lines.texts) == len(page.lines.text_bytes) == len(page.lines.all_bytes)
    assert isinstance(page.title + page.canonical_link + page.refresh_url + page.base_url, str)
    for link in page.links(20):
        link.anchor.encode()
    assert isinstance(page.meta, dict)
    assert isinstance(page.json_ld, list)
