"""Raw pages: the evidence, committed before anything is derived from it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import Message
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.errors import PageStoreError
from qiaocrawl.items import FetchedPage, Lease
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.frontier.scope import FENCE, fence
from qiaocrawl.storage.page_store.reading import payload, payloads
from qiaocrawl.storage.schema import page_source, url
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import (
    changes,
    clean_host,
    clean_text,
    clean_word,
    digest16,
    epoch_time,
    from_json,
    from_time,
    host_id,
    to_json,
    to_time,
)

# --- Bodies of pages as they stand in the database ------------------------------------------------


def unpack_body(c: Connection, frame: bytes) -> bytes:
    """The body in ``page_source.body``; b"" where it is in a file.

    Raises:
        PageStoreError: it is damaged, or the dictionary of its site is.
    """
    return ConnectionCache.of(c).dictionaries.unpack(c, frame) if frame else b""


def is_all_that_came(body: bytes, body_bytes: int) -> bool:
    """Whether *body* was stored as it came: the size in its row stays that of what came."""
    return len(body) >= body_bytes


# --- Raw pages: the evidence, committed before anything is derived from it ------------------------

logger = logging.getLogger(__name__)

# What a statement holds besides the body: headers, URL, the SQL text itself.
_PACKET_RESERVE_BYTES = 256 * 1024
# A MySQL client sends binary values as text: PyMySQL two hexadecimal digits a byte.
_SENT_PER_BYTE = 2

_MARK_FETCHED = Statement(
    "UPDATE url SET state = State.FETCHED, fetched_at = :fetched_at, http_status = :status"
    f" WHERE {FENCE} AND state = State.LEASED"
)
# After a replay: the first try has marked the row already.
_IS_FETCHED = Statement(f"SELECT 1 FROM url WHERE {FENCE} AND state = State.FETCHED")
_FIND = Statement("SELECT id FROM page_source WHERE url_id = :url_id AND digest = :digest")
_SEEN_AGAIN = Statement(
    "UPDATE page_source SET last_seen_at = :seen WHERE id = :id AND last_seen_at < :seen"
)
_NEWEST_ID = Statement(
    "SELECT id FROM page_source WHERE url_id = :url_id ORDER BY last_seen_at DESC, id DESC LIMIT 1"
)
_COLUMNS = (
    "url_id",
    "digest",
    "final_url",
    "http_status",
    "headers",
    "content_type",
    "charset",
    "body_bytes",
    "truncated",
    "fetched_at",
    "last_seen_at",
    "body",
)
_INSERT = Statement(
    f"INSERT INTO page_source ({', '.join(_COLUMNS)}) VALUES"
    f" ({', '.join(':' + name for name in _COLUMNS)})"
)
_PACKET = Statement("SELECT @@max_allowed_packet")

_PAGE = (
    "u.url, p.final_url, p.http_status, p.headers, p.body, p.fetched_at, p.truncated,"
    " p.body_bytes, p.record_id"
)
PAGE_COLUMNS = (
    url.c.url,
    page_source.c.final_url,
    page_source.c.http_status,
    page_source.c.headers,
    page_source.c.body,
    page_source.c.fetched_at,
    page_source.c.truncated,
    page_source.c.body_bytes,
    page_source.c.record_id,
)
"""What :func:`page_of` and :func:`pages_of` read."""
_NEWEST = Statement(
    f"SELECT {_PAGE} FROM page_source p JOIN url u ON u.id = p.url_id WHERE p.url_id = :url_id"
    " ORDER BY p.last_seen_at DESC, p.id DESC LIMIT 1"
)
_BODY = 4
# Columns of a batch before those of the page.
_OF_FRONTIER = 8
# NOT EXISTS leaves the newest page of each URL.
_BATCH = (
    f"SELECT p.id, p.url_id, u.`key`, h.name, u.queue, t.name, u.depth, u.anchor, {_PAGE}"
    " FROM page_source p JOIN url u ON u.id = p.url_id JOIN host h ON h.id = u.host_id"
    " JOIN topic t ON t.id = u.topic_id WHERE p.id > :after_id AND NOT EXISTS ("
    "SELECT 1 FROM page_source n WHERE n.url_id = p.url_id AND (n.last_seen_at > p.last_seen_at"
    " OR (n.last_seen_at = p.last_seen_at AND n.id > p.id)))"
)
_BATCH_OF_ALL = Statement(_BATCH + " ORDER BY p.id LIMIT :count")
_BATCH_OF_TOPIC = Statement(_BATCH + " AND u.topic_id = :topic_id ORDER BY p.id LIMIT :count")
_BATCH_OF_HOST = Statement(_BATCH + " AND h.name = :host ORDER BY p.id LIMIT :count")


NEWEST_PAGE = (
    "(SELECT p.id FROM page_source p WHERE p.url_id = :url_id"
    " ORDER BY p.last_seen_at DESC, p.id DESC LIMIT 1)"
)
"""SQL for the page of ``:url_id`` that was seen last, which need not be the one stored last."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """The newest page of a URL with what the frontier knows of it. ``id`` orders batches."""

    id: int
    url_id: int
    key: bytes
    host: str
    queue: str
    topic: str
    depth: int
    anchor: str
    page: FetchedPage


def store_page(
    c: Connection,
    lease: Lease,
    page: FetchedPage,
    *,
    now: float,
    then: Callable[[Connection], None] | None = None,
) -> int | None:
    """Store *page* and mark its row fetched; returns the page_source id.

    A body that is stored already only gets a new time. One that the server's packets cannot take
    is cut and marked ``truncated``; its digest and size stay those of the whole.

    Args:
        then: writes more with it, once: not when this is repeated because the answer to its
            commit was lost.

    Returns:
        None when the lease was lost; nothing is written then.
    """
    fetched_at = to_time(page.fetched_at)
    own = fence(lease)
    marked = _MARK_FETCHED.run(c, {**own, "fetched_at": fetched_at, "status": page.status})
    if marked.rowcount:
        if then is not None:
            then(c)
    elif _IS_FETCHED.run(c, own).fetchone() is None:
        return None
    # Hash of the body as received, not as stored: it recognises a cut page when it comes again.
    digest = digest16(page.body)
    existing = _FIND.run(c, {"url_id": lease.url_id, "digest": digest}).fetchone()
    if existing is not None:
        row_id: int = existing[0]
        _SEEN_AGAIN.run(c, {"id": row_id, "seen": fetched_at})
        return row_id
    return _insert(c, lease, digest, page, now)


def seen_again(c: Connection, url_id: int, now: float) -> None:
    """Note that the newest page of *url_id* still stands: its host said so."""
    row = _NEWEST_ID.run(c, {"url_id": url_id}).fetchone()
    if row is not None:
        _SEEN_AGAIN.run(c, {"id": row[0], "seen": epoch_time(now)})


def load_page(c: Connection, url_id: int) -> FetchedPage | None:
    """The page of *url_id* that was seen last; None when none is stored.

    Raises:
        PageStoreError: it is in a file that is missing or damaged.
    """
    row = _NEWEST.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else page_of(c, row)


def load_page_if_readable(c: Connection, url_id: int) -> FetchedPage | None:
    """As :func:`load_page`; None also for a page that cannot be read, counted and logged."""
    row = _NEWEST.run(c, {"url_id": url_id}).fetchone()
    return None if row is None else pages_of(c, [row])[0]


def iter_pages(
    c: Connection, *, topic: str | None, after_id: int, limit: int, host: str = ""
) -> list[StoredPage]:
    """The next *limit* newest pages (one a URL) after page_source *after_id*, by id; [] at the end.

    Pages that cannot be read are left out, counted and logged (:func:`pages_of`).

    Args:
        topic: only URLs found for this topic; None for all.
        host: only pages of this host, of any topic; "" for all.

    Raises:
        StorageError: *topic* was never imported.
    """
    params: dict[str, Any] = {"after_id": after_id, "count": limit}
    statement = _BATCH_OF_ALL
    if host:
        statement, params["host"] = _BATCH_OF_HOST, clean_host(host)
    elif topic is not None:
        statement, params["topic_id"] = _BATCH_OF_TOPIC, topic_id(c, topic)
    # Until one can be read: no page would mean that this was the end.
    while rows := statement.run(c, params).fetchall():
        pages = pages_of(c, [row[_OF_FRONTIER:] for row in rows])
        read = [_stored_page(row, page) for row, page in zip(rows, pages, strict=True) if page]
        if read:
            return read
        params["after_id"] = rows[-1][0]
    return []


def _stored_page(row: Any, page: FetchedPage) -> StoredPage:
    row_id, url_id, key, host, queue, topic, depth, anchor = row[:_OF_FRONTIER]
    return StoredPage(row_id, url_id, bytes(key), host, queue, topic, depth, anchor, page=page)


def _insert(c: Connection, lease: Lease, digest: bytes, page: FetchedPage, now: float) -> int:
    host = host_id(lease.host)
    body, is_cut = _fitting(c, host, page.body)
    content_type = page.header("content-type")
    fetched_at = to_time(page.fetched_at)
    result = _INSERT.run(
        c,
        {
            "url_id": lease.url_id,
            "digest": digest,
            "final_url": clean_text(page.final_url, 16_000),
            "http_status": page.status,
            "headers": to_json(page.headers),
            "content_type": clean_word(content_type, 200),
            "charset": clean_word(_declared_charset(content_type), 64),
            "body_bytes": len(page.body),
            "truncated": bool(page.truncated or is_cut),
            "fetched_at": fetched_at,
            "last_seen_at": fetched_at,
            "body": body,
        },
    )
    row_id = result.lastrowid
    assert row_id is not None
    ConnectionCache.of(c).dictionaries.note_page(c, host, row_id, url_id=lease.url_id, now=now)
    return row_id


def _fitting(c: Connection, host: int, body: bytes) -> tuple[bytes, bool]:
    """*body* compressed, cut until the server takes it, and whether it was cut."""
    limit = most_blob_bytes(c)
    pack = ConnectionCache.of(c).dictionaries.pack
    frame, size = pack(c, host, body), len(body)
    # The loop ends because each round aims 2 % below the limit; compression is
    # not quite proportional.
    while len(frame) > limit:
        # In proportion, a little less for what compresses worse than the rest.
        size = int(size * limit / len(frame) * 0.98)
        frame = pack(c, host, body[:size])
    if size < len(body):
        changes["cut_bodies"] += 1
    return frame, size < len(body)


def most_blob_bytes(c: Connection) -> int:
    """The longest bytes that the server takes in a row of a page."""
    return (_packet_bytes(c) - _PACKET_RESERVE_BYTES) // _SENT_PER_BYTE


def _packet_bytes(c: Connection) -> int:
    """``max_allowed_packet``; on SQLite the longest blob it takes."""
    if c.dialect.name == "sqlite":
        return 1_000_000_000
    # Asked once a connection: a setting of the server changes for new connections only.
    if "qiao_packet_bytes" not in c.info:
        c.info["qiao_packet_bytes"] = int(_PACKET.run(c).fetchone()[0])
    size: int = c.info["qiao_packet_bytes"]
    return size


# Cached: a site says the same with every page.
@lru_cache(maxsize=1024)
def _declared_charset(content_type: str) -> str:
    if "charset" not in content_type.lower():
        # Parsed as a header only where needed: most pages say nothing here.
        return ""
    message = Message()
    # Message refuses line breaks, and headers of broken servers hold them.
    message["content-type"] = content_type.replace("\n", " ").replace("\r", " ")
    return str(message.get_param("charset", "")).lower()


def page_of(c: Connection, row: Any) -> FetchedPage:
    """The page in *row* (``PAGE_COLUMNS``), wherever its body is.

    Raises:
        PageStoreError: it is damaged, or in a file that is missing or damaged; names the place.
    """
    record_id = row[-1]
    return _page(row, unpack_body(c, row[_BODY]) if record_id is None else payload(c, record_id))


def pages_of(c: Connection, rows: Sequence[Any]) -> list[FetchedPage | None]:
    """The page in each row; what is in files is read together.

    One that is missing or damaged there is None, counted (``unread_pages``) and logged.
    """
    found = payloads(c, [row[-1] for row in rows if row[-1] is not None])
    pages: list[FetchedPage | None] = []
    for row in rows:
        body = _body_or_error(c, row[_BODY]) if row[-1] is None else found[row[-1]]
        if isinstance(body, PageStoreError):
            changes["unread_pages"] += 1
            logger.error("the stored page of %s cannot be read: %s", row[0], body)
            pages.append(None)
        else:
            pages.append(_page(row, body))
    return pages


def _body_or_error(c: Connection, frame: bytes) -> bytes | PageStoreError:
    try:
        return unpack_body(c, frame)
    except PageStoreError as error:
        return error


def _page(row: Any, body: bytes) -> FetchedPage:
    address, final_url, status, headers, _body, fetched_at, truncated, body_bytes, _record_id = row
    when = from_time(fetched_at)
    assert when is not None
    return FetchedPage(
        url=address,
        final_url=final_url,
        status=status,
        headers=tuple((name, value) for name, value in from_json(headers) or ()),
        body=body,
        fetched_at=when,
        truncated=bool(truncated),
        connection_lost=bool(truncated) and is_all_that_came(body, body_bytes),
    )
