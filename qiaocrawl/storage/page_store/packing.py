"""Pages and pictures go from their rows into files.

A row keeps its body until the file that has it is whole, in its place and known: then it gets the
number of the record, and the body goes, in one statement. Whatever is killed on the way leaves
a row with its body, or one with its record.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from qiaocrawl.errors import PageStoreError
from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.storage.page_store.reading import digest_of, page_member, payload, picture_member
from qiaocrawl.storage.page_store.stores import (
    GrowingFile,
    NewRecord,
    StoreWork,
    complete,
    growing_page_file,
)
from qiaocrawl.storage.pages.raw_pages import is_all_that_came, unpack_body
from qiaocrawl.storage.schema import State, page_picture, page_record, page_source, url
from qiaocrawl.storage.sql import DriverError, Statement, upsert
from qiaocrawl.storage.values import from_json, from_time

logger = logging.getLogger(__name__)

# Read into memory at a time; a body has up to 10 MiB.
_ROWS_AT_A_TIME = 20
# Of one transaction that takes bodies out of the database: a running crawl waits for it.
_SWITCHED_AT_A_TIME = 100
# HTML is packed to between a quarter and a tenth of what was fetched.
_FETCHED_PER_PACKED = 4
# What looking whether there is enough for a file counts at most, and what enters one.
_MOST_COUNTED = 20_000

_SAVE_RECORD = upsert(
    "page_record",
    "digest, file_id, offset_bytes, length_bytes, fault",
    key="digest",
    # Known, but not to be read where it was: this one takes its place.
    change="file_id, offset_bytes, length_bytes, fault",
)
_SWITCH = {
    "page_source": Statement(
        "UPDATE page_source SET record_id = :record, body = :empty"
        " WHERE id = :id AND record_id IS NULL"
    ),
    "page_picture": Statement(
        "UPDATE page_picture SET record_id = :record, picture = :empty"
        " WHERE page_source_id = :id AND record_id IS NULL"
    ),
}


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A page or picture whose bytes are in its row."""

    table: str
    row_id: int
    payload: bytes
    member: Callable[[], bytes]


@dataclass(slots=True)
class _Pass:
    """What one file gets: its records, and which rows each digest is for."""

    rows: list[tuple[str, int, bytes]] = field(default_factory=list)
    new: set[bytes] = field(default_factory=set)


def enough_for(c: Connection, file_bytes: int) -> bool:
    """Whether so many pages are in the database that they fill *file_bytes* of a file, roughly.

    Counted to an end: after a change of the option there may be millions.
    """
    some = (
        select(page_source.c.body_bytes)
        .where(page_source.c.record_id.is_(None))
        .limit(_MOST_COUNTED)
        .subquery()
    )
    rows, fetched = c.execute(select(func.count(), func.sum(some.c.body_bytes))).one()
    return rows >= _MOST_COUNTED or int(fetched or 0) >= _FETCHED_PER_PACKED * file_bytes


def waiting_rows(c: Connection) -> int:
    """How many pages and pictures are in the database."""
    return sum(
        c.execute(
            select(func.count()).select_from(table).where(table.c.record_id.is_(None))
        ).scalar_one()
        for table in (page_source, page_picture)
    )


def pack(work: StoreWork, *, whole_files: bool = False) -> int:
    """Put all that may go into files; returns how many pages and pictures went.

    Pages that wait for their analysis stay.

    Args:
        whole_files: leave what would not fill one for another time.

    Raises:
        PageStoreError: the store cannot be written, or another process has taken it over.
    """
    done = 0
    is_enough = partial(enough_for, file_bytes=work.file_bytes)
    while work.pace.goes_on and (not whole_files or work.reader.run(is_enough)):
        packed = pack_file(work)
        if not packed:
            break
        done += packed
    return done


def pack_file(work: StoreWork) -> int:
    """Fill one file; returns how many pages and pictures are in it now, or in another already.

    Raises:
        PageStoreError: as :func:`pack`.
    """
    passed = _Pass()
    with ExitStack() as stack:
        file: GrowingFile | None = None
        for one in _all_waiting(work):
            digest = digest_of(one.payload)
            passed.rows.append((one.table, one.row_id, digest))
            if digest not in passed.new and not _is_kept(work, digest):
                if file is None:
                    file = stack.enter_context(growing_page_file(work))
                file.add(digest, one.member())
                passed.new.add(digest)
            is_full = file is not None and file.is_full
            if not work.pace.step() or is_full or len(passed.rows) >= _MOST_COUNTED:
                break
    # The file is in its place now, for good.
    if file is not None:
        work.write(partial(_tell, file=file))
    return _switch_all(work, passed.rows)


def _is_kept(work: StoreWork, digest: bytes) -> bool:
    """Whether a record with the same bytes is there, and can be read."""

    def look(c: Connection) -> bool:
        found = c.execute(select(page_record.c.id).where(page_record.c.digest == digest)).scalar()
        if found is None:
            return False
        try:
            payload(c, found)
        except PageStoreError as error:
            logger.warning("stored anew, since it cannot be read: %s", error)
            return False
        return True

    return work.reader.run(look)


def _tell(c: Connection, file: GrowingFile) -> None:
    complete(c, file)
    _SAVE_RECORD.run_many(c, [_values(record, file.row_id) for record in file.records])


def _values(record: NewRecord, file_id: int) -> dict[str, Any]:
    return {
        "digest": record.digest,
        "file_id": file_id,
        "offset_bytes": record.offset,
        "length_bytes": record.length,
        "fault": "",
    }


def _switch_all(work: StoreWork, rows: Sequence[tuple[str, int, bytes]]) -> int:
    done = 0
    for start in range(0, len(rows), _SWITCHED_AT_A_TIME):
        some = rows[start : start + _SWITCHED_AT_A_TIME]
        try:
            done += work.write(partial(_switch, rows=some))
        except (IntegrityError, DriverError) as error:
            # A record went meanwhile, since nobody named it yet: the bodies are still here.
            logger.warning("%d pages stay in the database for now: %s", len(some), error)
    return done


def _switch(c: Connection, rows: Sequence[tuple[str, int, bytes]]) -> int:
    digests = {digest for _table, _id, digest in rows}
    found = c.execute(
        select(page_record.c.digest, page_record.c.id).where(page_record.c.digest.in_(digests))
    )
    records = {bytes(row.digest): row.id for row in found}
    switched = 0
    for table, row_id, digest in rows:
        if digest in records:
            values = {"record": records[digest], "empty": b"", "id": row_id}
            switched += _SWITCH[table].run(c, values).rowcount
    return switched


# --- what waits ---------------------------------------------------------------------------------


def _all_waiting(work: StoreWork) -> Iterator[_Waiting]:
    for batch_of in (_page_batch, _picture_batch):
        after = 0
        while batch := work.reader.run(partial(batch_of, after=after)):
            work.hold.renew()
            after = batch[-1][0]
            yield from (waiting for _row_id, waiting in batch if waiting is not None)


# Row ids with what waits there; None for what stays.
_Batch = list[tuple[int, _Waiting | None]]


def _page_batch(c: Connection, after: int) -> _Batch:
    rows = c.execute(
        select(
            page_source.c.id,
            url.c.url,
            url.c.state,
            page_source.c.final_url,
            page_source.c.http_status,
            page_source.c.headers,
            page_source.c.body,
            page_source.c.fetched_at,
            page_source.c.truncated,
            page_source.c.body_bytes,
        )
        .join(url, url.c.id == page_source.c.url_id)
        .where(page_source.c.record_id.is_(None), page_source.c.id > after)
        .order_by(page_source.c.id)
        .limit(_ROWS_AT_A_TIME)
    )
    return [(row.id, _waiting_page(c, row)) for row in rows.all()]


def _waiting_page(c: Connection, row: Any) -> _Waiting | None:
    # Its crawl reads it back at once, and it must be there whatever the store does.
    if row.state == State.FETCHED:
        return None
    try:
        page = bare_page(row, unpack_body(c, row.body))
    except PageStoreError as error:
        logger.error("the stored page of %s stays in the database: %s", row.url, error)
        return None
    return _Waiting("page_source", row.id, page.body, lambda: page_member(page))


def bare_page(row: Any, body: bytes) -> FetchedPage:
    """The page of a *row* of names as in the tables, with *body*."""
    when = from_time(row.fetched_at)
    assert when is not None
    headers = tuple((name, value) for name, value in from_json(row.headers) or ())
    return FetchedPage(
        url=row.url,
        final_url=row.final_url,
        status=row.http_status,
        headers=headers,
        body=body,
        fetched_at=when,
        truncated=bool(row.truncated),
        connection_lost=bool(row.truncated) and is_all_that_came(body, row.body_bytes),
    )


def _picture_batch(c: Connection, after: int) -> _Batch:
    rows = c.execute(
        select(
            page_picture.c.page_source_id.label("id"),
            page_picture.c.media_type,
            page_picture.c.width,
            page_picture.c.height,
            page_picture.c.cut,
            page_picture.c.taken_at,
            page_picture.c.picture,
            url.c.url,
            url.c.state,
        )
        .join(page_source, page_source.c.id == page_picture.c.page_source_id)
        .join(url, url.c.id == page_source.c.url_id)
        .where(page_picture.c.record_id.is_(None), page_picture.c.page_source_id > after)
        .order_by(page_picture.c.page_source_id)
        .limit(_ROWS_AT_A_TIME)
    )
    return [(row.id, _waiting_picture(row)) for row in rows.all()]


def _waiting_picture(row: Any) -> _Waiting | None:
    if row.state == State.FETCHED:
        return None
    when = from_time(row.taken_at)
    assert when is not None
    picture = PagePicture(
        row.media_type, row.width, row.height, bool(row.cut), when, bytes(row.picture)
    )
    return _Waiting("page_picture", row.id, picture.data, lambda: picture_member(row.url, picture))
