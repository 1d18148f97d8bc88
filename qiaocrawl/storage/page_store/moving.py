"""Records go from file to file, and pages back into the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, exists, func, select

from qiaocrawl.errors import PageStoreError
from qiaocrawl.storage.compression import compress
from qiaocrawl.storage.page_store.files_table import (
    Advance,
    GrowingFile,
    StoreWork,
    complete,
    growing_page_file,
    retire_empty,
)
from qiaocrawl.storage.page_store.reading import (
    Place,
    checked_payload,
    members,
    payloads,
    place_rows,
)
from qiaocrawl.storage.raw_sql import Statement
from qiaocrawl.storage.schema import page_file, page_picture, page_record, page_source
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
        select(func.count()).select_from(page_record)
        .join(page_file, page_file.c.id == page_record.c.file_id)
        .where(page_file.c.store_id != store_id)
    ).scalar_one()  # fmt: skip
    return count


def move_records(work: StoreWork) -> Moved:
    """Copy all records of other stores into files of this one, and let their rows say so.

    Their old files are retired, and deleted by a later `db prune`.

    Raises:
        PageStoreError: this store cannot be written, or another process has taken it over.
    """
    moved = _copied(work, page_file.c.store_id != work.store.id)
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
    return _copied(work, page_file.c.id.in_(file_ids))


def _copied(work: StoreWork, chosen: Any) -> Moved:
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
    _MOVE.run_many(c, [
        {"file": file.row_id, "offset": record.offset, "length": record.length, "fault": "",
         "id": record.id, "old": record.old_file_id}
        for record in file.records
    ])  # fmt: skip


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
        c.execute(select(func.count()).select_from(table).where(table.c.record_id.is_not(None)))
        .scalar_one() for table in (page_source, page_picture)
    )  # fmt: skip


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


def unnamed(record: Any) -> Any:
    """The condition that no page and no picture names *record*, a column with its number."""
    return ~(
        exists().where(page_source.c.record_id == record)
        | exists().where(page_picture.c.record_id == record)
    )
