"""Feeds, RSS 0.9 to 2.0, RDF and Atom: bytes in, entries out."""

from __future__ import annotations

from qiaocrawl.discovery.entries import (
    Entry,
    EntryList,
    address_in,
    moment_of,
    newest_first,
    plain_words,
)
from qiaocrawl.discovery.xml_records import Record, joined, xml_records
from qiaocrawl.urls import canonical_url

MAX_FEED_ENTRIES = 2_000
"""Feeds have 10 to 100; the largest archives some hundred."""
_RECORDS = frozenset(("item", "entry"))
_FIELDS = frozenset((
    "title", "link", "guid", "id", "pubdate", "date", "published", "issued", "updated",
    "modified", "created", "category", "subject", "keywords",
))  # fmt: skip
# Some RSS 0.9 begins with <channel>, without <rss> around it.
_KINDS = {"rss": "rss", "channel": "rss", "feed": "atom", "rdf": "rdf"}
_MAX_KEYWORDS_CHARS = 200


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
    document = xml_records(
        body, content_type, names=_RECORDS, fields=_FIELDS, limit=limit, may_hold_html=True
    )
    kind = _KINDS.get(document.root, "")
    if not kind:
        return EntryList("", fault=document.fault or "no feed")
    entries = [entry for record in document.records if (entry := _entry(record, url)) is not None]
    left = len(document.records) - len(entries) + document.beyond
    title = plain_words(document.title)
    return EntryList(kind, newest_first(entries), title, left, document.fault)


def _entry(record: Record, base: str) -> Entry | None:
    address = _address(record)
    if record.base:
        # One that is no address of a page, "javascript:", is none.
        base = canonical_url(record.base, base or None) or base
    url = canonical_url(address, base or None) if address else None
    if url is None:
        return None
    # The publication date comes first: an update would move an old story to the front.
    at = moment_of(record.first("pubdate", "published", "date", "issued", "created"))
    words = dict.fromkeys(
        word for name in ("category", "subject", "keywords")
        for word in record.fields.get(name, ()) if word
    )  # fmt: skip
    return Entry(
        url,
        at or moment_of(record.first("updated", "modified")),
        plain_words(record.first("title")),
        plain_words(" ".join(words))[:_MAX_KEYWORDS_CHARS],
    )


def _address(record: Record) -> str:
    """Where the entry's page stands: Atom's alternate link, RSS's link, its guid, RDF's about."""
    # Other links of an entry lead to its comments, its pictures or itself (rel="replies", "self").
    own_base = ""
    for link in record.links:
        if link.get("href") and (link.get("rel") or "alternate").lower() == "alternate":
            return joined(link.get("base", ""), link["href"])
        own_base = own_base or ("" if "href" in link else link.get("base", ""))
    if written := record.first("link"):
        return joined(own_base, address_in(written))
    guid = record.first("guid", "id")
    # A guid may be any text, but many are addresses.
    return record.about or (address_in(guid) if guid.startswith("http") else "")
