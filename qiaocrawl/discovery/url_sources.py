"""A fetched sitemap or feed as the analysis of a page: an outcome of its own, and links.

So entries go the way of links: the site's bounds, the trap rules, the crawl order and the
guard, with their title as anchor and their date in front of their context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from qiaocrawl.discovery.entries import MAX_ENTRIES, EntryList
from qiaocrawl.discovery.feeds import read_feed
from qiaocrawl.discovery.sitemaps import read_sitemap
from qiaocrawl.discovery.xml_records import GZIP_MAGIC, unpacked
from qiaocrawl.items import FetchedPage, Link, Outcome, PageAnalysis, PageText
from qiaocrawl.page.links import MAX_ANCHOR_CHARS
from qiaocrawl.urls import canonical_host, canonical_url, looks_like_file, url_key

SITEMAP_TAG, FEED_TAG, ENTRY_TAG = "sitemap", "feed", "entry"
"""``Link.tag`` of a sitemap, of a feed, and of a page that one of them lists."""
MAX_CONTEXT_CHARS = 120
_HEAD_BYTES = 8_192
_SKIPPED = re.compile(
    rb"\s+|<\?.{0,4000}?\?>|<!--.{0,4000}?-->|<!DOCTYPE[^>\[]{0,500}>", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(rb"<(?:[\w.-]{1,20}:)?(urlset|sitemapindex|rss|feed|rdf)[\s>/]", re.IGNORECASE)
_SITEMAP_ROOTS = (b"urlset", b"sitemapindex")
_URL_LINE = re.compile(
    rb"\s*https?://[^\s<>]{3,2000}[ \t]*(?:\r?\n\s*https?://|\s*$)", re.IGNORECASE
)
_BOM = b"\xef\xbb\xbf"
# Lowest date first: it is what a row's context begins with.
_DATED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


def entrance_kind(body: bytes, content_type: str) -> Outcome | None:
    """SITEMAP or FEED where *body* is one, by its first element; None for everything else.

    A text is a sitemap where it is served as plain text and begins with lines of URLs.
    """
    head = _head(body)
    at = 3 if head.startswith(_BOM) else 0
    while (skipped := _SKIPPED.match(head, at)) is not None:
        at = skipped.end()
    root = _ROOT.match(head, at)
    if root is not None:
        return Outcome.SITEMAP if root[1].lower() in _SITEMAP_ROOTS else Outcome.FEED
    plain = content_type.lower().startswith("text/plain") or body.startswith(GZIP_MAGIC)
    return Outcome.SITEMAP if plain and _URL_LINE.match(head, at) else None


def read_entrance(page: FetchedPage) -> PageAnalysis | None:
    """The analysis of *page* where it is a sitemap or feed; None where it is none.

    Never an article: its outcome is SITEMAP or FEED, TOO_LARGE for a file that unpacks without
    end before its first entry. A feed's words are its titles.
    """
    kind = entrance_kind(page.body, page.header("content-type"))
    if kind is None:
        return None
    url = page.final_url or page.url
    read = read_sitemap if kind is Outcome.SITEMAP else read_feed
    found = read(page.body, page.header("content-type"), url)
    links = tuple(_links(found, url))
    too_large = not found.entries and "unpacked" in found.fault
    titles = "\n".join(one.title for one in found.entries[:1000] if one.title)
    return PageAnalysis(
        outcome=Outcome.TOO_LARGE if too_large else kind,
        article=None,
        links=links,
        charset="utf-8",
        charset_source="xml",
        reason=_reason(found, len(links)),
        page_title=found.title[:500],
        links_left=found.left + len(found.entries) - len(links),
        words=PageText(found.title, titles) if titles else None,
    )


def entry_moment(context: str) -> datetime | None:
    """When the entry changed whose candidate or link has this *context*; None if unknown."""
    match = _DATED.match(context)
    return datetime.fromisoformat(match[1]) if match else None


def _head(body: bytes) -> bytes:
    if not body.startswith(GZIP_MAGIC):
        return body[:_HEAD_BYTES]
    try:
        return next(unpacked(body[:_HEAD_BYTES]), b"")[:_HEAD_BYTES]
    except (OverflowError, ValueError):
        return b""


def _links(found: EntryList, base: str) -> Iterator[Link]:
    own = canonical_url(base)
    is_index = found.kind == "index"
    place = FEED_TAG if found.kind in ("rss", "atom", "rdf") else SITEMAP_TAG
    for one in found.entries[:MAX_ENTRIES]:
        if one.url == own or (not is_index and looks_like_file(one.url)):
            continue
        at = f"{one.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if one.at else ""
        yield Link(
            url=one.url,
            key=url_key(one.url),
            host=canonical_host(one.url),
            anchor=one.title[:MAX_ANCHOR_CHARS],
            context=f"{at} {one.keywords}".strip()[:MAX_CONTEXT_CHARS],
            tag=SITEMAP_TAG if is_index else ENTRY_TAG,
            region=place,
        )


def _reason(found: EntryList, links: int) -> str:
    told = f"{found.kind or 'nothing that can be read'}, {links} entries"
    left = f"{found.left} left" if found.left else ""
    return "; ".join(filter(None, (told, left, found.fault)))
