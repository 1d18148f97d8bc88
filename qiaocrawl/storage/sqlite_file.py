"""Whether the SQLite files that are open are still the ones at their path.

A deleted file takes writes as long as a process has it open, and no error says they are lost.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from pathlib import Path

from sqlalchemy import Connection

from qiaocrawl.errors import DatabaseLostError
from qiaocrawl.language import _

logger = logging.getLogger(__name__)

_Identity = tuple[int, int] | None


class SqliteFile:
    """The database file at *path*, as it is now."""

    def __init__(self, path: Path) -> None:
        # Absolute, since the program may change its working directory.
        self.path = path.absolute()
        self._identity = _identity(self.path)

    def check(self) -> None:
        """Look at the path; costs a microsecond.

        Done before every transaction, so that at most one group of pages is lost.

        Raises:
            DatabaseLostError: no file or another one is there.
        """
        try:
            now = _identity(self.path)
        except OSError:
            # Not visible at the moment; SQLite itself reports what is wrong.
            return
        if now == self._identity:
            return
        what = _("replaced by another file") if now else _("deleted or moved away")
        raise DatabaseLostError(
            _(
                "database file {path!r} was {what} while it was in use; what was written "
                "to it since is not there: put the file or a backup in its place, see that "
                "`qiaocrawl db check` is content, and run the same command again",
                path=str(self.path),
                what=what,
            )
        )


class SqliteLog:
    """The ``-wal`` and ``-shm`` files of *file*, as they are while a connection is open."""

    def __init__(self, file: SqliteFile) -> None:
        self._path = file.path
        self._beside = tuple(f"{file.path}{end}" for end in ("-wal", "-shm"))
        self._identities = self._look()

    def check(self) -> None:
        """Look at the paths.

        Raises:
            DatabaseLostError: one is not there or another one.
        """
        try:
            is_same = self._look() == self._identities
        except OSError:
            return
        if not is_same:
            raise DatabaseLostError(
                _(
                    "the files {name}-wal and {name}-shm in {parent!r} were deleted while "
                    "the database was in use; what they held was written back: see that "
                    "`qiaocrawl db check` is content, and run the same command again",
                    name=self._path.name,
                    parent=str(self._path.parent),
                )
            )

    def _look(self) -> tuple[_Identity, ...]:
        return tuple(map(_identity, self._beside))


def write_back(c: Connection) -> None:
    """Copy what the log of *c* holds into the database file."""
    driver = c.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        # On the driver: the engine would begin a transaction, within which no checkpoint runs.
        # FULL waits for readers, so that all of the log is copied.
        driver.execute("PRAGMA wal_checkpoint(FULL)").close()
    except sqlite3.Error as error:
        logger.error("what the log of the database held could not be written back: %s", error)


def _identity(path: Path | str) -> _Identity:
    """Device and inode of *path*; None when there is no such file."""
    # NotADirectoryError: a folder of the path was replaced by a file.
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
