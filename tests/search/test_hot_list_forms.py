"""Hot lists are read in newsnow's form and in any JSON or page that a small definition tells."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import FetchedPage
from qiaocrawl.search.boards import (
    MOST_ENTRIES,
    NEWSNOW,
    BoardForm,
    boards_in,
    form_from,
    form_record,
    read_board,
)

ANSWER = {
    "status": "cache", "id": "weibo", "updatedTime": 1764400000000,
    "items": [
        {"id": "1", "title": "马德里仓库失火", "url": "https://s.test/weibo?q=1",
         "extra": {"icon": False}},
        {"id": "2", "title": "春节 假期安排", "url": "/q2", "extra": {"info": "312 万"}},
        {"id": "3", "title": "马德里仓库失火", "url": "https://s.test/3"},
        {"id": "4", "title": "", "url": "https://s.test/4"},
        {"id": "5", "title": "新规施行", "mobileUrl": "https://m.s.test/5"},
        {"id": "6", "title": "没有网址"},
    ],
}  # fmt: skip
NESTED = {"data": {"list": [{"word": f"第{n}条", "hot": 100 - n, "to": {"u": f"https://s.test/{n}"}}
                            for n in range(1, 6)]}}  # fmt: skip
LINES = "".join(
    f"<li><i>{n}</i><a href='/t/{n}.html'>热点 {n}</a><em>{n} 万</em></li>" for n in range(1, 5)
)
PAGE = f"<html><ol class=hot>{LINES}</ol><ul><li><a href=/ad>广告</a></ul></html>"


def _page(body: bytes, content_type: str = "application/json", **more: object) -> FetchedPage:
    values: dict[str, object] = {
        "url": "https://boards.test/api/s?id=weibo", "final_url": "https://boards.test/api/s?id=weibo",
        "status": 200, "headers": (("content-type", content_type),), "body": body,
        "fetched_at": datetime.now(UTC), **more,
    }  # fmt: skip
    return FetchedPage(**values)  # type: ignore[arg-type]


def test_the_form_of_newsnow_needs_no_definition() -> None:
    read = read_board(_page(json.dumps(ANSWER).encode()), NEWSNOW)
    assert read.fault == ""
    assert [(one.rank, one.title, one.url, one.heat) for one in read.entries] == [
        (1, "马德里仓库失火", "https://s.test/weibo?q=1", ""),
        (2, "春节 假期安排", "https://boards.test/q2", "312 万"),
        (3, "新规施行", "https://m.s.test/5", ""),
        (4, "没有网址", "", ""),
    ]


def test_any_json_and_any_page_are_read_by_a_small_definition() -> None:
    form = form_from(
        {"format": "json", "each": "data.list", "title": "word", "link": "to.u", "heat": "hot"}
    )
    read = read_board(
        _page(json.dumps(NESTED).encode("gb18030"), "application/json; charset=gbk"), form
    )
    first = read.entries[0]
    assert (first.title, first.url, first.heat) == (
        "第1条", "https://s.test/1", "99",
    )  # fmt: skip
    of_page = BoardForm(format="html", each=("ol.hot li",), title=("a",), link=("a",), heat=("em",))
    read = read_board(_page(PAGE.encode(), "text/html; charset=utf-8"), of_page)
    assert [(one.title, one.url, one.heat) for one in read.entries] == [
        (f"热点 {n}", f"https://boards.test/t/{n}.html", f"{n} 万") for n in range(1, 5)
    ]
    assert form_from(form_record(form)) == form


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "0 entries"),
        (b"<html>login</html>", "0 entries"),
        (b'{"items": []}', "0 entries"),
        (b'{"items": {"title": "x"}}', "0 entries"),
        (b'{"items": [{"title": "a"}, {"title": "b"}]}', "2 entries"),
        (b'{"data": [{"title": "a"}, {"title": "b"}, {"title": "c"}]}', "0 entries"),
        (b"[" * 100_000, "0 entries"),
    ],
)
def test_what_is_no_list_any_more_is_told(body: bytes, fault: str) -> None:
    read = read_board(_page(body), NEWSNOW)
    assert read.entries == ()
    assert fault in read.fault


def test_half_a_list_is_none_and_a_long_one_is_cut() -> None:
    body = json.dumps({"items": [{"title": f"{n}"} for n in range(500)]}).encode()
    assert "connection was lost" in read_board(_page(body, connection_lost=True), NEWSNOW).fault
    assert len(read_board(_page(body), NEWSNOW).entries) == MOST_ENTRIES


@given(st.binary(max_size=300), st.sampled_from(["json", "html", "scripts"]))
def test_no_bytes_raise(body: bytes, page_format: str) -> None:
    form = BoardForm(format=page_format, each=("li",), title=("a",), scripts="script")  # type: ignore[arg-type]
    read_board(_page(body), form)


def test_files_name_every_fault() -> None:
    good = b"""[[board]]
url = "https://boards.test/api/s?id=weibo"
name = "\xe5\xbe\xae\xe5\x8d\x9a"
[[board]]
url = "https://paper.test/hot"
form = {format = "html", each = "ol.hot li", title = ["a", "b"]}
"""
    newsnow, own = boards_in(good, "lists.toml")
    assert (newsnow.name, newsnow.form) == ("微博", NEWSNOW)
    assert own.form.title == ("a", "b")
    for wrong, why in (
        (b"", "board"),
        (b"[[board]]\nname = 'x'", "url"),
        (b"[[board]]\nurl = 'u'\nform = 'toutiao'", "newsnow"),
        (b"[[board]]\nurl = 'u'\nform = {format = 'html', each = 'li['}", "each"),
        (b"[[board", "TOML"),
    ):
        with pytest.raises(ConfigError, match=why):
            boards_in(wrong, "lists.toml")
