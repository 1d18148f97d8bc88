"""A fetched sitemap or feed as the analysis of a page: an outcome of its own, and links.

So entries are treated like links: the site's bounds, the trap rules, the crawl order and the
guard, with their title as anchor and their date in front of their context.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import TypeGuard
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from qiaocrawl.discovery.xml_records import (
    GZIP_MAGIC,
    Record,
    decode_xml,
    document_in,
    resolve_address,
    unpack_body,
    xml_records,
)
from qiaocrawl.items import FetchedPage, Link, Outcome, PageAnalysis, PageText
from qiaocrawl.page.links import MAX_ANCHOR_CHARS
from qiaocrawl.text.charset import decode_page, marked_charset
from qiaocrawl.text.well_formed import HTML_TAG, WellFormed, left_by_tag
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.urls import canonical_host, canonical_url, looks_like_file, url_key

# --- Records of what sitemaps and feeds list, and when each entry changed -------------------------

MAX_ENTRIES = 50_000
"""Of one file, as sitemaps.org bounds it; more are counted and left."""
# An ampersand without its semicolon is one, but for the commonest of all.
_ENTITY = re.compile(
    r"&(?:#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};|nbsp(?![A-Za-z0-9=]))"
)
# What of a title is not shown, and the marks of a text that was wrapped in CDATA twice.
_UNSHOWN = re.compile(
    r"<(script|style)\b[^<]{0,2000}+</\1>|<!--[^<]{0,300}?-->|<!\[CDATA\[|\]\]>", re.IGNORECASE
)
# "25 Feb 2016 00:00:00 Europe/Brussels": a zone as PHP calls it, in place of an offset.
_ZONE_NAME = re.compile(r"\d ([A-Z][a-z]{2,12}/[A-Z][A-Za-z_/-]{1,30})$")
# Undated entries sort after all others.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """One page (or one sitemap of an index) that a sitemap or feed lists.

    Attributes:
        url: canonical.
        at: when it was published or changed last, aware; None where nothing is said.
        title: "" where none is given, as in plain sitemaps.
        keywords: those of a news sitemap, or the categories of a feed.
    """

    url: str
    at: datetime | None = None
    title: str = ""
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class EntryList:
    """A sitemap or feed as it was read; never an error, ``fault`` says in words what was wrong.

    Attributes:
        kind: ``pages``, ``index`` or ``text`` of sitemaps; ``rss``, ``atom``, ``rdf`` or
            ``json`` of feeds; "" where it is none.
        entries: each URL once, the newest first, undated ones last in document order.
        title: of a feed.
        left: entries that were not taken: beyond the bound, or without a page's address.
    """

    kind: str
    entries: tuple[Entry, ...] = ()
    title: str = ""
    left: int = 0
    fault: str = ""


def newest_first(entries: list[Entry]) -> tuple[Entry, ...]:
    """*entries*, each URL once, in the order of :class:`EntryList`."""
    unique: dict[str, Entry] = {}
    for entry in entries:
        unique.setdefault(entry.url, entry)
    ordered = sorted(unique.values(), key=lambda entry: entry.at or _EPOCH, reverse=True)
    return tuple(ordered)


def plain_words(written: str) -> str:
    """The words a reader shows of *written*, which may be HTML, or escaped twice."""
    if "<" not in written and "&" not in written:
        return written
    words = _ENTITY.sub(lambda entity: html.unescape(entity[0]), _without_tags(written))
    # What was escaped twice shows now.
    return " ".join(_without_tags(words).split())


def _without_tags(words: str) -> str:
    return HTML_TAG.sub(left_by_tag, _UNSHOWN.sub("", words)) if "<" in words else words


def address_in(written: str) -> str:
    """An address in the text of an element; programs escape it for HTML and once more for XML.

    No address has a parameter called ``amp;page``.
    """
    return written.replace("&amp;", "&").replace("&#38;", "&").replace("&#038;", "&")


def moment_of(written: str) -> datetime | None:
    """The moment in *written* (W3C, RFC 822, or as Chinese pages write dates), aware.

    None where it holds no date. A time without zone is taken as China's **(ours)**.
    """
    text = written.strip()
    if not text:
        return None
    try:
        moment = _w3c(text) or _in_words(text)
    except (ValueError, OverflowError):
        return None
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=SHANGHAI)
    return _in_utc(aware)


def _in_words(text: str) -> datetime | None:
    """As the dates of pages are read: ``CST`` is China's, and a clock may say PM."""
    # Its many patterns take a tenth of a second; a crawl's own process reads no list.
    from qiaocrawl.text.dates import DateReader

    # A list may tell what is to come, as it may in W3C's form.
    reader = DateReader(latest=_LATEST)
    named = _ZONE_NAME.search(text)
    # RFC 822 has years of two digits.
    dates = reader.sure(text) or reader.unsure(text)
    if not dates:
        return None
    return dates[0].moment.replace(tzinfo=_zone(named[1])) if named else dates[0].moment


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    """The zone that IANA calls *name*; China's where the machine knows none of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return SHANGHAI


def _w3c(text: str) -> datetime | None:
    # W3C dates may be a year, or a year and a month: take their first day.
    # "2024" and "2024-05", which datetime refuses.
    if len(text) == 4:
        text += "-01-01"
    elif len(text) == 7:
        text += "-01"
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_utc(moment: datetime) -> datetime | None:
    # The year 1 in a zone east of Greenwich has no UTC.
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


# --- Feeds, RSS 0.9 to 2.0, RDF, Atom and JSON Feed: bytes in, entries out ------------------------

MAX_FEED_ENTRIES = 2_000
"""Feeds have 10 to 100; the largest archives some hundred."""
_FEED_RECORDS = frozenset(("item", "entry"))
_FEED_FIELDS = frozenset(
    (
        "title",
        "link",
        "guid",
        "id",
        "origlink",
        "pubdate",
        "date",
        "published",
        "issued",
        "updated",
        "modified",
        "created",
        "category",
        "subject",
        "keywords",
    )
)
# Some RSS 0.9 begins with <channel>, without <rss> around it.
_FEED_KINDS = {"rss": "rss", "channel": "rss", "feed": "atom", "rdf": "rdf"}
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
    if _is_json_feed(body):
        return _read_json_feed(body, url, limit)
    document = xml_records(
        body,
        content_type,
        names=_FEED_RECORDS,
        fields=_FEED_FIELDS,
        limit=limit,
        is_feed=True,
    )
    kind = _FEED_KINDS.get(document.root, "")
    if not kind:
        return EntryList("", fault=document.fault or "no feed")
    entries = [
        entry for record in document.records if (entry := _feed_entry(record, url)) is not None
    ]
    left = len(document.records) - len(entries) + document.beyond
    title = plain_words(document.title)
    return EntryList(kind, newest_first(entries), title, left, document.fault)


# The publication date comes first: an update would move an old story to the front.
_MOMENTS = ("pubdate", "published", "date", "issued", "created", "updated", "modified")


def _first_moment(written: Iterable[str]) -> datetime | None:
    """The first of *written* that is a date: one that nobody can read hides no other."""
    return next((at for text in written if (at := moment_of(text)) is not None), None)


def _feed_entry(record: Record, base: str) -> Entry | None:
    address = _address(record)
    if record.base:
        # One that is no address of a page, "javascript:", is none.
        base = canonical_url(record.base, base or None) or base
    url = canonical_url(_unwrapped(address), base or None) if address else None
    if url is None:
        return None
    words = (
        word for name in ("category", "subject", "keywords") for word in record.fields.get(name, ())
    )
    return Entry(
        url,
        _first_moment(record.first(name) for name in _MOMENTS),
        plain_words(record.first("title")),
        _keywords(words),
    )


def _keywords(words: Iterable[str]) -> str:
    """Each of *words* once; blanks in one are layout."""
    each = dict.fromkeys(" ".join(word.split()) for word in words)
    return plain_words(" ".join(filter(None, each)))[:_MAX_KEYWORDS_CHARS]


def _address(record: Record) -> str:
    """Where the entry's page stands: Atom's alternate link, RSS's link, its guid, RDF's about."""
    # FeedBurner's link counts clicks and is no page of the site; it names the page beside it.
    if (original := record.first("origlink")).startswith("http"):
        return address_in(original)
    own_base = ""
    alternates: list[dict[str, str]] = []
    for link in record.links:
        # Other links of an entry lead to its comments, its pictures or itself (rel="replies",
        # "self").
        if (link.get("href") or "").strip():
            if (link.get("rel") or "alternate").lower() == "alternate":
                alternates.append(link)
        else:
            own_base = own_base or link.get("base", "")
    if alternates:
        # An entry may have others of other types, as JSON or as a feed of its own.
        link = next((one for one in alternates if _leads_to_page(one)), alternates[0])
        return resolve_address(link.get("base", ""), link["href"].strip())
    if written := record.first("link"):
        return resolve_address(own_base, address_in(written))
    guid = record.first("guid", "id")
    # A guid may be any text, but many are addresses.
    return record.about or (address_in(guid) if guid.startswith(("http", "/")) else "")


def _leads_to_page(link: Mapping[str, str]) -> bool:
    return "html" in (link.get("type") or "html").lower()


# Alerts of Google lead through /url?…&url=, news of Bing through apiclick.aspx?…&url=.
_WRAPPERS = ("/url", "/apiclick.aspx")


def _unwrapped(address: str) -> str:
    """Where a link leads that counts clicks on its way, when it says so itself **(ours)**.

    Nobody is asked for a redirect, which some services let no program follow.
    """
    if "url=" not in address:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if not parts.path.endswith(_WRAPPERS):
        return address
    (inner, *_others) = parse_qs(parts.query).get("url", [""])
    return inner if inner.startswith(("http://", "https://")) else address


_JSON_VERSION = re.compile(rb'"version"\s*:\s*"https?:\\?/\\?/(?:www\.)?jsonfeed\.org')
# Of the unpacked text: all of it is read at once.
_MAX_JSON_BYTES = 8 * 1024 * 1024


def _is_json_feed(body: bytes) -> bool:
    """Whether *body* says that it is one, in its first kilobytes or at its end."""
    try:
        text = b"".join(unpack_body(body, _MAX_JSON_BYTES)) if body[:2] == GZIP_MAGIC else body
    except (OverflowError, ValueError):
        return False
    if text[:_HEAD_BYTES].lstrip(_BLANKS)[:1] != b"{":
        return False
    # A program may write its keys in any order.
    return any(_JSON_VERSION.search(part) for part in (text[:_HEAD_BYTES], text[-_HEAD_BYTES:]))


def _read_json_feed(body: bytes, base: str, limit: int) -> EntryList:
    """A JSON Feed (jsonfeed.org, 1 and 1.1); what is not of the form it says is left."""
    try:
        text = b"".join(unpack_body(body, _MAX_JSON_BYTES)).decode("utf-8-sig", "replace")
        feed = json.loads(text)
        items = feed["items"]
        if not isinstance(items, list):
            raise ValueError("its items are no list")
    except (OverflowError, ValueError, KeyError, RecursionError) as error:
        return EntryList("", fault=f"no JSON Feed: {error}"[:120])
    entries = [
        entry
        for item in items[:limit]
        if isinstance(item, dict) and (entry := _json_entry(item, base)) is not None
    ]
    title = plain_words(_text_of(feed, "title"))
    return EntryList("json", newest_first(entries), title, len(items) - len(entries))


def _json_entry(item: Mapping[str, object], base: str) -> Entry | None:
    identity = _text_of(item, "id")
    address = _text_of(item, "url", "external_url") or (
        identity if identity.startswith("http") else ""
    )
    url = canonical_url(address, base or None) if address else None
    if url is None:
        return None
    tags = item.get("tags")
    words = filter(_is_text, tags) if isinstance(tags, list) else ()
    return Entry(
        url,
        _first_moment(_text_of(item, name) for name in ("date_published", "date_modified")),
        plain_words(_text_of(item, "title")),
        _keywords(words),
    )


def _text_of(item: Mapping[str, object], *names: str) -> str:
    """The first of *names* that holds words."""
    values = (value.strip() for name in names if isinstance(value := item.get(name), str))
    return next(filter(None, values), "")


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


# --- Sitemaps as sitemaps.org and the news extension define them: bytes in, entries out -----------

MAX_LEVELS = 3
"""Indexes below each other that are followed; the protocol allows one **(ours)**."""
# As for feeds: limits what a hostile robots.txt may name **(ours)**.
MAX_ROBOTS_SITEMAPS = 100
_SITEMAP_RECORDS = frozenset(("url", "sitemap"))
_SITEMAP_FIELDS = frozenset(
    ("loc", "lastmod", "news/title", "news/publication_date", "news/keywords", ".")
)
_SITEMAP_KINDS = {"urlset": "pages", "sitemapindex": "index"}
# "Sitemap: https://a.cn/s.xml", in any case and anywhere in the file. Possessive (*+), so that a
# line of spaces costs linear time.
_ROBOTS_LINE = re.compile(
    r"^[ \t]*+site[ -]?maps?[ \t]*+:[ \t]*+(\S+)", re.IGNORECASE | re.MULTILINE
)
# A colon as Chinese keyboards write it.
_WIDE_COLON = re.compile(r"^([ \t]*+[A-Za-z-]{4,20}[ \t]*+)：", re.MULTILINE)
# Byte order marks of files put together, and what copying from web pages brings along.
_UNSEEN = re.compile("[\ufeff\u200b-\u200f\u2060]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_MAX_TEXT_BYTES = 4 * 1024 * 1024
_ROBOTS_URL_LINE = re.compile(r"https?://\S+", re.IGNORECASE)


def parse_sitemap(
    body: bytes, content_type: str = "", url: str = "", *, limit: int = MAX_ENTRIES
) -> EntryList:
    """The entries of a sitemap, of an index of sitemaps, or of a list of URLs in plain text.

    Never raises, whatever the bytes: for anything else ``kind`` is "", and ``fault`` says why.

    Args:
        body: as it came, perhaps gzipped.
        content_type: the Content-Type header.
        url: where it was fetched.
        limit: entries taken.
    """
    document = xml_records(
        body, content_type, names=_SITEMAP_RECORDS, fields=_SITEMAP_FIELDS, limit=limit
    )
    kind = _SITEMAP_KINDS.get(document.root, "")
    # XML, but of something else: an HTML page or a feed.
    if not kind and document.root:
        return EntryList("", fault=document.fault or f"no sitemap: <{document.root}>"[:80])
    if not kind:
        return _read_text(body, content_type, limit, document.fault)
    wanted = "sitemap" if kind == "index" else "url"
    entries = [
        entry
        for record in document.records
        if record.name == wanted and (entry := _sitemap_entry(record, url)) is not None
    ]
    left = len(document.records) - len(entries) + document.beyond
    return EntryList(kind, newest_first(entries), left=left, fault=document.fault)


def robots_sitemaps(body: bytes, url: str) -> tuple[str, ...]:
    """The canonical URLs that the ``Sitemap:`` lines of a robots.txt at *url* name, in order."""
    lines = _ROBOTS_LINE.findall(robots_text(body))[:MAX_ROBOTS_SITEMAPS]
    canonical = (canonical_url(line, url) for line in lines)
    return tuple(dict.fromkeys(address for address in canonical if address))


def robots_text(body: bytes) -> str:
    """A robots.txt as text with lines of one kind, for all who read it.

    As Notepad and old programs write it: with a byte order mark, in UTF-16, with lone CRs, NULs,
    or colons of full width. In a file that is not UTF-8, such as one in GBK, a line with other
    bytes comes twice: with them as an address has them, ``%C4%DA``, and with their characters.
    """
    charset, mark_bytes = marked_charset(body)
    body = body[mark_bytes:]
    if not charset.startswith("utf-16"):
        body = body.replace(b"\0", b"")
    try:
        # A character that the bound on its length cuts off is none.
        text = codecs.getincrementaldecoder(charset or "utf-8")().decode(body)
    except UnicodeDecodeError:
        text = body.decode(charset, "replace") if charset else _in_both_forms(body)
    # Lines end as the parser of the rules has them end.
    text = "\n".join(_UNSEEN.sub("", text).splitlines())
    return _WIDE_COLON.sub(r"\1:", text)


def _in_both_forms(body: bytes) -> str:
    charset = decode_page(body, "text/plain").charset
    lines = []
    for line in re.split(rb"\r\n?|\n", body):
        if not line.isascii():
            # The colon is part of the line's form, not of its path.
            as_text = line.decode(charset, "replace")
            wide = _WIDE_COLON.match(as_text)
            name = wide[1].encode() + b":" if wide else b""
            path = as_text[wide.end() :].encode(charset, "replace") if wide else line
            encoded = _NON_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], path)
            lines += [(name + encoded).decode("ascii"), as_text]
        else:
            lines.append(line.decode("ascii"))
    return "\n".join(lines)


def _sitemap_entry(record: Record, base: str) -> Entry | None:
    # Some indexes have the address in <sitemap> itself.
    written = record.first("loc", ".")
    url = canonical_url(address_in(written), base or None) if written else None
    if url is None:
        return None
    return Entry(
        url,
        moment_of(record.first("news/publication_date", "lastmod")),
        plain_words(record.first("news/title")),
        plain_words(record.first("news/keywords")),
    )


def _read_text(body: bytes, content_type: str, limit: int, fault: str) -> EntryList:
    """A list of URLs, one a line; nine lines in ten must be URLs **(ours)**."""
    faults: list[str] = []
    # What comes before an error is taken: half a list is better than none.
    text = "".join(decode_xml(body, content_type, faults, _MAX_TEXT_BYTES))
    fault = "; ".join(faults) or fault
    lines = [line for line in map(str.strip, re.split(r"\r\n?|\n", text)) if line]
    urls = [line for line in lines if _ROBOTS_URL_LINE.fullmatch(line)]
    # A text that merely mentions addresses is no list of them.
    if not urls or 10 * len(urls) < 9 * len(lines):
        return EntryList("", fault=fault or "no sitemap")
    canonical = [canonical_url(line) for line in urls[:limit]]
    entries = [Entry(url) for url in canonical if url]
    return EntryList("text", newest_first(entries), left=len(lines) - len(entries))


SITEMAP_TAG, FEED_TAG, ENTRY_TAG = "sitemap", "feed", "entry"
"""``Link.tag`` of a sitemap, of a feed, and of a page that one of them lists."""
# --- A fetched sitemap or feed as the analysis of a page: an outcome of its own, and links --------

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
    if _is_json_feed(body):
        return Outcome.FEED
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
            head = b"".join(_first_pieces(unpack_body(body[:_LONG_HEAD_BYTES]), size))
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
    place = FEED_TAG if listing.kind in ("rss", "atom", "rdf", "json") else SITEMAP_TAG
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
