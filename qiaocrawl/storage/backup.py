"""Copies of a database while it is in use."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL

from qiaocrawl.errors import StorageError
from qiaocrawl.language import _
from qiaocrawl.storage.database import Database
from qiaocrawl.storage.engine import sqlite_path
from qiaocrawl.storage.outfile import growing_file

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
            _dump_program(), f"--defaults-extra-file={defaults}", "--single-transaction",
            # --quick: rows are written as they come; else the client would hold a whole
            # table in memory.
            "--quick", "--hex-blob", "--default-character-set=utf8mb4", url.database or "",
        ]  # fmt: skip
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
        "user": url.username, "password": url.password, "host": url.host or "localhost",
        "port": url.port, "socket": url.query.get("unix_socket"),
    }  # fmt: skip
    lines = [
        "[client]",
        *(f"{name}={_quoted(str(value))}" for name, value in options.items() if value is not None),
    ]
    with tempfile.TemporaryDirectory(prefix="qiaocrawl-") as folder:
        path = Path(folder) / "client.cnf"
        # Mode first, contents after: whoever reads in between finds nothing.
        path.touch(0o600)
        path.write_text("\n".join(lines) + "\n", "utf-8")
        yield path


def _quoted(value: str) -> str:
    # As a MySQL option file reads it: p"a\b is written "p\"a\\b".
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
