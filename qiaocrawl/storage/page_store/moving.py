"""Records go from file to file, and pages back into the database."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, delete, exists, func, select, update

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage.packed_text import compress
from qiaocrawl.storage.page_store.reading import (
    Place,
    checked_payload,
    members,
    payloads,
    place_rows,
)
from qiaocrawl.storage.page_store.stores import (
    Advance,
    FileState,
    GrowingFile,
    StoreWork,
    complete,
    deletable,
    forget,
    growing_page_file,
    live_bytes,
    retire_empty,
)
from qiaocrawl.storage.pages.raw_pages import unpack_body
from qiaocrawl.storage.schema import page_file, page_picture, page_record, page_source, url
from qiaocrawl.storage.sql import Statement
from qiaocrawl.storage.values import clean_word, digest16
from qiaocrawl.storage.writer import Reader, Writer

_RECORDS_AT_A_TIME = 200
# Bodies in memory, and in one transaction.
_ROWS_AT_A_TIME = 50

_MOVE = Statement(
    "UPDATE page_record SET file_id = :file, offset_bytes = :offset, length_bytes = :length,"
    # Unless it has gone elsewhere meanwhile: this copy is nobody's then.
    " fault = :fault WHERE id = :id AND file_id = :old"
)
_TAKE_BACK = {
    "page_source": Statement(
        "UPDATE page_source SET body = :data, record_id = NULL"
        " WHERE id = :id AND record_id = :record"
    ),
    "page_picture": Statement(
        "UPDATE page_picture SET picture = :data, record_id = NULL"
        " WHERE page_source_id = :id AND record_id = :record"
    ),
}


@dataclass(slots=True)
class Moved:
    """What a move did. ``faults`` are of records that stay where they are."""

    records: int = 0
    faults: list[str] | None = None

    def leave(self, fault: str) -> None:
        """Note a record that cannot be read."""
        self.faults = [*(self.faults or ()), fault]


def records_elsewhere(c: Connection, store_id: int) -> int:
    """How many records are in other stores than this one."""
    count: int = c.execute(
        select(func.count())
        .select_from(page_record)
        .join(page_file, page_file.c.id == page_record.c.file_id)
        .where(page_file.c.store_id != store_id)
    ).scalar_one()
    return count


def move_records(work: StoreWork) -> Moved:
    """Copy all records of other stores into files of this one, and let their rows say so.

    Their old files are retired, and deleted by a later `db prune`.

    Raises:
        PageStoreError: this store cannot be written, or another process has taken it over.
    """
    moved = _copy_pages(work, page_file.c.store_id != work.store.id)
    work.write(partial(_retire_others, store_id=work.store.id))
    return moved


def _retire_others(c: Connection, store_id: int) -> int:
    others = c.execute(
        select(page_file.c.store_id).where(page_file.c.store_id != store_id).distinct()
    )
    return retire_empty(c, list(others.scalars()))


def repack(work: StoreWork, file_ids: Sequence[int]) -> Moved:
    """Copy what is still needed of these files into new ones.

    Raises:
        PageStoreError: as :func:`move_records`.
    """
    return _copy_pages(work, page_file.c.id.in_(file_ids))


def _copy_pages(work: StoreWork, chosen: Any) -> Moved:
    moved = Moved()
    source = _checked_members(work, chosen, moved)
    while work.pace.goes_on and (number := _fill(work, source)):
        moved.records += number
    return moved


def _fill(work: StoreWork, source: Iterator[tuple[Place, bytes]]) -> int:
    """Fill one file from *source*; returns how many records it got."""
    with ExitStack() as stack:
        file: GrowingFile | None = None
        for place, member in source:
            if file is None:
                file = stack.enter_context(growing_page_file(work))
            file.add(place.digest, member, row_id=place.record_id, old_file_id=place.file_id)
            if not work.pace.step() or file.is_full:
                break
    if file is None:
        return 0
    work.write(partial(_tell, file=file))
    return len(file.records)


def _tell(c: Connection, file: GrowingFile) -> None:
    complete(c, file)
    _MOVE.run_many(
        c,
        [
            {
                "file": file.row_id,
                "offset": record.offset,
                "length": record.length,
                "fault": "",
                "id": record.id,
                "old": record.old_file_id,
            }
            for record in file.records
        ],
    )


def _checked_members(work: StoreWork, chosen: Any, moved: Moved) -> Iterator[tuple[Place, bytes]]:
    last = (0, -1)
    while batch := work.reader.run(partial(_next_places, chosen=chosen, last=last)):
        work.hold.renew()
        last = (batch[-1].file_id, batch[-1].offset)
        for place, member in members(batch):
            try:
                if isinstance(member, PageStoreError):
                    raise member
                # What is damaged is not carried on as if it were good.
                checked_payload(place, member)
            except PageStoreError as error:
                moved.leave(str(error))
            else:
                yield place, member


def _next_places(c: Connection, chosen: Any, last: tuple[int, int]) -> list[Place]:
    file_id, offset = last
    is_behind = (page_record.c.file_id > file_id) | (
        (page_record.c.file_id == file_id) & (page_record.c.offset_bytes > offset)
    )
    rows = c.execute(
        place_rows()
        .where(chosen, is_behind)
        .order_by(page_record.c.file_id, page_record.c.offset_bytes)
        .limit(_RECORDS_AT_A_TIME)
    )
    return [Place(*row) for row in rows]


# --- back into the database ---------------------------------------------------------------------


def rows_outside(c: Connection) -> int:
    """How many pages and pictures are in files."""
    return sum(
        c.execute(
            select(func.count()).select_from(table).where(table.c.record_id.is_not(None))
        ).scalar_one()
        for table in (page_source, page_picture)
    )


def move_to_database(reader: Reader, writer: Writer, advance: Advance) -> Moved:
    """Put all pages and pictures into their rows again; the files are retired then."""
    moved = Moved()
    for table, key, packed in (
        (page_source, page_source.c.id, compress),
        (page_picture, page_picture.c.page_source_id, bytes),
    ):
        after = 0
        while rows := reader.run(partial(_rows_outside, table=table, key=key, after=after)):
            after = rows[-1][0]
            found = reader.run(partial(payloads, record_ids=[record for _id, record in rows]))
            values = []
            for row_id, record in rows:
                data = found[record]
                if isinstance(data, PageStoreError):
                    moved.leave(str(data))
                    continue
                values.append({"data": packed(data), "id": row_id, "record": record})
            writer.run(partial(_TAKE_BACK[table.name].run_many, rows=values))
            moved.records += len(values)
            if not advance(len(rows)):
                return moved
    return moved


def _rows_outside(c: Connection, table: Table, key: Any, after: int) -> list[tuple[int, int]]:
    rows = c.execute(
        select(key, table.c.record_id)
        .where(table.c.record_id.is_not(None), key > after)
        .order_by(key)
        .limit(_ROWS_AT_A_TIME)
    )
    return [(row[0], row[1]) for row in rows]


def is_unnamed(record: Any) -> Any:
    """The condition that no page and no picture names *record*, a column with its number."""
    return ~(
        exists().where(page_source.c.record_id == record)
        | exists().where(page_picture.c.record_id == record)
    )


# --- Files are kept as small as what they are needed for ------------------------------------------

_PRUNED_AT_A_TIME = 500
# A file with less than this share of it needed is made anew, and so are files so much smaller
# than a whole one, where there are two of them.
_LEAST_LIVE = 0.6
_SMALL = 0.5


@dataclass(slots=True)
class StorePruned:
    """What pruning did to a store. ``faults`` are of records that could not be copied."""

    records: int = 0
    repacked_files: int = 0
    deleted_files: int = 0
    deleted_bytes: int = 0
    faults: list[str] = field(default_factory=list)


def prune_store(work: StoreWork, retired_before: datetime) -> StorePruned:
    """Forget records nobody names, copy the rest out of sparse files, delete old files.

    A file that is needed no more stays until it was retired before *retired_before*: a database
    that is restored from a copy of before still finds its pages. It may be stopped anywhere.

    Raises:
        PageStoreError: the store does not answer, or another process has taken it over.
    """
    done = StorePruned()
    work.store.files.drop_leftovers()
    last = 0
    while True:
        some, last = work.write(partial(_drop_unnamed, store_id=work.store.id, after=last))
        done.records += some
        if not last:
            break
    sparse = work.reader.run(partial(_sparse_files, work=work))
    if sparse:
        moved = repack(work, sparse)
        done.faults = moved.faults or []
    done.repacked_files = len(sparse)
    work.write(partial(retire_empty, store_ids=[work.store.id]))
    for row_id, name, size in work.reader.run(
        partial(deletable, store_id=work.store.id, retired_before=retired_before)
    ):
        # The file first: a row without a file is found and finished by the next time.
        work.hold.renew()
        work.store.files.delete(name)
        work.write(partial(forget, row_id=row_id))
        done.deleted_files += 1
        done.deleted_bytes += size
    return done


def _drop_unnamed(c: Connection, store_id: int, after: int) -> tuple[int, int]:
    """Look through the next records; returns how many went, and the last one (0 at the end)."""
    ids = (
        c.execute(
            select(page_record.c.id)
            .join(page_file, page_file.c.id == page_record.c.file_id)
            .where(page_file.c.store_id == store_id, page_file.c.state == FileState.COMPLETE)
            .where(page_record.c.id > after)
            .order_by(page_record.c.id)
            .limit(_PRUNED_AT_A_TIME)
        )
        .scalars()
        .all()
    )
    if not ids:
        return 0, 0
    gone = c.execute(
        delete(page_record).where(page_record.c.id.in_(ids), is_unnamed(page_record.c.id))
    )
    return gone.rowcount, ids[-1]


def _sparse_files(c: Connection, work: StoreWork) -> list[int]:
    files = live_bytes(c, work.store.id)
    sparse = [row_id for row_id, size, live in files if live < _LEAST_LIVE * size]
    small = [
        row_id
        for row_id, size, live in files
        if row_id not in sparse and size < _SMALL * work.file_bytes
    ]
    return sorted([*sparse, *(small if len(small) > 1 or sparse else [])])


# --- Reads stored pages and compares them with their digests --------------------------------------

_MOST_FAULT_CHARS = 200


@dataclass(slots=True)
class Verified:
    """How many payloads were read, and what is wrong with others, in words that name the place."""

    good: int = 0
    faults: list[str] = field(default_factory=list)
    is_cut: bool = False


def payload_count(c: Connection) -> int:
    """How many payloads :func:`verify` looks at; a file keeps those that were moved back, too."""
    in_files = select(func.count()).select_from(place_rows().subquery())
    in_rows = select(func.count()).where(page_source.c.record_id.is_(None))
    return int(c.scalar(in_files) or 0) + int(c.scalar(in_rows) or 0)


def verify(reader: Reader, writer: Writer, advance: Advance, *, share: float = 1.0) -> Verified:
    """Read a *share* (in (0, 1]) of all payloads, those in files and those in the database.

    What is wrong with a record stays noted with it until it is verified again.
    """
    done = Verified()
    for batch_of, faults_of in (
        (_places_to_verify, _faults_in_files),
        (_next_rows, _faults_in_rows),
    ):
        after = 0
        while batch := reader.run(partial(batch_of, after=after)):
            after = _id_of(batch[-1])
            chosen = [one for one in batch if share >= 1.0 or random.random() < share]
            found = faults_of(reader, chosen)
            if batch_of is _places_to_verify and chosen:
                writer.run(partial(_note, found=found, verified=[_id_of(one) for one in chosen]))
            done.faults += found.values()
            done.good += len(chosen) - len(found)
            if not advance(len(batch)):
                done.is_cut = True
                return done
    return done


def _id_of(one: Any) -> int:
    number: int = one.record_id if isinstance(one, Place) else one.id
    return number


def _places_to_verify(c: Connection, after: int) -> list[Any]:
    rows = c.execute(
        place_rows()
        .where(page_record.c.id > after)
        .order_by(page_record.c.id)
        .limit(_RECORDS_AT_A_TIME)
    )
    return [Place(*row) for row in rows]


def _faults_in_files(_reader: Reader, chosen: Collection[Place]) -> dict[int, str]:
    faults = {}
    for place, member in members(chosen):
        try:
            if isinstance(member, PageStoreError):
                raise member
            checked_payload(place, member)
        except PageStoreError as error:
            faults[place.record_id] = str(error)
    return faults


def _note(c: Connection, found: dict[int, str], verified: Collection[int]) -> None:
    c.execute(
        update(page_record)
        .where(page_record.c.id.in_(verified), page_record.c.fault != "")
        .values(fault="")
    )
    for record_id, fault in found.items():
        c.execute(
            update(page_record)
            .where(page_record.c.id == record_id)
            .values(fault=clean_word(fault, _MOST_FAULT_CHARS))
        )


def _next_rows(c: Connection, after: int) -> list[Any]:
    return list(
        c.execute(
            select(
                page_source.c.id,
                url.c.url,
                page_source.c.digest,
                page_source.c.body_bytes,
                page_source.c.body,
            )
            .join(url, url.c.id == page_source.c.url_id)
            .where(page_source.c.record_id.is_(None), page_source.c.id > after)
            .order_by(page_source.c.id)
            .limit(_ROWS_AT_A_TIME)
        )
    )


def _faults_in_rows(reader: Reader, chosen: Collection[Any]) -> dict[int, str]:
    return reader.run(partial(_row_faults, chosen=chosen))


def _row_faults(c: Connection, chosen: Collection[Any]) -> dict[int, str]:
    faults = {}
    for row in chosen:
        place = f"page_source {row.id} ({row.url})"
        try:
            body = unpack_body(c, row.body)
        except PageStoreError as error:
            faults[row.id] = f"{place}: {error}"
            continue
        # Of a body that was cut, the digest is that of the whole.
        if len(body) == row.body_bytes and digest16(body) != bytes(row.digest):
            faults[row.id] = f"{place}: not what was fetched"
    return faults
