"""Engines: how a connection to SQLite or MySQL/MariaDB is set up."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    RootTransaction,
    create_engine,
    event,
)
from sqlalchemy.pool import NullPool

from qiaocrawl.errors import StorageError
from qiaocrawl.items import Candidate
from qiaocrawl.language import _
from qiaocrawl.machine import memory_mb
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.pages.site_dictionaries import SiteDictionaries
from qiaocrawl.storage.sql import Statement, sqlite_cache

# --- A cache per connection of what it has committed, to ask the database less --------------------
# It keeps only what stays true (rows of ``topic``, ``host`` and ``url`` are never
# deleted). A rollback forgets everything, since rows it has seen may not exist.

_INFO_KEY = "qiaocrawl"

# About 20 MB. Navigation links come back on every page of a site, so even a short memory
# saves nine lookups in ten.
_MAX_OFFERS = 100_000
_MAX_HOSTS = 100_000

_Offer = tuple[str, str, float, int, bool]


class ConnectionCache:
    """Caches topic ids, hosts that have a row, and URLs that were offered lately.

    Attributes:
        titles_held_in: the transaction that took the lock of the title log last.
        idf_version: of the IDF snapshot in use, as it was read with that lock.
        dictionaries: of the pages of sites.
        title_writes: rows this connection has written to the title log.
    """

    __slots__ = (
        "_hosts",
        "_offers",
        "dictionaries",
        "idf_version",
        "title_writes",
        "titles_held_in",
        "topic_ids",
    )

    def __init__(self) -> None:
        self.topic_ids: dict[str, int] = {}
        self.dictionaries = SiteDictionaries()
        self.titles_held_in: RootTransaction | None = None
        self.idf_version = 0
        self.title_writes = 0
        self._hosts: set[int] = set()
        self._offers: dict[bytes, _Offer] = {}

    @classmethod
    def of(cls, c: Connection) -> ConnectionCache:
        """The cache of *c*'s driver connection."""
        # Kept in SQLAlchemy's info, which lives and dies with the driver's connection.
        memory: ConnectionCache | None = c.info.get(_INFO_KEY)
        if memory is None:
            memory = c.info[_INFO_KEY] = cls()
        return memory

    @staticmethod
    def forget(c: Connection) -> None:
        """Forget everything: something was rolled back."""
        c.info.pop(_INFO_KEY, None)

    def already_offered(self, candidate: Candidate) -> bool:
        """Whether the same URL was offered for the same queue and topic, no worse than now."""
        last = self._offers.get(candidate.key)
        return (
            last is not None
            and not candidate.refetch
            and last[0] == candidate.queue
            and last[1] == candidate.topic
            # A better score or a shorter way has to reach the row.
            and last[2] >= candidate.score
            and last[3] <= candidate.depth
            # A link that does not leave the URL out revives it, so it must reach the database.
            and (candidate.left_out is not None or not last[4])
        )

    def remember(self, offered: Iterable[Candidate]) -> None:
        """Note what was offered; the oldest notes make room."""
        offers = self._offers
        for candidate in offered:
            offers[candidate.key] = (
                candidate.queue,
                candidate.topic,
                candidate.score,
                candidate.depth,
                candidate.left_out is not None,
            )
        if len(offers) > _MAX_OFFERS:
            # Half at once, in the order of insertion: trimming costs nothing per page.
            for key in list(islice(offers, len(offers) - _MAX_OFFERS // 2)):
                del offers[key]

    def unseen_hosts(self, row_ids: Iterable[int]) -> set[int]:
        """Those of *row_ids* that may have no row yet; they count as seen from now on."""
        unseen = set(row_ids) - self._hosts
        if len(self._hosts) > _MAX_HOSTS:
            # All at once: a host that is asked about again costs one INSERT that changes nothing.
            self._hosts.clear()
        self._hosts |= unseen
        return unseen


# --- Engines: how a connection to SQLite or MySQL/MariaDB is set up -------------------------------

BUSY_SECONDS = 30.0
"""How long SQLite waits for another process's transaction before it says "locked"."""

# A server that does not answer within this long is treated as gone (the driver's default is
# to wait for ever). Longer than any statement of ours but migrations, which lift it.
_MYSQL_READ_SECONDS = 120
_MYSQL_CONNECT_SECONDS = 10
# A worker stopped in mid-transaction holds locks that the others wait for; they give up after
# ten minutes (see writer). Longer than a tool of ours computes between two statements.
_IDLE_TRANSACTION_SECONDS = 300

_SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    # With WAL a killed process loses nothing; a power cut may lose the last commits.
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}",
    "PRAGMA temp_store=MEMORY",
    # Pages written again and again reach the file once per 16 MB of log, not per 4.
    "PRAGMA wal_autocheckpoint=4000",
    # The log is cut back to this after a checkpoint.
    "PRAGMA journal_size_limit=67108864",
)
_LEAST_CACHE_MB, _MOST_CACHE_MB = 64, 512
_CACHE_SHARE = 32


def make_engine(url: URL, cache_mb: int = 0) -> Engine:
    """The engine for *url*, which is a SQLite file or mysql+pymysql.

    Args:
        cache_mb: for pages of a SQLite file, in each connection; 0 goes by the machine.

    Raises:
        StorageError: another kind of database, or one in memory.
    """
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, cache_mb or machine_cache_mb())
    if url.drivername in ("mysql+pymysql", "mariadb+pymysql"):
        if not url.database:
            raise StorageError(
                _("database {shown!r} must name a database after the host", shown=display_url(url))
            )
        return _mysql_engine(url)
    raise StorageError(
        _(
            "database {shown!r} must start with sqlite:/// or mysql+pymysql://",
            shown=display_url(url),
        )
    )


def display_url(url: URL) -> str:
    """*url* for display: without its password."""
    return url.render_as_string(hide_password=True)


def sqlite_path(url: URL) -> Path:
    """The file of a SQLite *url*.

    Raises:
        StorageError: it has none (a database in memory).
    """
    name = url.database or ""
    if not name or name == ":memory:" or "mode=memory" in str(url) or name.startswith("file:"):
        raise StorageError(
            _(
                "database {shown!r} must name a file, as sqlite:///data/qiaocrawl.db",
                shown=display_url(url),
            )
        )
    return Path(name)


def begin_reading(c: Connection) -> Connection:
    """Mark *c* as one that only reads: its transactions take no write lock on SQLite."""
    return c.execution_options(qiao_reads=True)


def create_private_file(path: Path) -> None:
    """Create *path* and its folder when missing, readable by its owner alone.

    SQLite gives its ``-wal`` and ``-shm`` files the mode of the database file.
    """
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    # One that exists is not opened: to close it would cancel all locks this process has on it
    # (POSIX), and the next process to leave would take the log away from under us.
    if not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def machine_cache_mb() -> int:
    """What a connection to SQLite may keep of its file on this machine."""
    # Keys of URLs are hashes: where the upper parts of their index are not in memory, each new
    # URL is a read. A crawl has two connections; SQLite takes no more than it needs.
    return min(max(memory_mb() // _CACHE_SHARE, _LEAST_CACHE_MB), _MOST_CACHE_MB)


def _sqlite_engine(url: URL, cache_mb: int) -> Engine:
    # Raises for a database in memory, which every connection would see empty.
    sqlite_path(url)
    engine = create_engine(
        url,
        # A pooled connection would keep the WAL's read mark of its last user; opening is cheap.
        poolclass=NullPool,
        # Error messages end up in logs: no page's text or cookie may stand in them.
        hide_parameters=True,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", partial(_set_up_sqlite, cache_mb))
    event.listen(engine, "begin", _begin_sqlite)
    _forget_what_was_not_committed(engine)
    return engine


def _set_up_sqlite(cache_mb: int, connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own transaction handling would begin deferred; ours follows in _begin_sqlite.
    connection.isolation_level = None
    # For SQL that looks into texts; other databases have no such function.
    connection.create_function("unpacked_text", 1, unpack_text, deterministic=True)
    # SQLite's own lower() knows A to Z only: Été would have other small letters than here.
    connection.create_function("lowered_text", 1, _lower_text, deterministic=True)
    for pragma in (*_SQLITE_PRAGMAS, sqlite_cache(cache_mb)):
        connection.execute(pragma).close()


def _lower_text(stored: bytes | str | None) -> str:
    return unpack_text(stored).lower()


def _begin_sqlite(c: Connection) -> None:
    # A deferred transaction that reads first and writes later fails with "locked" when another
    # got in between (measured: 695 of 800); IMMEDIATE waits its turn instead (0 of 800).
    reads = c.get_execution_options().get("qiao_reads", False)
    c.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _forget_what_was_not_committed(engine: Engine) -> None:
    event.listen(engine, "rollback", _forget)
    # A commit that fails rolls back without that event: on a cluster, where another member was
    # first; on a server that has become read-only.
    event.listen(engine, "handle_error", _forget_after_error)


def _forget_after_error(context: ExceptionContext) -> None:
    if context.connection is not None:
        _forget(context.connection)


def _forget(c: Connection) -> None:
    # A broken connection has no info to clear, and is not used again.
    if not c.closed and not c.invalidated:
        ConnectionCache.forget(c)


def _mysql_engine(url: URL) -> Engine:
    arguments: dict[str, Any] = {
        "connect_timeout": _MYSQL_CONNECT_SECONDS,
        "read_timeout": _MYSQL_READ_SECONDS,
        "write_timeout": _MYSQL_READ_SECONDS,
        # Strict whatever the server's default: values that do not fit are errors, not cut.
        "init_command": "SET SESSION sql_mode='STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', "
        "time_zone='+00:00'"
        # To MySQL, which has no such limit, this is a comment.
        f" /*M!100300 , idle_transaction_timeout={_IDLE_TRANSACTION_SECONDS} */",
    }
    engine = create_engine(
        url.update_query_dict({"charset": "utf8mb4"}),
        # The default, REPEATABLE READ, locks gaps between keys, so that inserting workers
        # deadlock, and hides what others committed since the transaction began.
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        # Servers drop connections that were idle for eight hours (wait_timeout), firewalls sooner.
        pool_recycle=1800,
        hide_parameters=True,
        connect_args=arguments,
    )
    event.listen(engine, "do_connect", _connect_to_mysql)
    _forget_what_was_not_committed(engine)
    return engine


def _connect_to_mysql(
    _dialect: object, _record: object, _given: object, named: dict[str, Any]
) -> object:
    return _mysql_connection()(**named)


@cache
def _mysql_connection() -> type:
    """The driver's connection, but one whose URL names no certificates reads none.

    The driver would read all authorities of the machine for each connection, 30 ms, and then
    check none. One that names some reads them anew each time: they may have been renewed.
    """
    import ssl

    from pymysql.connections import Connection

    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE

    class MysqlConnection(Connection):  # type: ignore[misc]
        def _create_ssl_ctx(self, asked: dict[str, object]) -> ssl.SSLContext:
            context: ssl.SSLContext = super()._create_ssl_ctx(asked) if asked else unchecked
            return context

    return MysqlConnection


# --- The one clock for leases and waiting rows, whatever the workers' own clocks say --------------

_SERVER_TIME = Statement("SELECT UNIX_TIMESTAMP(SYSDATE(6))")


def clock(c: Connection) -> float:
    """Epoch seconds by the database server's clock; by this machine's for SQLite.

    Workers on several machines disagree by minutes at times: one that is ahead would take the
    leases of all others for run out.
    """
    if c.dialect.name == "sqlite":
        return time.time()
    return float(_SERVER_TIME.run(c).fetchone()[0])


# For clocks of several machines, and for transactions that had to wait.
_SLACK_SECONDS = 60.0


def latest_due(now: float, longest_seconds: float) -> float:
    """The latest time that can have been stored as the next one of anything, in epoch seconds.

    A stored time after it was written by a clock that ran ahead; whatever waits for it would wait
    for as long as the clock was wrong. So it is put back: lists, articles, queries, rows of the
    frontier, messages, schedules and rests all compare with this.

    Args:
        longest_seconds: from now to the next time, by the rule of what waits.
    """
    return now + longest_seconds + _SLACK_SECONDS
