"""The table of files: which are being made, which are whole, which are needed no more."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import IO, TypeVar

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from qiaocrawl.errors import PageStoreError
from qiaocrawl.language import _
from qiaocrawl.storage.converters import to_stored_time
from qiaocrawl.storage.page_store.records import info_member
from qiaocrawl.storage.page_store.stores import OpenStore, StoreHold
from qiaocrawl.storage.schema import page_file, page_record
from qiaocrawl.storage.writer import Reader, Writer

T = TypeVar("T")

SUFFIX = ".warc.gz"


class FileState(IntEnum):
    """Where a file stands (``page_file.state``)."""

    WRITING = 0
    """Begun; whoever has the store and did not begin it may delete it."""
    COMPLETE = 1
    """Whole and for good where it belongs; records may name it."""
    RETIRED = 2
    """No record names it; it is kept for a while, for whoever restores an older database."""


Advance = Callable[[int], bool]
"""Called with the number of pages or records just done; False asks to stop."""


class Pace:
    """Tells how far a long pass has come, and whether it is to go on."""

    def __init__(self, advance: Advance = lambda number: True) -> None:
        self._advance = advance
        self.goes_on = True

    def step(self, number: int = 1) -> bool:
        """Count *number* more; False when the pass is to end with what it has in hand."""
        self.goes_on = self._advance(number) and self.goes_on
        return self.goes_on


@dataclass(frozen=True, slots=True)
class StoreWork:
    """What writing, moving and pruning need: the threads of the database, and a held store."""

    reader: Reader
    writer: Writer
    store: OpenStore
    hold: StoreHold
    file_bytes: int
    pace: Pace

    def write(self, operation: Callable[[Connection], T]) -> T:
        """Run *operation* in a transaction, provided that the store is still held."""

        def fenced(c: Connection) -> T:
            self.hold.fence(c)
            return operation(c)

        return self.writer.run(fenced)


@contextmanager
def held_store(
    reader: Reader,
    writer: Writer,
    store: OpenStore,
    *,
    file_bytes: int,
    wait_seconds: float = 0.0,
    advance: Advance = lambda number: True,
) -> Iterator[StoreWork]:
    """The work on *store*, for this process alone.

    Args:
        wait_seconds: how long another process is waited for.

    Raises:
        PageStoreError: another process has it still after *wait_seconds*.
    """
    hold = StoreHold(writer, store.id)
    until = time.monotonic() + wait_seconds
    while holder := hold.take():
        if time.monotonic() >= until:
            raise PageStoreError(
                _(
                    "{holder} writes to {address} now; one at a time does",
                    holder=holder,
                    address=store.files.address,
                )
            )
        time.sleep(0.5)
    try:
        yield StoreWork(reader, writer, store, hold, file_bytes, Pace(advance))
    finally:
        hold.release()


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record in a file that is being made. ``id`` is 0 for one no row has yet."""

    digest: bytes
    offset: int
    length: int
    id: int = 0
    old_file_id: int = 0


class GrowingFile:
    """A file that is being made: records are added, then all of it becomes true at once."""

    def __init__(self, work: StoreWork, name: str, row_id: int, file: IO[bytes]) -> None:
        self._work = work
        self.name = name
        self.row_id = row_id
        self._file = file
        self.records: list[NewRecord] = []
        self.size = 0
        self._write(info_member(name.rpartition("/")[2]))

    @property
    def is_full(self) -> bool:
        """Whether it has reached the size of a file."""
        return self.size >= self._work.file_bytes

    def add(self, digest: bytes, member: bytes, *, row_id: int = 0, old_file_id: int = 0) -> None:
        """Write one record; *row_id* and *old_file_id* of one that is in another file now."""
        self.records.append(NewRecord(digest, self.size, len(member), row_id, old_file_id))
        self._write(member)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.size += len(data)


@contextmanager
def growing_page_file(work: StoreWork) -> Iterator[GrowingFile]:
    """A new file of *work*'s store; at the end of the block it is whole, and not yet told of.

    It has a row before it has a byte: what a killed process left is known by name.
    """
    now = datetime.now(UTC)
    name = f"{now:%Y/%m}/{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:12]}{SUFFIX}"
    row_id = work.write(lambda c: _begin(c, work.store.id, name))
    with work.store.files.writing(name) as file:
        yield GrowingFile(work, name, row_id, file)


def _begin(c: Connection, store_id: int, name: str) -> int:
    result = c.execute(insert(page_file).values(
        store_id=store_id, name=name, state=FileState.WRITING, file_bytes=0,
        created_at=to_stored_time(datetime.now(UTC)),
    ))  # fmt: skip
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


def complete(c: Connection, file: GrowingFile) -> None:
    """Say that *file* is whole; in the transaction that says what is in it.

    Raises:
        PageStoreError: somebody took it for left behind, and deleted it.
    """
    done = c.execute(
        update(page_file)
        .where(page_file.c.id == file.row_id, page_file.c.state == FileState.WRITING)
        .values(state=FileState.COMPLETE, file_bytes=file.size)
    )
    if not done.rowcount:
        raise PageStoreError(_("{name} was deleted while it was written", name=file.name))


def retire_empty(c: Connection, store_ids: Sequence[int]) -> int:
    """Retire the whole files of these stores that no record names; returns how many."""
    return c.execute(
        update(page_file)
        .where(
            page_file.c.store_id.in_(store_ids), page_file.c.state == FileState.COMPLETE,
            ~exists().where(page_record.c.file_id == page_file.c.id),
        )
        .values(state=FileState.RETIRED, retired_at=to_stored_time(datetime.now(UTC)))
    ).rowcount  # fmt: skip


def deletable(c: Connection, store_id: int, retired_before: datetime) -> list[tuple[int, str, int]]:
    """Row, name and bytes of files to delete: retired long ago, or left behind unfinished.

    For whoever holds the store: nobody else is writing one.
    """
    is_old = page_file.c.retired_at <= to_stored_time(retired_before)
    rows = c.execute(
        select(page_file.c.id, page_file.c.name, page_file.c.file_bytes).where(
            page_file.c.store_id == store_id,
            (page_file.c.state == FileState.WRITING)
            | ((page_file.c.state == FileState.RETIRED) & is_old),
        )
    )
    return [(row.id, row.name, row.file_bytes) for row in rows]


def forget(c: Connection, row_id: int) -> None:
    """Delete the row of a file that is deleted."""
    c.execute(delete(page_file).where(page_file.c.id == row_id))


def live_bytes(c: Connection, store_id: int) -> list[tuple[int, int, int]]:
    """Row, size and bytes still named of every whole file of a store, the oldest first."""
    rows = c.execute(
        select(page_file.c.id, page_file.c.file_bytes, func.sum(page_record.c.length_bytes))
        .join(page_record, page_record.c.file_id == page_file.c.id)
        .where(page_file.c.store_id == store_id, page_file.c.state == FileState.COMPLETE)
        .group_by(page_file.c.id, page_file.c.file_bytes)
        .order_by(page_file.c.id)
    )
    return [(row[0], int(row[1]), int(row[2])) for row in rows]
