"""The stores a database knows, whose they are, and who may write to one now."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import IO, TypeVar

from sqlalchemy import Connection, delete, exists, func, insert, or_, select, update

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import clock, latest_due
from qiaocrawl.storage.page_store.files import MARK_FILE, OPTION, PageFiles
from qiaocrawl.storage.page_store.reading import files_at, info_member
from qiaocrawl.storage.schema import page_file, page_record, page_store
from qiaocrawl.storage.values import to_stored_time
from qiaocrawl.storage.writer import Reader, Writer

DATABASE = "database"
"""The value of the option that keeps pages where they come in."""

# Whoever has shown no sign of life for this long has lost the store to the next one.
_HOLD_SECONDS = 120.0
_RENEWAL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A store whose mark was found right; ``id`` is its row."""

    id: int
    files: PageFiles


def known_stores(c: Connection) -> list[tuple[int, str]]:
    """Row and address of every store this database has had."""
    rows = c.execute(select(page_store.c.id, page_store.c.address).order_by(page_store.c.id))
    return [(row.id, row.address) for row in rows]


def open_store(database: Database, address: str) -> OpenStore:
    """The store at *address* for writing; made known to the database at the first time.

    Raises:
        ConfigError: it cannot be written to, is another database's, or is not what this database
            wrote to before (a folder that is not mounted).
    """
    files = files_at(address)
    try:
        mark = files.mark()
        store_id, own_mark = _row_of(database, address, mark)
        if not mark:
            # A second worker that starts now writes the same mark.
            _require_new(database, store_id, address)
            files.require_place()
            files.set_mark(own_mark)
        elif mark != own_mark:
            raise ConfigError(_foreign(address))
    except PageStoreError as error:
        raise ConfigError(_("{option}: {error}", option=OPTION, error=error)) from error
    files.try_out()
    return OpenStore(store_id, files)


def _row_of(database: Database, address: str, mark: str) -> tuple[int, str]:
    """Row and mark of the store at *address*, inserted when it is new."""
    find = select(page_store.c.id, page_store.c.mark).where(page_store.c.address == address)
    with database.engine.begin() as c:
        # The lock of the only transaction that may insert it: SQLite's is the whole file's.
        row = c.execute(find.with_for_update()).one_or_none()
        if row is None:
            _require_own(c, address, mark)
            own = mark or uuid.uuid4().hex
            c.execute(
                insert(page_store)
                .prefix_with("OR IGNORE", dialect="sqlite")
                .prefix_with("IGNORE", dialect="mysql")
                .prefix_with("IGNORE", dialect="mariadb"),
                {"address": address, "mark": own, "holder": "", "held_until": 0.0},
            )
            row = c.execute(find).one()
        return row.id, row.mark


def _require_own(c: Connection, address: str, mark: str) -> None:
    if not mark:
        return
    known_as = c.execute(select(page_store.c.address).where(page_store.c.mark == mark)).scalar()
    if known_as is None:
        raise ConfigError(_foreign(address))
    raise ConfigError(
        _(
            "{option}: {address} is what this database knows as {known_as}; if it was moved "
            "there: `{command}`",
            option=OPTION,
            address=address,
            known_as=known_as,
            command=command_here(f"qiaocrawl pages relocate {known_as} {address}"),
        )
    )


def _foreign(address: str) -> str:
    return _(
        "{option}: {address} holds the pages of another database; give each database a folder "
        "of its own",
        option=OPTION,
        address=address,
    )


def _require_new(database: Database, store_id: int, address: str) -> None:
    with database.engine.connect() as c:
        is_used = c.execute(select(exists().where(page_file.c.store_id == store_id))).scalar()
    if is_used:
        raise ConfigError(
            _(
                "{option}: {address} has no {file}, though pages were stored there: is it mounted, "
                "and the right bucket?",
                option=OPTION,
                address=address,
                file=MARK_FILE,
            )
        )


def relocate(database: Database, old: str, new: str) -> int:
    """Know the store at *old* by its new address; its files were carried there by other means.

    Returns:
        How many files it has.

    Raises:
        ConfigError: no store is known at *old*, or what is at *new* is not that store.
    """
    files = files_at(new)
    with database.engine.begin() as c:
        row = c.execute(select(page_store).where(page_store.c.address == old)).one_or_none()
        if row is None:
            known = ", ".join(address for _id, address in known_stores(c)) or _("none")
            raise ConfigError(
                _("no store is known at {old!r}; known: {known}", old=old, known=known)
            )
        if files.mark() != row.mark:
            raise ConfigError(_("{new} is not the store that was at {old}", new=new, old=old))
        c.execute(update(page_store).where(page_store.c.id == row.id).values(address=new))
        count: int = c.execute(
            select(func.count()).select_from(page_file).where(page_file.c.store_id == row.id)
        ).scalar_one()
        return count


class StoreHold:
    """One process at a time writes, moves or prunes the files of a store.

    It saves work, no more: every write compares states, so that one who lost the store in
    mid-work changes nothing.
    """

    def __init__(self, writer: Writer, store_id: int) -> None:
        self._writer = writer
        self._store_id = store_id
        self._me = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex[:12]}"
        self._renewed = 0.0

    def take(self) -> str:
        """Take the store; returns "" or who has it (machine and process)."""
        return self._writer.run(self._take)

    def _take(self, c: Connection) -> str:
        now = clock(c)
        row = c.execute(
            select(page_store.c.holder, page_store.c.held_until).where(
                page_store.c.id == self._store_id
            )
        ).one()
        is_held = now < row.held_until <= latest_due(now, _HOLD_SECONDS)
        if row.holder not in ("", self._me) and is_held and not _is_dead(row.holder):
            return str(row.holder).rpartition(" ")[0]
        taken = c.execute(
            update(page_store)
            # As it was read: another one may have been quicker.
            .where(page_store.c.id == self._store_id, page_store.c.holder == row.holder)
            .where(or_(page_store.c.held_until == row.held_until, page_store.c.holder == self._me))
            .values(holder=self._me, held_until=now + _HOLD_SECONDS)
        )
        self._renewed = time.monotonic()
        return "" if taken.rowcount else _("another process")

    def fence(self, c: Connection) -> None:
        """Raise unless the store is still held; to be called in each transaction of the work.

        Raises:
            PageStoreError: somebody else took it after this process had been away.
        """
        renewed = c.execute(
            update(page_store)
            .where(page_store.c.id == self._store_id, page_store.c.holder == self._me)
            .values(held_until=clock(c) + _HOLD_SECONDS)
        )
        if not renewed.rowcount:
            raise PageStoreError(_("another process has taken the page store over meanwhile"))
        self._renewed = time.monotonic()

    def renew(self) -> None:
        """Show a sign of life, when the last one is some time ago."""
        if time.monotonic() - self._renewed > _RENEWAL_SECONDS:
            self._writer.run(self.fence)

    def release(self) -> None:
        """Let others have it."""
        self._writer.run(
            lambda c: (
                c.execute(
                    update(page_store)
                    .where(page_store.c.id == self._store_id, page_store.c.holder == self._me)
                    .values(holder="", held_until=0.0)
                ).rowcount
            )
        )


def _is_dead(holder: str) -> bool:
    """Whether *holder* was a process of this machine that is no more."""
    machine, process, _token = (holder.split(" ") + ["", ""])[:3]
    if machine != socket.gethostname() or not process.isdigit():
        return False
    try:
        # Signal 0 asks whether the process is there, without touching it.
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


# --- The table of files: which are being made, which are whole, which are needed no more ----------

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

        def run_fenced(c: Connection) -> T:
            self.hold.fence(c)
            return operation(c)

        return self.writer.run(run_fenced)


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
    result = c.execute(
        insert(page_file).values(
            store_id=store_id,
            name=name,
            state=FileState.WRITING,
            file_bytes=0,
            created_at=to_stored_time(datetime.now(UTC)),
        )
    )
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
            page_file.c.store_id.in_(store_ids),
            page_file.c.state == FileState.COMPLETE,
            ~exists().where(page_record.c.file_id == page_file.c.id),
        )
        .values(state=FileState.RETIRED, retired_at=to_stored_time(datetime.now(UTC)))
    ).rowcount


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
