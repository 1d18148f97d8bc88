"""Copies of a database while it is in use."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from sqlalchemy import URL, MetaData, Table, delete, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import DropTable

from qiaocrawl.errors import SchemaError, StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.locking import who_runs, who_serves
from qiaocrawl.storage.schema import collector
from qiaocrawl.storage.sql import unreachable

# --- Files that appear under their name only when they are whole; standard output in their
# place

SQLITE_ENDINGS = ("-journal", "-wal", "-shm")
"""Of what SQLite keeps beside a file it writes to."""
_STDOUT = Path("/dev/fd/1")
_NAMES_OF_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(target: Path) -> bool:
    """Whether *target* is what people write for standard output."""
    return str(target) in _NAMES_OF_STDOUT


@contextmanager
def standard_output(suffix: str = "", *, in_order: bool = False) -> Iterator[Path]:
    """A path to write to; what is written there comes out of standard output.

    Args:
        suffix: of the path's name.
        in_order: it is written from beginning to end, so that a pipe can have it at once; else
            the whole comes when the block ends without an error.

    Raises:
        StorageError: whoever reads it has gone, or it cannot be written.
    """
    try:
        if in_order and _is_stream():
            yield _STDOUT
            return
        with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
            part = Path(folder) / f"out{suffix}"
            yield part
            # Not opened by its name: that would cut a file to which the shell appends.
            with part.open("rb") as whole, open(os.dup(1), "wb") as out:
                shutil.copyfileobj(whole, out)
    except OSError as error:
        raise StorageError(_("cannot write standard output: {error}", error=error)) from error


def _is_stream() -> bool:
    mode = os.fstat(1).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


@contextmanager
def growing_file(target: Path) -> Iterator[Path]:
    """A path to write to; it becomes *target* when the block ends without an error.

    Raises:
        StorageError: the file cannot be written, or *target* is a device or the like, in whose
            place no file may be put.
    """
    if target == _STDOUT and _is_stream():
        yield target  # of standard_output()
        return
    if str(target) == "-":
        # A file of this name is never what was meant.
        raise StorageError(
            _("- stands for standard output, where `qiaocrawl export` alone writes: name a file")
        )
    if target.exists() and not target.is_file():
        raise StorageError(
            _("cannot write {target!r}: it is there and no file", target=str(target))
        )
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Opened now, not at the first write: a folder without rights is reported before an
        # hour of export.
        part.touch()
    except OSError as error:
        raise StorageError(
            _("cannot write {target!r}: {error}", target=str(target), error=error)
        ) from error
    try:
        yield part
        # Atomic on one file system, which is why the part lies beside its target.
        os.replace(part, target)
    except OSError as error:
        raise StorageError(
            _("cannot write {target!r}: {error}", target=str(target), error=error)
        ) from error
    finally:
        # After an error the half is removed, with what SQLite had beside it; after os.replace there
        # is nothing left to remove.
        for ending in ("", *SQLITE_ENDINGS):
            part.with_name(part.name + ending).unlink(missing_ok=True)


@contextmanager
def growing_folder(folder: Path) -> Iterator[Path]:
    """*folder*, in which the block may make files: after an error none of them is left."""
    before = {file.name for file in folder.iterdir()} if folder.is_dir() else None
    try:
        yield folder
    except BaseException:
        if before is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            for file in folder.iterdir():
                if file.name not in before:
                    file.unlink(missing_ok=True)
        raise


# --- Copies of a database while it is in use ------------------------------------------------------

Progress = Callable[[int, int], None]
"""Called with what is done and the total: pages of a SQLite file, bytes of a dump (total: 0)."""

# 4 MB at a time; writers get in between.
_PAGES_AT_A_TIME = 1_000
_BLOCK_BYTES = 1024 * 1024
_DUMP_PROGRAMS = ("mariadb-dump", "mysqldump")


def backup(database: Database, target: Path, progress: Progress = lambda done, all_: None) -> None:
    """Copy *database* to *target*, consistently, while crawls go on.

    A SQLite database becomes a SQLite file; MariaDB and MySQL become SQL text written by
    ``mariadb-dump`` or ``mysqldump``, compressed when *target* ends in ``.gz``. The file is
    readable by its owner alone and appears under its name only when it is whole.

    Raises:
        StorageError: *target* exists, the dump program is missing or failed, or the copy is
            damaged.
    """
    if target.exists():
        raise StorageError(_("backup target {target!r} exists already", target=str(target)))
    with growing_file(target) as part:
        # The mode is set before anything is in it: the copy holds cookies and sealed passwords.
        part.chmod(0o600)
        if database.dialect == "sqlite":
            _copy_sqlite(sqlite_path(database.engine.url), part, progress)
        else:
            _dump_mysql(database.engine.url, part, progress, compressed=target.suffix == ".gz")


def _copy_sqlite(source: Path, part: Path, progress: Progress) -> None:
    def tell(_status: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    with closing(sqlite3.connect(source)) as reader:
        copy_pages(reader, part, tell)
    try:
        with closing(sqlite3.connect(part)) as copy:
            # A copy of a damaged file is damaged, too; a backup is tested only when it is needed.
            (verdict,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        raise StorageError(
            _("the copy of {source!r} is damaged: {verdict}", source=str(source), verdict=verdict)
        )


def copy_pages(
    reader: sqlite3.Connection, part: Path, progress: Callable[[int, int, int], None]
) -> None:
    """Copy the database that *reader* reads to the file *part*, some pages at a time.

    Args:
        progress: as of ``sqlite3.Connection.backup``.

    Raises:
        StorageError: it cannot be read or written, as on a full disk.
    """
    try:
        with closing(sqlite3.connect(part)) as writer:
            # A half copy is thrown away: no journal has to save it.
            writer.execute("PRAGMA journal_mode=OFF").close()
            reader.backup(writer, pages=_PAGES_AT_A_TIME, progress=progress)
    except sqlite3.Error as error:
        target = str(part.with_name(part.name.removesuffix(".part")))
        raise StorageError(
            _("cannot copy the database to {target!r}: {error}", target=target, error=error)
        ) from error


def _dump_mysql(url: URL, part: Path, progress: Progress, *, compressed: bool) -> None:
    with defaults_file(url) as defaults:
        command = [
            _dump_program(),
            f"--defaults-extra-file={defaults}",
            "--single-transaction",
            # --quick: rows are written as they come; else the client would hold a whole
            # table in memory.
            "--quick",
            "--hex-blob",
            "--default-character-set=utf8mb4",
            url.database or "",
        ]
        # A single transaction reads one snapshot and holds up no crawl; hexadecimal blobs survive
        # whatever charset the copy is read with. Errors go to a file: a full pipe would block.
        with tempfile.TemporaryFile() as errors, part.open("wb") as raw:
            output = gzip.GzipFile(fileobj=raw, mode="wb") if compressed else raw
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
                assert process.stdout is not None
                done = 0
                while block := process.stdout.read(_BLOCK_BYTES):
                    output.write(block)
                    done += len(block)
                    progress(done, 0)
            # Closed before the exit code is looked at: gzip writes its last block when
            # it is closed.
            if compressed:
                output.close()
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


def _dump_program() -> str:
    for name in _DUMP_PROGRAMS:
        if program := shutil.which(name):
            return program
    raise StorageError(
        _(
            "neither mariadb-dump nor mysqldump is installed here: install the client package, "
            "or run on the server: mysqldump --single-transaction --quick --hex-blob DATABASE"
        )
    )


@contextmanager
def defaults_file(url: URL) -> Iterator[Path]:
    """The login in a file of our own: a command line can be read by every user."""
    options = {
        "user": url.username,
        "password": url.password,
        "host": url.host or "localhost",
        "port": url.port,
        "socket": url.query.get("unix_socket"),
    }
    lines = [
        "[client]",
        *(f"{name}={_quote(str(value))}" for name, value in options.items() if value is not None),
    ]
    with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
        path = Path(folder) / "client.cnf"
        # Mode first, contents after: whoever reads in between finds nothing.
        path.touch(0o600)
        path.write_text("\n".join(lines) + "\n", "utf-8")
        yield path


def _quote(value: str) -> str:
    # As a MySQL option file reads it: p"a\b is written "p\"a\\b".
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- Backups put back, into a database that is empty or may be overwritten ------------------------

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
            _(
                "{source} is no backup of {kind}, which {url} is",
                source=source,
                kind=kinds[not is_sqlite],
                url=database.shown_url,
            )
        )
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
            _(
                "database {shown_url} is in use: {running}. Stop them first",
                shown_url=database.shown_url,
                running="; ".join(running),
            )
        )
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
        command = [
            _client(),
            f"--defaults-extra-file={defaults}",
            "--default-character-set=utf8mb4",
            "--binary-mode",
            _name(url),
        ]
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
