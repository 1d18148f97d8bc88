"""Records of what sitemaps and feeds list, and when each entry changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from qiaocrawl.text.zones import SHANGHAI

MAX_ENTRIES = 50_000
"""Of one file, as sitemaps.org bounds it; more are counted and left."""
# RFC 822 as it is meant; others are read as dates in pages are: CST is China's there, and a clock
# may say PM.
_RFC822 = re.compile(
    r"(?:[A-Za-z]{3,9},? )?\d{1,2} [A-Za-z]{3,9} \d{2,4} \d{1,2}:\d\d(?::\d\d)?"
    r" (?:[+-]\d{4}|GMT|UTC?|Z|E[SD]T|[MP][SD]T)"
)
# Undated entries sort after all others.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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


def moment_of(written: str) -> datetime | None:
    """The moment in *written* (W3C, RFC 822, or as Chinese pages write dates), aware.

    None where it holds no date. A time without zone is taken as China's **(ours)**.
    """
    text = written.strip()
    if not text:
        return None
    # Tried in this order: words are found in nearly anything; what they have no date for may
    # still be a loose form of RFC 822.
    for read in (_w3c, _rfc822, _in_words, _loose_rfc822):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        if moment is not None:
            aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=SHANGHAI)
            return _in_utc(aware)
    return None


def _in_words(text: str) -> datetime | None:
    # Its many patterns take a tenth of a second; a crawl's own process reads no list.
    from qiaocrawl.text.dates import find_date

    return find_date(text)


def _rfc822(text: str) -> datetime | None:
    return _loose_rfc822(text) if _RFC822.fullmatch(text) else None


def _loose_rfc822(text: str) -> datetime:
    moment = parsedate_to_datetime(text)
    # RFC 5322, 3.3: -0000 is a time in UTC whose place is unknown.
    return moment.replace(tzinfo=UTC) if text.endswith("-0000") else moment


def _w3c(text: str) -> datetime:
    # W3C dates may be a year, or a year and a month: take their first day.
    # "2024" and "2024-05", which datetime refuses.
    if len(text) == 4:
        text += "-01-01"
    elif len(text) == 7:
        text += "-01"
    return datetime.fromisoformat(text)


def _in_utc(moment: datetime) -> datetime | None:
    # The year 1 in a zone east of Greenwich has no UTC.
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None
