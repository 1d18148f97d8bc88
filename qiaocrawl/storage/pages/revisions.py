"""Earlier texts of articles, and their deletion: nothing stored is ever removed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.storage.converters import clean_word, epoch_time, from_time
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.raw_sql import Statement

REVISED, DELETED, RESTORED = "revised", "deleted", "restored"
WITHDRAWN = "withdrawn"

_NEWEST_PAGE = (
    "(SELECT p.id FROM page_source p WHERE p.url_id = a.url_id"
    " ORDER BY p.last_seen_at DESC, p.id DESC LIMIT 1)"
)
# An article read again from the same page (by another method, or with more parts) is no revision.
_KEEP = Statement(
    "INSERT INTO revision (url_id, kind, at, page_source_id, note, title, published_at,"
    " body_digest, text) SELECT a.url_id, 'revised', :at, a.page_source_id,"
    # The note says what differs: the title, the body, or both.
    " CASE WHEN a.title = :title THEN 'body' WHEN a.body_digest = :body_digest THEN 'title'"
    " ELSE 'title and body' END, a.title, a.published_at, a.body_digest, a.text FROM article a"
    " WHERE a.id = :article_id AND (a.title <> :title OR a.body_digest <> :body_digest)"
    f" AND a.page_source_id <> {_NEWEST_PAGE}"
)
_NOTE = Statement(
    # INSERT ... SELECT writes nothing where there is no article, so no look-up is needed before.
    "INSERT INTO revision (url_id, kind, at, page_source_id, note, title, published_at,"
    " body_digest, text) SELECT a.url_id, :kind, :at, NULL, :note, '', NULL, :none, ''"
    " FROM article a WHERE a.url_id = :url_id"
)
_WITHDRAW = Statement(
    "INSERT INTO revision (url_id, kind, at, page_source_id, note, title, published_at,"
    " body_digest, text) SELECT a.url_id, 'withdrawn', :at, a.page_source_id, :note, a.title,"
    " a.published_at, a.body_digest, a.text FROM article a WHERE a.url_id = :url_id"
)
_LAST_FACT = Statement(
    # What the host last said of the page; a revised text is no such fact.
    "SELECT kind FROM revision WHERE url_id = :url_id AND kind <> 'revised'"
    " ORDER BY id DESC LIMIT 1"
)
_OF_URL = Statement(
    "SELECT id, kind, at, page_source_id, note, title, published_at, text FROM revision"
    " WHERE url_id = :url_id ORDER BY id"
)
_SOURCES = Statement(
    "SELECT id, fetched_at, last_seen_at, http_status, body_bytes FROM page_source"
    " WHERE url_id = :url_id ORDER BY fetched_at, id"
)

_ARTICLE = Statement("SELECT title, text FROM article WHERE url_id = :url_id")


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of an article.

    Attributes:
        kind: ``revised``, ``deleted``, ``restored``, or ``withdrawn`` for what was no article.
        at: when it was seen.
        page_source_id: for ``revised``: the page what follows was read from.
        note: for ``revised`` what changed; else in words, such as ``HTTP 404``.
        title, published_at, text: for ``revised`` and ``withdrawn``: what the article said.
    """

    id: int
    kind: str
    at: datetime
    page_source_id: int | None
    note: str
    title: str
    published_at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """A stored version of a page's body, from when to when it was seen."""

    id: int
    fetched_at: datetime
    last_seen_at: datetime
    http_status: int
    body_bytes: int


def keep_version(c: Connection, article_id: int, values: Any, *, now: float) -> int:
    """Keep what an article says before *values* replace it; returns how many rows (0 or 1).

    Args:
        values: the new ``title`` and ``body_digest``.
    """
    return _KEEP.run(c, {
        "article_id": article_id, "title": values["title"], "at": epoch_time(now),
        "body_digest": values["body_digest"],
    }).rowcount  # fmt: skip


def note_deleted(c: Connection, url_id: int, note: str, *, now: float) -> bool:
    """Note that the article of *url_id* is gone; False without one, or if that was known."""
    return not is_deleted(c, url_id) and _note(c, url_id, DELETED, note, now)


def note_restored(c: Connection, url_id: int, *, now: float) -> bool:
    """Note that an article that was gone is back; False if it was not gone."""
    return is_deleted(c, url_id) and _note(c, url_id, RESTORED, "", now)


def note_withdrawn(c: Connection, url_id: int, note: str, *, now: float) -> bool:
    """Keep what the article of *url_id* says, which turned out to be none; False without one."""
    values = {"url_id": url_id, "at": epoch_time(now), "note": clean_word(note, 500)}
    return _WITHDRAW.run(c, values).rowcount > 0


def is_deleted(c: Connection, url_id: int) -> bool:
    """Whether the article of *url_id* was gone when its page was last requested."""
    row = _LAST_FACT.run(c, {"url_id": url_id}).fetchone()
    return row is not None and row[0] == DELETED


def _note(c: Connection, url_id: int, kind: str, note: str, now: float) -> bool:
    done = _NOTE.run(c, {
        "url_id": url_id, "kind": kind, "at": epoch_time(now), "note": clean_word(note, 500),
        "none": b"",
    })  # fmt: skip
    return done.rowcount > 0


def revisions_of(c: Connection, url_id: int) -> list[Revision]:
    """All changes of the article at *url_id*, in order."""
    revisions = []
    for row in _OF_URL.run(c, {"url_id": url_id}).fetchall():
        row_id, kind, at, source, note, title, published, text = row
        when = from_time(at)
        assert when is not None
        revisions.append(
            Revision(
                row_id, kind, when, source, note, title, from_time(published), unpack_text(text)
            )
        )
    return revisions


def sources_of(c: Connection, url_id: int) -> list[Source]:
    """The stored versions of the page at *url_id*, the first one first."""
    sources = []
    for row_id, fetched, seen, status, size in _SOURCES.run(c, {"url_id": url_id}).fetchall():
        first, last = from_time(fetched), from_time(seen)
        assert first is not None
        assert last is not None
        sources.append(Source(row_id, first, last, status, size))
    return sources


def article_text(c: Connection, url_id: int) -> tuple[str, str] | None:
    """Title and text of the article at *url_id* as it is stored now; None without one."""
    row = _ARTICLE.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else (row[0], unpack_text(row[1]))
