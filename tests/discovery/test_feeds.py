"""Feeds of every form, and the links pages have to them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.discovery.url_sources import Entry, moment_of, parse_feed, url_source_kind
from qiaocrawl.items import Outcome
from qiaocrawl.page.other_links import feed_links
from qiaocrawl.page.page import parse_page

_AT = datetime(2026, 3, 5, 2, tzinfo=UTC)
_ENTRY = Entry("http://a.test/1.html", _AT, "侨胞", "侨乡 归侨")

RSS = """<?xml version="1.0" encoding="{charset}"?><rss version="2.0"
 xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>侨务 &nbsp; 频道</title><link>http://a.test/</link>
<image><title>x</title><link>/logo</link></image>
<item><media:title>图</media:title><media:content url="/x"/>
<title><![CDATA[侨胞]]></title><link>/1.html?utm_source=rss</link><guid>7</guid>
<category>侨乡</category><category>归侨</category><description>a & b <b>c</b></description>
<pubDate>Thu, 05 Mar 2026 10:00:00 +0800</pubDate></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">侨务</title>
<link rel="self" href="/feed"/><entry><title type="html">侨胞</title><id>tag:a.test,1</id>
<link rel="enclosure" href="/x.mp3"/><link rel="alternate" href="/1.html"/>
<source><title>外</title><updated>1999-01-01T00:00:00Z</updated></source>
<published>2026-03-05T02:00:00Z</published><updated>2026-03-06T02:00:00Z</updated>
<keywords>侨乡 归侨</keywords></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="http://a.test/"><title>侨务</title></channel>
<item rdf:about="http://a.test/1.html"><title>侨胞</title><dc:subject>侨乡</dc:subject>
<dc:subject>归侨</dc:subject><dc:date>2026-03-05T10:00:00+08:00</dc:date></item></rdf:RDF>"""


@pytest.mark.parametrize("charset", ["utf-8", "gb2312"])
def test_rss(charset: str) -> None:
    body = RSS.format(charset=charset).encode("gb18030" if charset == "gb2312" else charset)
    found = parse_feed(body, "", "http://a.test/rss")
    assert (found.kind, found.title, found.entries) == ("rss", "侨务 频道", (_ENTRY,))


@pytest.mark.parametrize(("text", "kind"), [(ATOM, "atom"), (RDF, "rdf")])
def test_atom_and_rdf(text: str, kind: str) -> None:
    found = parse_feed(text.encode(), "application/xml", "http://a.test/feed")
    assert (found.kind, found.title, found.entries) == (kind, "侨务", (_ENTRY,))


def test_newest_first_and_what_has_no_page_is_left() -> None:
    items = "".join(
        f"<item><title>{n}</title><guid>http://a.test/{n}</guid>{date}</item>"
        for n, date in enumerate(
            ("", "<pubDate>2026-03-05 10:00</pubDate>", "<pubDate>2026年3月6日 08:00</pubDate>")
        )
    )
    body = f"<rss><channel>{items}<item><guid>urn:1</guid></item></channel></rss>"
    found = parse_feed(body.encode())
    assert [one.title for one in found.entries] == ["2", "1", "0"]
    assert found.left == 1
    cut = parse_feed(body.encode(), limit=2)
    assert (len(cut.entries), cut.left) == (2, 2)


def _entries(*inside: str) -> list[tuple[str, str, datetime | None]]:
    items = "".join(f"<entry><title>x</title>{one}</entry>" for one in inside)
    found = parse_feed(f"<feed>{items}</feed>".encode(), "", "http://a.test/feeds/1.xml")
    return [(entry.url, entry.keywords, entry.at) for entry in found.entries]


@pytest.mark.parametrize(
    "inside",
    [
        "<link type='application/json' href='/1.json'/><link type='text/html' href='/1.html'/>",
        "<link type='application/atom+xml' href='/1.atom'/><link href=' /1.html '/>",
        "<link rel='replies' type='text/html' href='/c.html'/><link rel='' href='/1.html'/>",
        "<link href=''/><link href='../1.html'/>",
        "<guid isPermaLink='true'>/1.html</guid>",
        "<link>http://feedproxy.test/~r/1</link><b:origLink xmlns:b='http://rssnamespace.org/x'>"
        "http://a.test/1.html?utm_source=feedburner</b:origLink>",
    ],
)
def test_the_link_of_an_entry_is_that_of_its_page(inside: str) -> None:
    assert _entries(inside) == [("http://a.test/1.html", "", None)]


def test_categories_of_atom_are_attributes() -> None:
    inside = """<link href='/1'/><category term='qiaoxiang' label='侨乡'/><category term='归侨'/>
      <category term=' '/><category term='归侨' scheme='http://b.test/'/>"""
    assert _entries(inside) == [("http://a.test/1", "侨乡 归侨", None)]


def test_a_date_nobody_can_read_hides_no_other() -> None:
    dates = "<pubDate>稍后</pubDate><updated>2026-03-05T10:00:00+08:00</updated>"
    assert _entries(f"<link href='/1'/>{dates}") == [("http://a.test/1", "", _AT)]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"<urlset><url/></urlset>", b"\0" * 99])
def test_what_is_no_feed_says_so(body: bytes) -> None:
    found = parse_feed(body)
    assert (found.kind, found.entries) == ("", ())
    assert found.fault


@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    for head in (b"", b"<rss><channel><item><link>", b"<feed><entry><link href='"):
        parse_feed(head + body, "text/xml; charset=big5", "http://a.test/")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026", datetime(2025, 12, 31, 16, tzinfo=UTC)),
        ("2026-03-05T02:00Z", _AT),
        ("Thu, 5 Mar 2026 02:00:00 GMT", _AT),
        ("Thu, 5 Mar 2026 02:00:00 -0000", _AT),
        ("2026-03-05 10:00:00", _AT),
        ("soon", None),
        ("", None),
        ("0001-01-01T00:00:00+08:00", None),
        ("2026年3月5日10时00分", _AT),
    ],
)
def test_moments(written: str, meant: datetime | None) -> None:
    assert moment_of(written) == meant


def test_feeds_a_page_announces() -> None:
    page = parse_page(
        """<head><link rel="stylesheet" type="text/css" href="x.css">
        <link rel="alternate" type="application/rss+xml; charset=x" title="全部" href="/all.xml">
        <link rel="ALTERNATE" type="application/atom+xml" href="a/atom">
        <link rel="alternate" type="application/rss+xml" title="全部评论" href="/c.xml">
        <link rel="alternate" hreflang="en" href="/en/">
        <link rel="alternate" type="application/rss+xml" href="javascript:1"></head>
        <a href="/rss/1.xml">RSS订阅：要闻</a><a href="/map.xml">地图</a><a href="/feed/">订阅</a>
        <a href="/x.html">RSS 是什么</a>""".encode(),
        "text/html; charset=utf-8",
        "http://a.test/i/",
    )
    assert [(link.url, link.anchor, link.tag) for link in feed_links(page)] == [
        ("http://a.test/all.xml", "全部", "feed"),
        ("http://a.test/i/a/atom", "", "feed"),
        ("http://a.test/rss/1.xml", "RSS订阅：要闻", "feed"),
        ("http://a.test/feed/", "订阅", "feed"),
    ]
    other = parse_page(
        """<link rel="feed" href="/f"><link rel="alternate" type="application/x-rss+xml" href="/x">
        <a href="feed://a.test/rss"><img alt="RSS"></a><a href="feed:https://b.test/feed">订阅</a>
        """.encode(),
        "",
        "http://a.test/",
    )
    assert [link.url for link in feed_links(other)] == [
        "http://a.test/f", "http://a.test/x", "http://a.test/rss", "https://b.test/feed",
    ]  # fmt: skip
    many = "".join(f'<link rel="alternate" type="text/xml" href="/{n}">' for n in range(99))
    assert len(feed_links(parse_page(many.encode(), "", "http://a.test/"))) == 20


def _json(**changes: object) -> bytes:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "侨务",
        "items": [
            {
                "id": "1",
                "url": "/1.html?utm_source=rss",
                "title": "侨胞",
                "date_published": "2026-03-05T10:00:00+08:00",
                "tags": ["侨乡", "归侨"],
            }
        ],
    }
    return json.dumps({**feed, **changes}).encode()  # fmt: skip


def test_json_feed() -> None:
    feed = parse_feed(_json(), "application/feed+json", "http://a.test/feed.json")
    assert (feed.kind, feed.title, feed.entries) == ("json", "侨务", (_ENTRY,))
    packed = parse_feed(gzip.compress(_json()), "", "http://a.test/feed.json")
    assert packed.entries == feed.entries
    assert url_source_kind(_json(), "application/json") is Outcome.FEED
    assert url_source_kind(b'{"version": 1, "items": []}', "application/json") is None


def test_blanks_in_a_json_feed_hide_nothing() -> None:
    item = {
        "url": "",
        "external_url": " /1.html ",
        "title": "侨胞",
        "tags": [" 侨乡", "归侨", " ", "归侨"],
    }
    for date in ("", "稍后"):
        dates = {"date_published": date, "date_modified": "2026-03-05T02:00:00Z"}
        feed = parse_feed(_json(items=[{**item, **dates}]), "", "http://a.test/feed.json")
        assert feed.entries == (_ENTRY,)


@pytest.mark.parametrize("items", [None, {}, "1", 7, [None, 7, [], {}, {"url": "mailto:a@b"},
                                   {"id": 5, "url": ["x"], "tags": {"a": 1}}]])  # fmt: skip
def test_what_is_wrong_in_a_json_feed_is_left(items: object) -> None:
    assert parse_feed(_json(items=items)).entries == ()


def test_a_json_feed_may_be_cut_off_or_nested_without_end() -> None:
    assert "no JSON Feed" in parse_feed(_json()[:-9]).fault
    deep = _json(extra=1).replace(b'"extra": 1', b'"extra": ' + b"[" * 100_000)
    assert parse_feed(deep).entries == ()
