"""A fetched sitemap or feed as the analysis of a page: an outcome of its own, and links.

So entries are treated like links: the site's bounds, the trap rules, the crawl order and the
guard, with their title as anchor and their date in front of their context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from qiaocrawl.discovery.entries import MAX_ENTRIES, EntryList
from qiaocrawl.discovery.feeds import parse_feed
from qiaocrawl.discovery.sitemaps import parse_sitemap
from qiaocrawl.discovery.xml_records import GZIP_MAGIC, WellFormed, document_in, unpacked
from qiaocrawl.items import FetchedPage, Link, Outcome, PageAnalysis, PageText
from qiaocrawl.page.links import MAX_ANCHOR_CHARS
from qiaocrawl.urls import canonical_host, canonical_url, looks_like_file, url_key

SITEMAP_TAG, FEED_TAG, ENTRY_TAG = "sitemap", "feed", "entry"
"""``Link.tag`` of a sitemap, of a feed, and of a page that one of them lists."""
MAX_CONTEXT_CHARS = 120
# Looked at first, and where comments or declarations fill that.
_HEAD_BYTES, _LONG_HEAD_BYTES = 4_096, 256 * 1024
# A page says so at once: most of what is fetched is one.
_PAGE = re.compile(
    rb"(?:<\?xml\s[^<>]{0,200}>\s{0,9})?<(?:!doctype\s{1,9}html|html|head|body|meta)\b",
    re.IGNORECASE,
)
_BLANKS = b" \t\r\n\xef\xbb\xbf"
# "<urlset", "<rss", "<rdf:RDF", with or without a prefix; "<channel" without its "<rss".
_ROOT = re.compile(
    r"<(?:[\w.-]{1,20}:)?(urlset|sitemapindex|rss|feed|rdf|channel)[\s>/]", re.IGNORECASE
)
_ANY_ROOT = re.compile(r"<[A-Za-z_]")
_SITEMAP_ROOTS = ("urlset", "sitemapindex")
# Two URLs on lines of their own, or a single one: other text may begin with an address too.
_URL_LINE = re.compile(r"https?://[^\s<>]{3,2000}[ \t]*(?:[\r\n]\s*https?://|\s*$)", re.IGNORECASE)
# What says nothing of a text, or that it is one.
_PLAIN_TYPES = ("", "text/plain", "application/octet-stream", "binary/octet-stream")
# Lowest date first: it is what a row's context begins with.
_DATED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


def url_source_kind(body: bytes, content_type: str) -> Outcome | None:
    """SITEMAP or FEED where *body* is one, by its first element; None for everything else.

    A text is a sitemap where it begins with lines of URLs and is served as plain text, or without
    a type that says what it is.
    """
    if _PAGE.match(body[:_HEAD_BYTES].lstrip(_BLANKS)):
        return None
    written = ""
    for size in (_HEAD_BYTES, _LONG_HEAD_BYTES):
        written = _head(body, size)
        # As the reader of feeds and sitemaps reads it.
        text = "".join(WellFormed().of([written])).lstrip()
        root = _ROOT.match(text)
        if root is not None:
            return Outcome.SITEMAP if root[1].lower() in _SITEMAP_ROOTS else Outcome.FEED
        if written[:1] != "<" or _ANY_ROOT.match(text) or len(written) < size // 2:
            break
    # A gzipped list of URLs has no content type that says so.
    kind = content_type.partition(";")[0].strip().lower()
    plain = kind in _PLAIN_TYPES or body.startswith(GZIP_MAGIC)
    return Outcome.SITEMAP if plain and _URL_LINE.match(written) else None


def parse_url_source(page: FetchedPage) -> PageAnalysis | None:
    """The analysis of *page* where it is a sitemap or feed; None where it is none.

    Never an article: its outcome is SITEMAP or FEED, TOO_LARGE for a file that unpacks without
    end before its first entry. A feed's words are its titles.
    """
    kind = url_source_kind(page.body, page.header("content-type"))
    if kind is None:
        return None
    # Addresses in it are relative to where it was found, after redirects.
    url = page.final_url or page.url
    read = parse_sitemap if kind is Outcome.SITEMAP else parse_feed
    listing = read(page.body, page.header("content-type"), url)
    links = tuple(_links(listing, url))
    too_large = not listing.entries and "unpacked" in listing.fault
    # The first thousand: enough for a page scorer.
    titles = "\n".join(entry.title for entry in listing.entries[:1000] if entry.title)
    return PageAnalysis(
        outcome=Outcome.TOO_LARGE if too_large else kind,
        article=None,
        links=links,
        charset="utf-8",
        charset_source="xml",
        reason=_reason(listing, len(links), page),
        page_title=listing.title[:500],
        links_left=listing.left + len(listing.entries) - len(links),
        words=PageText(listing.title, titles) if titles else None,
    )


def entry_moment(context: str) -> datetime | None:
    """When the entry behind a candidate or link with this *context* changed; None if unknown."""
    match = _DATED.match(context)
    return datetime.fromisoformat(match[1]) if match else None


def _head(body: bytes, size: int) -> str:
    """The beginning of the document in *body*, of which only ASCII is sure to be right."""
    head = body[:size]
    if body.startswith(GZIP_MAGIC):
        try:
            head = b"".join(_first_pieces(unpacked(body[:_LONG_HEAD_BYTES]), size))
        except (OverflowError, ValueError):
            return ""
    charset, head = document_in(head)
    text = head.decode(charset if charset.startswith("utf-16") else "latin-1", "replace")
    return text.lstrip("\ufeff \t\r\n")


def _first_pieces(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:size]
        size -= len(piece)
        if size <= 0:
            return


def _links(listing: EntryList, base: str) -> Iterator[Link]:
    own = canonical_url(base)
    is_index = listing.kind == "index"
    place = FEED_TAG if listing.kind in ("rss", "atom", "rdf") else SITEMAP_TAG
    for entry in listing.entries[:MAX_ENTRIES]:
        # An index lists files (.xml.gz) rightly; an entry that is a file is no page.
        if entry.url == own or (not is_index and looks_like_file(entry.url)):
            continue
        # In front of the keywords, where entry_moment() finds it again.
        at = f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if entry.at else ""
        yield Link(
            url=entry.url,
            key=url_key(entry.url),
            host=canonical_host(entry.url),
            anchor=entry.title[:MAX_ANCHOR_CHARS],
            context=f"{at} {entry.keywords}".strip()[:MAX_CONTEXT_CHARS],
            tag=SITEMAP_TAG if is_index else ENTRY_TAG,
            region=place,
        )


def _reason(listing: EntryList, links: int, page: FetchedPage) -> str:
    summary = f"{listing.kind or 'nothing that can be read'}, {links} entries"
    left = f"{listing.left} left" if listing.left else ""
    lost = "the connection was lost before the end of the page" if page.connection_lost else ""
    return "; ".join(filter(None, (summary, left, listing.fault, lost)))
