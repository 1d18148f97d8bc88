"""The seam to feeds: what in them leads to articles."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from qiaocrawl.items import FetchedPage, Link, Outcome, PageAnalysis
from qiaocrawl.text import decode_page
from qiaocrawl.urls import canonical_host, canonical_url, url_key

_MAX_LINKS = 1_000
_START_BYTES = 1_000
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>")


def links_of_feed(page: FetchedPage) -> tuple[Link, ...] | None:
    """The entries of an RSS or Atom feed as links, in its order; None for any other page."""
    if not _looks_like_feed(page):
        return None
    try:
        # Expat knows no Chinese charsets: the bytes are decoded as those of any page.
        source = decode_page(page.body, page.header("content-type")).text
        root = fromstring(_DECLARATION.sub("", source, count=1).encode())
    except (ParseError, DefusedXmlException, ValueError):
        return None
    found: dict[str, str] = {}
    for entry in root.iter():
        if _name(entry) in ("item", "entry"):
            url = canonical_url(_target(entry), page.url)
            if url is not None and len(found) < _MAX_LINKS:
                found.setdefault(url, _text(entry, "title"))
    return tuple(
        Link(url=url, key=url_key(url), host=canonical_host(url), anchor=title[:200], tag="entry")
        for url, title in found.items()
    )


def read_watched_feed(page: FetchedPage) -> PageAnalysis | None:
    """A feed as the pipelines take it; None for any other page."""
    links = links_of_feed(page)
    if links is None:
        return None
    return PageAnalysis(Outcome.FEED, None, links, charset="", charset_source="feed")


def _looks_like_feed(page: FetchedPage) -> bool:
    start = page.body[:_START_BYTES].lower()
    return any(mark in start for mark in (b"<rss", b"<feed", b"<rdf:rdf"))


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def _text(entry: Element, name: str) -> str:
    return next((" ".join((one.text or "").split()) for one in entry if _name(one) == name), "")


def _target(entry: Element) -> str:
    for one in entry:
        if _name(one) == "link" and one.get("rel", "alternate") == "alternate":
            return (one.get("href") or one.text or "").strip()
    return ""
