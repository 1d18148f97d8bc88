"""Feeds as lists of links."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from qiaocrawl.items import FetchedPage, Outcome
from qiaocrawl.watching.feeds import links_of_feed, read_watched_feed

_RSS = """<?xml version="1.0" encoding="gb2312"?><rss version="2.0"><channel><title>侨网</title>
<link>http://www.qiao.test/</link><item><title>侨胞 回乡</title><link>/a.html</link></item>
<item><title>二</title><link>http://www.qiao.test/b.html</link></item></channel></rss>"""
_ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>一</title>
<link rel="enclosure" href="/x.mp3"/><link href="/a.html"/></entry></feed>"""
_BOMB = """<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rss><channel><item>
<title>&b;</title><link>/a.html</link></item></channel></rss>"""


def page(body: bytes) -> FetchedPage:
    url = "http://www.qiao.test/rss.xml"
    return FetchedPage(url, url, 200, (), body, datetime.now(UTC))


def test_rss_and_atom_are_read() -> None:
    links = links_of_feed(page(_RSS.encode("gb2312")))
    assert links is not None
    assert [(one.url, one.anchor) for one in links] == [
        ("http://www.qiao.test/a.html", "侨胞 回乡"), ("http://www.qiao.test/b.html", "二"),
    ]  # fmt: skip
    (link,) = links_of_feed(page(_ATOM.encode())) or ()
    assert link.url == "http://www.qiao.test/a.html"
    analysis = read_watched_feed(page(_ATOM.encode()))
    assert analysis is not None
    assert analysis.outcome is Outcome.FEED


@pytest.mark.parametrize("body", [
    b"", b"<html><body>no feed</body></html>", b"<rss><broken", _BOMB.encode(),
])  # fmt: skip
def test_what_is_no_feed_is_left_to_others(body: bytes) -> None:
    assert links_of_feed(page(body)) is None
