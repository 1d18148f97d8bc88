"""Backups put back, into a database that is empty or may be overwritten."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from sqlalchemy import URL, MetaData, Table, delete, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import DropTable

from qiaocrawl.errors import SchemaError, StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.backup import Progress, copy_pages, defaults_file
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.error_kinds import unreachable
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.storage.running import who_runs, who_serves
from qiaocrawl.storage.schema import collector

_BLOCK_BYTES = 1024 * 1024
_SQLITE_MAGIC = b"SQLite format 3\x00"
_GZIP_MAGIC = b"\x1f\x8b"
# The last line that mariadb-dump and mysqldump write, when all went well.
_DUMP_END = b"-- Dump completed"
_CLIENTS = ("mariadb", "mysql")


def restore(
    database: Database, source: Path, progress: Progress, *, overwrite: bool = False
) -> None:
    """Make *database* what the backup *source* has.

    Args:
        progress: called with the bytes done and those of the file.
        overwrite: tables that are there are lost; else they are an error.

    Raises:
        SchemaError: crawls go on there.
        StorageError: *source* is missing, cut, damaged or of the other kind of database; *database*
            has tables; the client program is missing or failed.
    """
    try:
        with source.open("rb") as file:
            head = file.read(len(_SQLITE_MAGIC))
    except OSError as error:
        raise StorageError(f"{source}: {error.strerror}") from None
    is_sqlite = head == _SQLITE_MAGIC
    if is_sqlite != (database.dialect == "sqlite"):
        kinds = {True: "SQLite", False: "MariaDB/MySQL"}
        raise StorageError(
            _("{source} is no backup of {kind}, which {url} is",
              source=source, kind=kinds[not is_sqlite], url=database.shown_url)
        )  # fmt: skip
    if is_sqlite:
        _check_sqlite(source)
    else:
        _check_dump(source)
    _refuse(database, overwrite=overwrite)
    if is_sqlite:
        _restore_sqlite(database, source, progress)
    else:
        _restore_mysql(database, source, progress)
        _forget_workers(database)


def _refuse(database: Database, *, overwrite: bool) -> None:
    """Raise where tables are that may not be lost, or are in use."""
    serving: list[str] = []
    try:
        # Of a file that is damaged too: its console would go on with what is put in its place.
        serving = who_serves(database.engine)
        with database.engine.connect() as c:
            tables = inspect(c).get_table_names()
            running = who_runs(c) if tables and not serving else serving
    except SQLAlchemyError as error:
        # What is damaged may be overwritten: that is what backups are for.
        if not (overwrite and database.dialect == "sqlite"):
            raise unreachable(error, database.shown_url) from error
        tables, running = [], serving
    if running:
        raise SchemaError(
            _("database {shown_url} is in use: {running}. Stop them first",
              shown_url=database.shown_url, running="; ".join(running))
        )  # fmt: skip
    if tables and not overwrite:
        raise StorageError(
            _(
                "database {shown_url} has {count} tables; --overwrite lets them be lost",
                shown_url=database.shown_url,
                count=len(tables),
            )
        )


# --- SQLite -------------------------------------------------------------------------------------


def _opened_sqlite(source: Path) -> sqlite3.Connection:
    # Without a log of its own it is whole; to look for one SQLite would leave two files beside it.
    has_log = source.with_name(f"{source.name}-wal").exists()
    how = "mode=ro" if has_log else "mode=ro&immutable=1"
    # as_uri(): behind the # of a name SQLite would see no mode, and make an empty file to restore.
    return sqlite3.connect(f"{source.absolute().as_uri()}?{how}", uri=True)


def _check_sqlite(source: Path) -> None:
    try:
        with closing(_opened_sqlite(source)) as c:
            (verdict,) = c.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise StorageError(
            _("the backup {source} is damaged: {verdict}", source=source, verdict=verdict)
        )


def _restore_sqlite(database: Database, source: Path, progress: Progress) -> None:
    target = sqlite_path(database.engine.url)
    size = source.stat().st_size

    def tell(_status: int, remaining: int, total: int) -> None:
        progress(int(size * (total - remaining) / max(total, 1)), size)

    database.engine.dispose()
    # Beside it, and renamed when it is whole: a kill leaves what was there.
    with growing_file(target) as part:
        part.touch(0o600)
        part.chmod(0o600)
        with closing(_opened_sqlite(source)) as reader:
            copy_pages(reader, part, tell)
        # The log of the old file is none of the new one's.
        for name in ("-wal", "-shm"):
            target.with_name(target.name + name).unlink(missing_ok=True)


# --- MariaDB and MySQL ----------------------------------------------------------------------------


def _check_dump(source: Path) -> None:
    last = b""
    try:
        with _opened_dump(source) as file:
            while block := file.read(_BLOCK_BYTES):
                last = (last + block)[-4096:]
    except (OSError, EOFError, zlib.error) as error:
        raise StorageError(
            _("the backup {source} is damaged: {verdict}", source=source, verdict=error)
        ) from None
    if _DUMP_END not in last:
        raise StorageError(_("the backup {source} is cut: its last line is missing", source=source))


@contextmanager
def _opened_dump(source: Path) -> Iterator[IO[bytes]]:
    with source.open("rb") as raw:
        is_packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        yield gzip.GzipFile(fileobj=raw) if is_packed else raw  # type: ignore[misc]


def _restore_mysql(database: Database, source: Path, progress: Progress) -> None:
    _drop_tables(database)
    url = database.engine.url
    with defaults_file(url) as defaults, tempfile.TemporaryFile() as errors:
        command = [_client(), f"--defaults-extra-file={defaults}",
                   "--default-character-set=utf8mb4", "--binary-mode", _name(url)]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) as process:
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # it says why
                _feed(process.stdin, source, progress)
        if process.returncode:
            errors.seek(0)
            message = errors.read().decode("utf-8", "replace").strip()
            raise StorageError(
                _(
                    "{command} failed ({returncode}): {message}",
                    command=command[0],
                    returncode=process.returncode,
                    message=message,
                )
            )


def _feed(target: IO[bytes], source: Path, progress: Progress) -> None:
    done = 0
    with target, _opened_dump(source) as file:
        while block := file.read(_BLOCK_BYTES):
            target.write(block)
            done += len(block)
            progress(done, 0)


def _drop_tables(database: Database) -> None:
    """Empty the database: tables of a newer version must not stand beside the backup's."""
    with database.engine.begin() as c:
        c.execute(text("SET SESSION foreign_key_checks = 0"))
        for name in inspect(c).get_table_names():
            c.execute(DropTable(Table(name, MetaData())))
        c.execute(text("SET SESSION foreign_key_checks = 1"))


def _forget_workers(database: Database) -> None:
    """Take out signs of life: those workers work on the database that was backed up."""
    with database.engine.begin() as c:
        # A backup of an early version has no such table.
        if collector.name in inspect(c).get_table_names():
            c.execute(delete(collector))


def _client() -> str:
    for name in _CLIENTS:
        if program := shutil.which(name):
            return program
    raise StorageError(_("neither mariadb nor mysql is installed here: install the client package"))


def _name(url: URL) -> str:
    return url.database or ""
