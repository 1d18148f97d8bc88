"""The database: open it, bring its schema up to date, check it, lock it for one crawl."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from qiaocrawl.errors import DatabaseLostError, SchemaError, StorageError
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.storage import migrate
from qiaocrawl.storage.engine import (
    begin_reading,
    create_private_file,
    display_url,
    make_engine,
    sqlite_path,
)
from qiaocrawl.storage.locking import CrawlLock, who_runs
from qiaocrawl.storage.sql import unreachable

# --- Whether the SQLite files that are open are still the ones at their path ----------------------
# A deleted file takes writes as long as a process has it open, and no error says they are lost.

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


# --- The database: open it, bring its schema up to date, check it, lock it for one crawl ----------


class Database:
    """An engine and what belongs to it. Use :meth:`open`; close it, or use ``with``."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.file: SqliteFile | None = None
        """The SQLite file that was opened; None for a server."""
        if engine.dialect.name == "sqlite":
            self.file = SqliteFile(sqlite_path(engine.url))
        self.limits_patience: list[Callable[[float], None]] = []
        """One function for each thread using the database; it shortens that thread's patience."""
        self._crawl_lock: CrawlLock | None = None

    @property
    def url(self) -> str:
        """Its address with the password: for the environment of our own processes only."""
        return self.engine.url.render_as_string(hide_password=False)

    @classmethod
    def open(cls, url: str, *, must_exist: bool = False, cache_mb: int = 0) -> Self:
        """The database at *url*; a SQLite file and its folder are made when missing.

        Nothing is connected to yet.

        Args:
            must_exist: a SQLite file that is missing is an error.
            cache_mb: QIAO_SQLITE_CACHE_MB.

        Raises:
            StorageError: not a SQLite file or mysql+pymysql URL, or the file is missing or
                cannot be made.
        """
        try:
            parsed = make_url(url)
        except (ArgumentError, ValueError) as error:
            # The text may hold a password.
            raise StorageError(_("the database URL cannot be read (not shown)")) from error
        engine = make_engine(parsed, cache_mb)
        if engine.dialect.name == "sqlite":
            path = sqlite_path(parsed)
            try:
                if must_exist and not path.exists():
                    raise StorageError(
                        _(
                            "there is no database file {path!r}; begin with `{init}`, or run "
                            "`{upgrade}` or `{import_}`",
                            path=str(path),
                            init=command_here("qiaocrawl init"),
                            upgrade=command_here("qiaocrawl db upgrade"),
                            import_=command_here("qiaocrawl topic import TOPIC"),
                        )
                    )
                create_private_file(path)
            except (OSError, ValueError) as error:
                raise StorageError(
                    _("cannot open database file {path!r}: {error}", path=str(path), error=error)
                ) from error
        return cls(engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def dialect(self) -> str:
        """``"sqlite"`` or ``"mysql"`` (MariaDB too)."""
        return "sqlite" if self.engine.dialect.name == "sqlite" else "mysql"

    @property
    def shown_url(self) -> str:
        """The URL with its password hidden."""
        return display_url(self.engine.url)

    @property
    def is_exclusive(self) -> bool:
        """Whether no other crawl can run: SQLite with the crawl lock held."""
        return self._crawl_lock is not None

    def upgrade(self, *, despite_running: bool = False) -> None:
        """Bring the schema to this version; a current one is left as it is.

        Args:
            despite_running: also while crawls go on, which stop then within seconds.

        Raises:
            SchemaError: the schema is newer than this program, or crawls go on.
            StorageError: the database cannot be reached.
        """
        try:
            if not despite_running:
                self._refuse_running()
            with self.engine.begin() as c:
                migrate.upgrade(c)
        except SQLAlchemyError as error:
            raise self._unreachable(error) from error

    def _refuse_running(self) -> None:
        with self.engine.connect() as c:
            revision = migrate.current_revision(c)
            if revision is None or migrate.is_current(revision) or migrate.why_refused(revision):
                return
            running = who_runs(c)
        # Whoever has the lock here runs what asks for the upgrade.
        if running and not self.is_exclusive:
            raise SchemaError(
                _(
                    "database {shown_url} has schema {revision} and is in use: {running}. Stop "
                    "them first; `{command}` upgrades all the same, and they stop then",
                    shown_url=self.shown_url,
                    revision=revision,
                    running="; ".join(running),
                    command=command_here("qiaocrawl db upgrade --despite-running"),
                )
            )

    def require_current(self) -> None:
        """Raise unless the schema is this version's.

        Raises:
            SchemaError: it is missing, older or newer; the message says what to run.
            StorageError: the database cannot be reached.
        """
        try:
            with self.reading() as c:
                migrate.require_current(c, self.shown_url)
        except SQLAlchemyError as error:
            raise self._unreachable(error) from error

    def check(self) -> list[str]:
        """What is wrong with the schema, the data or the server's settings; [] is healthy.

        Raises:
            StorageError: the database cannot be reached.
        """
        try:
            with self.reading() as c:
                return migrate.problems(c)
        except SQLAlchemyError as error:
            raise self._unreachable(error) from error

    def lock_crawl(self, wait_seconds: float = 0.0, name: str = "crawl") -> None:
        """Take this database for one crawl, until :meth:`close` or the process ends.

        A round of several crawls takes it by a *name* of its own.

        MariaDB and MySQL take several at a time: nothing happens there.

        Raises:
            CrawlLockedError: another crawl still runs on this SQLite file after *wait_seconds*.
        """
        if self.dialect == "sqlite" and self._crawl_lock is None:
            self._crawl_lock = CrawlLock(sqlite_path(self.engine.url), wait_seconds, name)

    def limit_wait(self, seconds: float) -> None:
        """Wait no longer than *seconds* for a database that is away or hangs: a run has to end."""
        # Writers and readers add themselves; each thread waits for the database on its own.
        for limit in self.limits_patience:
            limit(seconds)

    def reading(self) -> Connection:
        """A connection that only reads: beside a crawl on SQLite it takes no lock of writers."""
        return begin_reading(self.engine.connect())

    def close(self) -> None:
        """Close idle connections and release the crawl lock."""
        self.engine.dispose()
        if self._crawl_lock is not None:
            self._crawl_lock.release()
            self._crawl_lock = None

    def _unreachable(self, error: SQLAlchemyError) -> StorageError:
        return unreachable(error, self.shown_url)
