"""Earlier texts of articles, and their deletion: nothing stored is ever removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, literal, select

from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.page_store.reading import payload, payloads
from qiaocrawl.storage.pages.raw_pages import (
    NEWEST_PAGE,
    PAGE_COLUMNS,
    most_blob_bytes,
    page_of,
    pages_of,
)
from qiaocrawl.storage.schema import article, host, page_picture, page_source, url
from qiaocrawl.storage.sql import Statement, upsert
from qiaocrawl.storage.values import clean_word, epoch_time, from_time, to_stored_time, to_time

REVISED, DELETED, RESTORED = "revised", "deleted", "restored"
WITHDRAWN = "withdrawn"

_NEWEST_PAGE = NEWEST_PAGE.replace(":url_id", "a.url_id")
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
    return _KEEP.run(
        c,
        {
            "article_id": article_id,
            "title": values["title"],
            "at": epoch_time(now),
            "body_digest": values["body_digest"],
        },
    ).rowcount


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
    done = _NOTE.run(
        c,
        {
            "url_id": url_id,
            "kind": kind,
            "at": epoch_time(now),
            "note": clean_word(note, 500),
            "none": b"",
        },
    )
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


# --- Which stored version of a page is meant, and all of them -------------------------------------

_PAGES_AT_A_TIME = 20


def version_of(version: int) -> ColumnElement[bool]:
    """The condition on a stored page that it is an article's own (0), or that *version* of it."""
    if not version:
        return page_source.c.id == article.c.page_source_id
    return and_(page_source.c.id == version, page_source.c.url_id == article.c.url_id)


def page_at(c: Connection, url_id: int, at: datetime | None) -> FetchedPage | None:
    """The page of *url_id* as it was at that time, or now for None; None where none is stored.

    Raises:
        PageStoreError: it is in a file that is missing or damaged.
    """
    versions = (
        select(*PAGE_COLUMNS)
        .join(page_source, page_source.c.url_id == url.c.id)
        .where(url.c.id == url_id)
    )
    if at is None:
        newest = (page_source.c.last_seen_at.desc(), page_source.c.id.desc())
    else:
        then = to_stored_time(at)
        versions = versions.where(page_source.c.fetched_at <= then)
        # A body that comes back keeps its row: the one that was seen last before, counts.
        is_later = page_source.c.last_seen_at > then
        seen = case((is_later, literal(then)), else_=page_source.c.last_seen_at)
        newest = (seen.desc(), page_source.c.fetched_at.desc())
    row = c.execute(versions.order_by(*newest).limit(1)).one_or_none()
    return None if row is None else page_of(c, row)


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """Which stored versions are meant: all, those of a host (with those below it), of a time."""

    host: str = ""
    since: datetime | None = None
    before: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """On rows of ``page_source``, ``url`` and ``host``."""
        chosen: list[ColumnElement[bool]] = []
        if self.host:
            below = host.c.name.endswith(f".{self.host}", autoescape=True)
            chosen.append((host.c.name == self.host) | below)
        if self.since is not None:
            chosen.append(page_source.c.fetched_at >= to_stored_time(self.since))
        if self.before is not None:
            chosen.append(page_source.c.fetched_at < to_stored_time(self.before))
        return chosen


def count_versions(c: Connection, choice: VersionChoice) -> int:
    """How many stored versions *choice* has."""
    count: int = c.execute(
        select(func.count())
        .select_from(page_source)
        .join(url, url.c.id == page_source.c.url_id)
        .join(host, host.c.id == url.c.host_id)
        .where(*choice.conditions())
    ).scalar_one()
    return count


def iter_versions(
    c: Connection, choice: VersionChoice
) -> Iterator[tuple[FetchedPage | None, PagePicture | None]]:
    """The chosen versions with their pictures, in the order they were stored.

    A page that cannot be read is None, counted and logged; such a picture is left out.
    """
    picture = page_picture.c
    statement = (
        select(
            page_source.c.id,
            *PAGE_COLUMNS,
            picture.media_type,
            picture.width,
            picture.height,
            picture.cut,
            picture.taken_at,
            picture.picture,
            picture.record_id.label("shown"),
        )
        .select_from(page_source)
        .join(url, url.c.id == page_source.c.url_id)
        .join(host, host.c.id == url.c.host_id)
        .outerjoin(page_picture, picture.page_source_id == page_source.c.id)
        .where(*choice.conditions())
        .order_by(page_source.c.id)
        .limit(_PAGES_AT_A_TIME)
    )
    after = 0
    while rows := c.execute(statement.where(page_source.c.id > after)).all():
        after = rows[-1][0]
        pages = pages_of(c, [row[1 : 1 + len(PAGE_COLUMNS)] for row in rows])
        found = payloads(c, [row.shown for row in rows if row.shown is not None])
        for row, page in zip(rows, pages, strict=True):
            taken_at = from_time(row.taken_at)
            data = row.picture if row.shown is None else found[row.shown]
            if taken_at is None or not isinstance(data, bytes):
                yield page, None
                continue
            size = row.width, row.height, bool(row.cut)
            yield page, PagePicture(row.media_type, *size, taken_at, data)


# --- Pictures of stored pages, as a browser showed them; each goes when its page goes -------------

_COLUMNS = "media_type, width, height, cut, taken_at, picture"
# The first one stays: it was taken when the page was first seen to be as it is stored.
_SAVE = upsert("page_picture", f"page_source_id, {_COLUMNS}", key="page_source_id")


def save_picture(c: Connection, page_source_id: int, picture: PagePicture) -> None:
    """Keep *picture* with a stored page; one that has a picture keeps that.

    One that the server's packets cannot take is left out: no page is lost for its picture.
    """
    if len(picture.data) > most_blob_bytes(c):
        return
    _SAVE.run(
        c,
        {
            "page_source_id": page_source_id,
            "media_type": picture.media_type,
            "width": picture.width,
            "height": picture.height,
            "cut": picture.cut,
            "taken_at": to_time(picture.taken_at),
            "picture": picture.data,
        },
    )


def picture_of_article(c: Connection, article_id: int, version: int = 0) -> PagePicture | None:
    """The picture of the page an article was read from; None where none was taken.

    Args:
        version: the row of a stored version of its page; 0 is the one it was read from.

    Raises:
        PageStoreError: it is in a file that is missing or damaged.
    """
    table = page_picture.c
    row = c.execute(
        select(
            table.media_type,
            table.width,
            table.height,
            table.cut,
            table.taken_at,
            table.picture,
            table.record_id,
        )
        .join(page_source, page_source.c.id == table.page_source_id)
        .join(article, version_of(version))
        .where(article.c.id == article_id)
    ).one_or_none()
    if row is None:
        return None
    taken_at = from_time(row.taken_at)
    assert taken_at is not None
    size = row.width, row.height, bool(row.cut)
    data = bytes(row.picture) if row.record_id is None else payload(c, row.record_id)
    return PagePicture(row.media_type, *size, taken_at, data)
