"""``extract_article``: what it gives for a page, and that no bytes hurt it."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_pages import HOSTILE, hostile_and_methods
from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.api import LIMITS, MAX_BODY_BYTES, extract_article
from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.extraction import Extraction, PageKind
from qiaocrawl.extract.page import analyse_html, without_title_line
from qiaocrawl.items import FetchedPage

ROOT = Path(__file__).resolve().parents[2]
# Nothing is imported yet when all begin.
AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from qiaocrawl.extract import extract_article

gate = Barrier(8)

def read(number):
    gate.wait()
    return extract_article(b"<h1>a</h1><p>b</p>", url=f"https://a.cn/{number}.html").method

with ThreadPoolExecutor(8) as threads:
    print(*threads.map(read, range(8)))
"""
TITLE = "归侨合唱团三十年：歌声里的乡音"
PARAGRAPHS = (
    "三月五日傍晚，泉州市归侨合唱团在老文化宫的排练厅里唱起了《鼓浪屿之波》。这一天，合唱团成立三十年。",
    "团长陈素英今年七十二岁，1960年随父母从印度尼西亚回国。她说，刚来的时候听不懂闽南话，是歌把大家拉到了一起。",
    "合唱团现有团员四十六人，来自九个国家。每周二、周五晚上排练两个小时，三十年来几乎没有间断。",
)
PAGE = f"""<!doctype html><html lang="zh-CN"><head><meta charset="utf-8">
<title>{TITLE}_侨乡网</title><meta name="keywords" content="归侨,合唱团"></head><body>
<div class="nav"><a href="/">首页</a> <a href="/news/">新闻</a> <a href="/qiao/">侨务</a></div>
<div class="main"><h1>{TITLE}</h1>
<div class="info">2024-03-06 09:30　来源：侨乡网　作者：林小燕</div>
<div class="content">
<p>{PARAGRAPHS[0]}</p>
<p>{PARAGRAPHS[1]}</p>
<p>{PARAGRAPHS[2]}</p>
</div></div>
<div class="foot">版权所有 侨乡网</div></body></html>"""
URL = "https://www.qiaoxiang.example/2024/0306/12345.html"
METHODS = extractors.names()
_BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def texts(value: Any) -> Iterator[str]:
    """All texts in a field."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from texts(part)


def check(found: Extraction, method: str = "density") -> None:
    """What holds for every result, whatever the page."""
    assert found.method == method
    assert isinstance(found.page_kind, PageKind)
    assert 0 <= found.confidence <= 1
    assert found.published_at is None or found.published_at.tzinfo is not None
    shown = [found.text, found.title, found.source, *found.authors]
    for name, field in found.fields.items():
        assert 0 <= field.confidence <= 1, name
        shown += [*texts(field.value), field.origin]
    assert not any(_BAD.search(text) for text in shown)
    assert pickle.loads(pickle.dumps(found)) == found


def test_an_article() -> None:
    found = extract_article(PAGE.encode(), URL, "text/html", "density")
    check(found)
    assert all(paragraph in found.text.split("\n") for paragraph in PARAGRAPHS)
    assert found.title == TITLE
    assert found.published_at == datetime(2024, 3, 6, 1, 30, tzinfo=UTC)
    assert found.authors == ("林小燕",)
    assert found.source == "侨乡网"
    assert found.page_kind is PageKind.ARTICLE
    assert found.fields["keywords"].value == "归侨,合唱团"
    assert found.fields["language"].value == "zh-Hans"
    assert found.fields["title"].value == found.title
    assert found.fields["published_at"].value == found.published_at
    assert LIMITS not in found.fields
    with pytest.raises(AttributeError):
        found.text = ""  # type: ignore[misc]


def test_a_refresh_header_leads_where_a_meta_would() -> None:
    for written, target in (
        ("0; url=/新.html", "/%E6%96%B0.html"),
        ("5", ""),
        (f"9;url={URL}", ""),
    ):
        header = written.encode().decode("latin-1")
        fetched = FetchedPage(URL, URL, 200, (("refresh", header),), PAGE.encode(),
                              datetime.now(UTC))  # fmt: skip
        assert analyse_html(fetched, "density", 100).refresh_url.endswith(target)
        assert bool(analyse_html(fetched, "density", 100).refresh_url) is bool(target)


def test_the_crawl_reads_the_same() -> None:
    fetched = FetchedPage(URL, URL, 200, (("content-type", "text/html"),), PAGE.encode(),
                          datetime.now(UTC))  # fmt: skip
    article = analyse_html(fetched, "density", 100).article
    found = extract_article(PAGE.encode(), URL, "text/html", "density")
    assert article is not None
    assert (article.text, article.title, article.source) == (found.text, found.title, found.source)
    assert article.published_at == found.published_at
    assert article.published_at.utcoffset() == UTC.utcoffset(None)
    assert article.author == "林小燕"
    assert article.language == "zh-Hans"


def test_an_unknown_method_is_the_callers_mistake() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'density'\? \(there are: .*density"):
        extract_article(PAGE.encode(), method="densty")
    with pytest.raises(ConfigError):
        extract_article(b"", method="")


@pytest.mark.parametrize(("body", "kind"), [("<p>文</p>", "str"), (None, "NoneType")])
def test_what_is_no_bytes_is_the_callers_mistake(body: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"^body must be bytes, got {kind}$"):
        extract_article(body)


@pytest.mark.parametrize("body", [b"", b"   ", b"%PDF-1.7 \xff\xfe", b'{"a": 1}', b"\x00" * 99])
def test_what_is_no_html_gives_an_empty_result_that_says_so(body: bytes) -> None:
    found = extract_article(body, URL, "application/x-\x00", "density")
    check(found)
    assert (found.text, found.confidence, found.page_kind) == ("", 0.0, PageKind.OTHER)
    assert found.fields["page_kind"].origin.startswith("bytes: ")


@pytest.mark.parametrize("url", [
    "", "qiao", "http://", "http://[", "http://a.example:99999999/", "javascript:1",
    "http://例子.example/\ud800", "http://a.example/" + "x/" * 5000, "\x00",
])  # fmt: skip
def test_any_text_will_do_for_a_url(url: str) -> None:
    found = extract_article(PAGE.encode(), url, method="density")
    check(found)
    assert found.title == TITLE


def test_leading_lines_that_repeat_the_title_go() -> None:
    assert without_title_line("标 题\n标题\n正文\n标题", "标题") == "正文\n标题"
    assert without_title_line("标题", "标题") == "标题"
    assert without_title_line("正文", "") == "正文"
    many = "标题\n" * 200_000
    assert without_title_line(f"{many}正文", "标题") == "正文"


# --- nothing is lost silently ------------------------------------------------------------------


@pytest.mark.parametrize(("body", "words"), [
    (PAGE.replace("<div ", "<div " + " ".join(f"a{i}=1" for i in range(9000)) + " ", 1).encode(),
     "attributes past the first"),
    (("<div>" * 20_000 + PAGE).encode(), "nested deeper than"),
    (PAGE.encode() + b" " * MAX_BODY_BYTES, f"only the first {MAX_BODY_BYTES} bytes"),
    (PAGE.encode("gb18030").replace(b"charset=\"utf-8\"", b"charset=gbk")
     .replace("侨".encode("gb18030"), b"\xff\xff"), "could not be decoded"),
])  # fmt: skip
def test_what_may_have_cost_text_is_named(body: bytes, words: str) -> None:
    found = extract_article(body, URL, method="density")
    check(found)
    assert any(words in limit for limit in found.fields[LIMITS].value)


def test_control_characters_and_lone_surrogates_do_not_come_through() -> None:
    dirty = PAGE.replace("归侨", "归\x00侨\x07").replace("合唱团", "合&#xD800;唱&#27;团\ufffe")
    found = extract_article(dirty.encode("utf-8", "surrogatepass"), URL, method="density")
    check(found)
    assert "泉州市" in found.text


# --- no bytes hurt ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "method"), hostile_and_methods(METHODS))
def test_hostile_pages(name: str, method: str) -> None:
    check(extract_article(HOSTILE[name].encode(), URL, "", method), method)


_PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([
        b"<", b">", b"<p>", b"<!--", b"<script>", b"</table><td>", b"<title>", b"<svg><p>", b"\0",
        b"<b><p>", b"<a href='http://['>", b"<base href='//['>", b"&#xD800;", b"<h1>", b"<select>",
        b'<script type="application/ld+json">{"@type":"NewsArticle","author":[null,{"name":[1]}]}',
        b"</script>", b'<meta name=pubdate content="0001-01-01T00:00:00+23:59">', b"<br>" * 30,
        b'<meta charset="utf-16">', b"<time datetime=9999-99-99>", b"<form><input type=password>",
        *map(str.encode, ("来源：", "作者：", "二〇二三年十三月九日", "3小时前", "。", "责编：")),
    ]),
)  # fmt: skip
_METHOD = st.sampled_from(METHODS)


@given(pieces=st.lists(_PIECES, max_size=60), method=_METHOD)
@settings(deadline=None, max_examples=150)
def test_any_pieces_of_markup(pieces: list[bytes], method: str) -> None:
    check(extract_article(b"".join(pieces), URL, "", method), method)


@given(
    cuts=st.lists(st.tuples(st.integers(0, len(PAGE)), st.integers(0, 200), _PIECES), max_size=8),
    charset=st.sampled_from(["utf-8", "gb18030", "utf-16", "big5"]),
    content_type=st.sampled_from(["", "text/html; charset=gbk", "text/html; charset=\x00", "a/b"]),
    method=_METHOD,
)
@settings(deadline=None, max_examples=150)
def test_a_page_with_pieces_cut_out_and_put_in(
    cuts: list[tuple[int, int, bytes]], charset: str, content_type: str, method: str
) -> None:
    body = PAGE.encode(charset, "replace")
    for at, length, piece in cuts:
        body = body[:at] + piece + body[at + length :]
    check(extract_article(body, URL, content_type, method), method)


def test_without_extras_text_and_fields_are_the_same() -> None:
    page = PAGE.replace("</p>", '<a href="/ziliao">资料</a></p>', 1).encode()
    whole, bare = (
        extract_article(page, URL, "text/html", extras=extras) for extras in (True, False)
    )
    assert whole.html
    assert "main_links" in whole.fields
    assert (bare.html, bare.comments, bare.engagement) == ("", (), {})
    fields = {name: field for name, field in whole.fields.items() if name != "main_links"}
    assert replace(whole, html="", comments=(), engagement={}, fields=fields) == bare


def test_threads_that_begin_at_once_all_get_their_page() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ["blend"] * 8, done.stderr
