"""Records of what sitemaps and feeds list, and when each entry changed."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from qiaocrawl.discovery.xml_records import HTML_TAG, left_by_tag
from qiaocrawl.text.zones import SHANGHAI

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
        kind: ``pages``, ``index`` or ``text`` of sitemaps; ``rss``, ``atom`` or ``rdf`` of
            feeds; "" where it is none.
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
    # RFC 822 has years of two digits.
    dates = reader.sure(text) or reader.unsure(text)
    return dates[0].moment if dates else None


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
