"""Feeds, RSS 0.9 to 2.0, RDF and Atom: bytes in, entries out."""

from __future__ import annotations

import html
import re

from qiaocrawl.discovery.entries import Entry, EntryList, moment_of, newest_first
from qiaocrawl.discovery.xml_records import XML_BASE, Record, joined, xml_records
from qiaocrawl.urls import canonical_url

MAX_FEED_ENTRIES = 2_000
"""Feeds have 10 to 100; the largest archives some hundred."""
_RECORDS = frozenset(("item", "entry"))
_FIELDS = frozenset((
    "title", "link", "guid", "id", "pubDate", "date", "published", "issued", "updated",
    "modified", "created", "category", "subject", "keywords",
))  # fmt: skip
# Some RSS 0.9 begins with <channel>, without <rss> around it.
_KINDS = {"rss": "rss", "channel": "rss", "feed": "atom", "RDF": "rdf"}
_MAX_KEYWORDS_CHARS = 200
# What titles are marked up with; others may be what they are about.
_TAG = re.compile(
    r"</?(a|b|big|br|div|em|font|i|img|mark|p|small|span|strong|sub|sup|u)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
# An ampersand without its semicolon is one.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def parse_feed(
    body: bytes, content_type: str = "", url: str = "", *, limit: int = MAX_FEED_ENTRIES
) -> EntryList:
    """The entries of a feed, the newest first.

    Never raises, whatever the bytes: for anything else ``kind`` is "", and ``fault`` says why.

    Args:
        body: as it came, perhaps gzipped.
        content_type: the Content-Type header.
        url: where it was fetched; relative addresses are resolved against it.
        limit: entries taken.
    """
    document = xml_records(body, content_type, names=_RECORDS, fields=_FIELDS, limit=limit)
    kind = _KINDS.get(document.root, "")
    if not kind:
        return EntryList("", fault=document.fault or "no feed")
    entries = [entry for record in document.records if (entry := _entry(record, url)) is not None]
    left = len(document.records) - len(entries) + document.beyond
    title = _plain(document.title)
    return EntryList(kind, newest_first(entries), title, left, document.fault)


def _entry(record: Record, base: str) -> Entry | None:
    address = _address(record)
    if record.base:
        base = joined(base, record.base)
    url = canonical_url(address, base or None) if address else None
    if url is None:
        return None
    # The publication date comes first: an update would move an old story to the front.
    at = moment_of(record.first("pubDate", "published", "date", "issued", "created"))
    words = dict.fromkeys(
        word for name in ("category", "subject", "keywords")
        for word in record.fields.get(name, ()) if word
    )  # fmt: skip
    return Entry(
        url,
        at or moment_of(record.first("updated", "modified")),
        _plain(record.first("title")),
        " ".join(words)[:_MAX_KEYWORDS_CHARS],
    )


def _plain(title: str) -> str:
    """The words a reader shows of *title*, which may be HTML, or escaped twice."""
    if "<" not in title and "&" not in title:
        return title
    words = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _TAG.sub(_between, title))
    # What was escaped twice shows now.
    return " ".join(_TAG.sub(_between, words).split())


def _between(tag: re.Match[str]) -> str:
    """What a tag leaves: lines are apart, and words within a line are not."""
    return " " if tag[1].lower() in ("br", "div", "p") else ""


def _address(record: Record) -> str:
    """Where the entry's page stands: Atom's alternate link, RSS's link, its guid, RDF's about."""
    # Other links of an entry lead to its comments, its pictures or itself (rel="replies", "self").
    for link in record.links:
        if link.get("href") and link.get("rel", "alternate") == "alternate":
            return joined(link.get(XML_BASE, ""), link["href"])
    guid = record.first("guid", "id")
    # A guid may be any text, but many are addresses.
    return record.first("link") or record.about or (guid if guid.startswith("http") else "")
