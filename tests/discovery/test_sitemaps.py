"""Sitemaps of every form, and bytes that want to hurt (faults F-R1, F-R13)."""

from __future__ import annotations

import gzip
import resource
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.discovery.url_sources import (
    Entry,
    entry_moment,
    parse_sitemap,
    parse_url_source,
    robots_sitemaps,
    url_source_kind,
)
from qiaocrawl.items import FetchedPage, Outcome

_HEAD = (
    b'<?xml version="1.0" encoding="UTF-8"?><urlset'
    b' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    b' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    b' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)
_BASE = "http://a.test/sitemap.xml"


def page(body: bytes, content_type: str = "", url: str = _BASE) -> FetchedPage:
    headers = (("content-type", content_type),)
    return FetchedPage(url, url, 200, headers, body, datetime(2026, 3, 5, tzinfo=UTC))


def urls(body: bytes, content_type: str = "") -> list[str]:
    return [one.url for one in parse_sitemap(body, content_type, _BASE).entries]


@pytest.mark.parametrize(
    "broken",
    [
        "<url><loc>/x</loc>",
        "<url><loc>/x</url>",
        "<url><loc>/x</loc></foo></url>",
        "<url><loc>/x</loc><foo></url>",
        "<url><loc>/x</loc></urlset></url>",
        "<url><loc>/x</loc>]]></url>",
        "<url><loc>/x<lastmod>2026</lastmod></url>",
        "<url id=1><loc>/x</loc></url>",
    ],
)
def test_a_broken_page_of_a_sitemap_takes_no_other_along(broken: str) -> None:
    sound = [f"<url><loc>/{n}</loc></url>" for n in range(3)]
    body = _HEAD + f"{sound[0]}{broken}{sound[1]}{broken * 300}{sound[2]}</urlset>".encode()
    assert sorted(urls(body)) == [f"http://a.test/{name}" for name in ("0", "1", "2", "x")]


def test_a_news_sitemap_with_all_its_fields() -> None:
    body = (
        _HEAD
        + (
            "<url><loc> http://a.test/old.html#x </loc><lastmod>2024-01</lastmod></url>"
            "<url><loc>http://a.test/new.html</loc><lastmod>2001-01-01</lastmod>"
            "<image:image><image:loc>http://a.test/x.jpg</image:loc></image:image><news:news>"
            "<news:publication_date>2026-03-05T10:00:00+08:00</news:publication_date>"
            "<news:title>侨胞 &amp; 侨乡</news:title>"
            "<news:keywords>华侨</news:keywords></news:news>"
            "</url><url><loc>/relative.html</loc></url><url><loc>ftp://a.test/x</loc></url>"
            "<url><loc>http://a.test/new.html</loc></url></urlset>"
        ).encode()
    )
    found = parse_sitemap(body, "text/xml", _BASE)
    assert found.kind == "pages"
    assert found.left == 1
    assert found.entries == (
        Entry("http://a.test/new.html", datetime(2026, 3, 5, 2, tzinfo=UTC), "侨胞 & 侨乡", "华侨"),
        Entry("http://a.test/old.html", datetime(2023, 12, 31, 16, tzinfo=UTC)),
        Entry("http://a.test/relative.html"),
    )


@pytest.mark.parametrize("charset", ["utf-8", "gb2312", "big5", "utf-16"])
def test_charsets_are_those_declared(charset: str) -> None:
    codec = {"gb2312": "gb18030", "big5": "big5hkscs"}.get(charset, charset)
    text = (
        f'<?xml version="1.0" encoding="{charset}"?><urlset xmlns:news="x/sitemap-news/0.9">'
        "<url><loc>http://a.test/1</loc><news:news><news:title>僑鄉</news:title></news:news>"
        "</url></urlset>"
    )
    assert parse_sitemap(text.encode(codec)).entries[0].title == "僑鄉"


def test_an_index_text_and_gzip() -> None:
    index = b"<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap><url><loc>/no</loc></url>"
    found = parse_sitemap(index + b"</sitemapindex>", "", _BASE)
    assert (found.kind, [one.url for one in found.entries]) == ("index", ["http://a.test/1.xml.gz"])
    text = b"\xef\xbb\xbfhttp://a.test/1\r\n\r\nhttp://a.test/2\n"
    assert (
        urls(text, "text/plain")
        == urls(gzip.compress(text))
        == ["http://a.test/1", "http://a.test/2"]
    )
    full = _HEAD + b"<url><loc>http://a.test/1</loc></url></urlset>"
    assert urls(gzip.compress(full)) == ["http://a.test/1"]
    half = len(full) // 2
    assert urls(gzip.compress(full[:half]) + gzip.compress(full[half:]) + b"\0" * 9) == [
        "http://a.test/1"
    ]
    cut = parse_sitemap(gzip.compress(full * 50)[:-30])
    assert len(cut.entries) <= 1
    damaged = bytearray(gzip.compress(full))
    damaged[20] ^= 0xFF
    assert isinstance(parse_sitemap(bytes(damaged)).fault, str)
    assert parse_sitemap(b"<html><p>http://a.test/</p></html>").kind == ""


def test_more_entries_than_a_sitemap_may_have_are_counted() -> None:
    body = _HEAD + b"".join(b"<url><loc>http://a.test/%d</loc></url>" % n for n in range(30))
    found = parse_sitemap(body, limit=20)
    assert (len(found.entries), found.left) == (20, 10)


def test_robots_lines() -> None:
    body = (
        b"User-agent: *\nSitemap: http://a.test/1.xml\n SITEMAP :/2.xml # x\nsitemap:\n"
        b"Sitemap: file:///etc/passwd\nSitemap: http://a.test/1.xml\n"
    )
    assert robots_sitemaps(body, "http://a.test/robots.txt") == (
        "http://a.test/1.xml",
        "http://a.test/2.xml",
    )
    assert len(robots_sitemaps(b"".join(b"Sitemap: /%d\n" % n for n in range(999)), _BASE)) == 100


def _bomb(head: bytes, unit: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = unit * 1000
    parts = [packer.compress(head), *(packer.compress(block) for _ in range(times // 1000))]
    return b"".join(parts) + packer.flush()


@pytest.mark.parametrize(
    ("head", "unit", "times"),
    [
        (b"", b"\0" * 100, 600_000),
        (_HEAD, b"<url>", 3_000_000),
        (_HEAD, b"<a/>", 3_000_000),
        (_HEAD + b"<url><loc>", b"a" * 100, 600_000),
        (b"", b"http://a.test/1\n", 1_000_000),
    ],
)
def test_bombs_stay_small(head: bytes, unit: bytes, times: int) -> None:
    body = _bomb(head, unit, times)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = parse_sitemap(body)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert found.fault or found.left
    assert grown_kib <= 64 * 1024
    assert len(found.entries) <= 1


def test_entities_and_outside_references_are_not_followed() -> None:
    laughs = b"".join(b'<!ENTITY %c "%s">' % (c, (b"&%c;" % (c - 1)) * 10) for c in range(98, 110))
    bodies = [
        b'<!DOCTYPE urlset [<!ENTITY a "http://a.test/x">' + laughs + b"]>",
        b'<!DOCTYPE urlset [<!ENTITY m SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE urlset [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]>',
        b'<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd">',
    ]
    for head in bodies:
        found = parse_sitemap(
            head + b"<urlset><url><loc>http://a.test/&m;</loc></url>"
            b"<url><loc>&m;</loc></url></urlset>"
        )
        assert all(len(one.url) < 40 and "root" not in one.url for one in found.entries)


@given(st.binary(max_size=400), st.sampled_from(["", "text/plain; charset=utf-16", "text/xml"]))
def test_no_bytes_raise(body: bytes, content_type: str) -> None:
    for raw in (body, _HEAD + body, b"\x1f\x8b\x08" + body, gzip.compress(_HEAD + body)):
        parse_sitemap(raw, content_type, _BASE)
        parse_url_source(page(raw, content_type))


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (b"<?xml version='1.0'?>\n<!-- a --><?x y?><urlset>", "text/html", Outcome.SITEMAP),
        (b"\xef\xbb\xbf <rss version='2.0'>", "text/html", Outcome.FEED),
        (b"<rdf:RDF xmlns='x'>", "", Outcome.FEED),
        (b"<feed xmlns='a'>", "", Outcome.FEED),
        (gzip.compress(_HEAD, mtime=0), "application/x-gzip", Outcome.SITEMAP),
        (b"http://a.test/1\nhttp://a.test/2\n", "text/plain", Outcome.SITEMAP),
        (b"http://a.test/1\nhttp://a.test/2\n", "text/html", None),
        (b"see http://a.test/1", "text/plain", None),
        (b"<html><feed>", "text/html", None),
        (b"<rssx>", "", None),
        (b"", "", None),
        (b"<!DOCTYPE html><html>", "", None),
        (gzip.compress(b"hello", mtime=0), "", None),
    ],
)
def test_what_is_an_entrance(body: bytes, content_type: str, kind: Outcome | None) -> None:
    assert url_source_kind(body, content_type) is kind


def test_a_sitemap_as_an_analysis() -> None:
    body = _HEAD + (
        b"<url><loc>http://a.test/1.html</loc><lastmod>2026-03-05T02:00:00Z</lastmod></url>"
        b"<url><loc>http://a.test/sitemap.xml</loc></url><url><loc>/x.pdf</loc></url></urlset>"
    )
    analysis = parse_url_source(page(body))
    assert analysis is not None
    assert (analysis.outcome, analysis.article) == (Outcome.SITEMAP, None)
    (link,) = analysis.links
    assert (link.url, link.tag, link.region) == ("http://a.test/1.html", "entry", "sitemap")
    assert entry_moment(link.context) == datetime(2026, 3, 5, 2, tzinfo=UTC)
    assert analysis.links_left == 2
    bomb = parse_url_source(page(_bomb(_HEAD + b"<url><loc>", b"a" * 100, 600_000)))
    assert bomb is not None
    assert bomb.outcome is Outcome.TOO_LARGE
    assert parse_url_source(page(b"<html>")) is None
    assert entry_moment("侨乡") is None
