"""SQL that runs at the speed of the driver.

Measured on SQLite, an UPDATE costs 74 us as a Core expression, 31 us as ``text()``, 13 us by
``exec_driver_sql`` and 3 us on the driver's own cursor. A crawl runs a dozen statements a page,
so those are written once as :class:`Statement` (a third off the whole cost of a page);
everything off the hot path uses Core. Values are always bound, never formatted into the text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Protocol, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from qiaocrawl.errors import DatabaseLostError, StorageError
from qiaocrawl.language import N_, _
from qiaocrawl.storage.schema import State

# --- Classifies database errors: after a passing one the transaction is played again --------------


class DriverError(StorageError):
    """A database driver's error, without the SQL and its values. ``orig`` is the driver's."""

    def __init__(self, orig: BaseException) -> None:
        super().__init__(f"{type(orig).__name__}: {orig}")
        self.orig = orig


@cache
def driver_errors() -> tuple[type[BaseException], ...]:
    """The base errors of the drivers in use; PyMySQL is loaded only where it is installed."""
    try:
        import pymysql
    except ImportError:
        return (sqlite3.Error,)
    return (sqlite3.Error, pymysql.Error)


class ErrorKind(Enum):
    """What kind of error it is."""

    CONTENTION = "contention"
    """Another transaction was in the way: retry at once, a bounded number of times."""
    OUTAGE = "outage"
    """The database is away, full or shutting down: retry until patience ends."""
    LOST = "lost"
    """The database is damaged, or is not the one that was opened: nothing more can be done."""
    OWN = "own"
    """The operation itself is at fault: playing it again would not help."""


# 1205 lock wait timeout, 1213 deadlock, 1020 record changed since last read (MariaDB's
# snapshot check), 3572 NOWAIT lock, 3101 another member of a MySQL group was first, 9007 the same
# of TiDB.
_MYSQL_CONTENTION = {1020, 1205, 1213, 3101, 3572, 9007}
# 0 is PyMySQL's word for a closed connection. 2002/2003/2005 cannot connect, 2006/2013 gone
# away, 4031 idle client (MySQL 8), 1927 killed (MariaDB), 1040 too many connections, 1053
# shutdown, 1077/1079 stopping, 1158-1161 network, 1021/1114 disk or table full, 1290/1836
# read-only, 1317 interrupted, 3100 observer error. Of a member of a Galera cluster: 1047 it is not
# in it (any more), 1180 it was cut off in the middle of a commit.
_MYSQL_OUTAGE = {
    0,
    1021,
    1040,
    1047,
    1053,
    1077,
    1079,
    1114,
    1158,
    1159,
    1160,
    1161,
    1180,
    1290,
    1317,
    1836,
    1927,
    2002,
    2003,
    2005,
    2006,
    2013,
    2014,
    2027,
    2055,
    3100,
    4031,
}
# 1044/1045/1698 name or password, 1049 no such database, 1251/2059 a way to log in that the client
# does not know.
_MYSQL_REFUSED = {1044, 1045, 1251, 1698, 2059}
_MYSQL_NO_DATABASE = 1049
_MYSQL_FULL = {1021, 1114}
_MYSQL_TOO_MANY = 1040
_SQLITE_CONTENTION = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_SQLITE_LOST = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_SQLITE_OUTAGE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}


def classify(error: BaseException) -> ErrorKind:
    """The kind of *error*; anything that is no database error is the operation's own."""
    if isinstance(error, DatabaseLostError):
        return ErrorKind.LOST
    if isinstance(error, DBAPIError):
        # SQLAlchemy saw the connection break, whatever the driver's code.
        if error.connection_invalidated:
            return ErrorKind.OUTAGE
        return _classify_driver(error.orig)
    return _classify_driver(error.orig) if isinstance(error, DriverError) else ErrorKind.OWN


def _classify_driver(error: BaseException | None) -> ErrorKind:
    if isinstance(error, sqlite3.Error):
        return _classify_sqlite(error)
    # PyMySQL's errors are (code, message).
    code = error.args[0] if error is not None and error.args else None
    if code in _MYSQL_CONTENTION:
        return ErrorKind.CONTENTION
    return ErrorKind.OUTAGE if code in _MYSQL_OUTAGE else ErrorKind.OWN


def _classify_sqlite(error: sqlite3.Error) -> ErrorKind:
    # The low byte is the primary code; the rest says which kind of BUSY or IOERR it is.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _SQLITE_CONTENTION:
        return ErrorKind.CONTENTION
    if code in _SQLITE_LOST:
        return ErrorKind.LOST
    return ErrorKind.OUTAGE if code in _SQLITE_OUTAGE else ErrorKind.OWN


_AWAY = N_(
    "The database does not answer. Try again in a minute; if it stays so, tell the administrator."
)
_REFUSED = N_(
    "The database does not take the user name or the password. Administrator: correct "
    "QIAO_DATABASE_URL in .env, then start this program again."
)
_NO_DATABASE = N_(
    "The database server has no database of that name. Administrator: correct "
    "QIAO_DATABASE_URL in .env, then start this program again."
)
_FULL = N_(
    "The database cannot write: its disk is full. Administrator: make room, nothing else is needed."
)
_BUSY = N_("The database is busy with another program's work. Try again in a minute.")
_FILE = N_(
    "The file of the database cannot be read or written. Administrator: look at its disk, "
    "its folder and their rights."
)
_DAMAGED = N_(
    "The file of the database is damaged. Administrator: `qiaocrawl db check` says how much."
)
_SQLITE_WORDS = (
    dict.fromkeys(_SQLITE_CONTENTION, _BUSY)
    | dict.fromkeys(_SQLITE_LOST, _DAMAGED)
    | dict.fromkeys(_SQLITE_OUTAGE, _FILE)
    | {sqlite3.SQLITE_FULL: _FULL}
)


def away_words(error: BaseException) -> str:
    """Why the database cannot be asked now, for whoever asked: no address, no statement.

    Returns:
        "" where the database answered, and what was asked of it is at fault.
    """
    if isinstance(error, NoConnectionError):
        # All connections of this process are in use.
        return _(_BUSY)
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        words = _SQLITE_WORDS.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF, "")
        return _(words) if words else ""
    code = cause.args[0] if cause.args else None
    if code in _MYSQL_REFUSED:
        return _(_REFUSED)
    if code == _MYSQL_NO_DATABASE:
        return _(_NO_DATABASE)
    if code in _MYSQL_FULL:
        return _(_FULL)
    kind = classify(error)
    if code == _MYSQL_TOO_MANY or kind is ErrorKind.CONTENTION:
        return _(_BUSY)
    return _(_AWAY) if kind is ErrorKind.OUTAGE else ""


def unreachable(error: SQLAlchemyError, shown_url: str) -> StorageError:
    """*error* of the database at *shown_url* for whoever ran a command, with what to do."""
    # The driver's own words: SQLAlchemy's would show the statement.
    cause = getattr(error, "orig", None) or error
    words = _("database {shown_url}: {cause}", shown_url=shown_url, cause=cause)
    advice = away_words(error)
    # Who runs commands is the administrator, and sees the driver's words for these two.
    is_more = advice not in ("", _(_AWAY), _(_BUSY))
    if is_more:
        words = _("{words}. {advice}", words=words, advice=advice)
    return StorageError(words)


def as_storage_error(error: BaseException, shown_url: str) -> BaseException:
    """A database error as StorageError, without SQL and parameters; others unchanged."""
    cause = getattr(error, "orig", None)
    if not isinstance(error, SQLAlchemyError | DriverError):
        return error
    words = f"{type(cause or error).__name__}: {cause or error}"
    wrapped = StorageError(words)
    if classify(error) is ErrorKind.LOST:
        # The error for a damaged file says what to do; waiting would not mend it.
        wrapped = DatabaseLostError(
            _(
                "database {shown_url} is damaged ({words}): `qiaocrawl db check` says how "
                "much; put a backup in its place (`qiaocrawl db backup` makes them) and "
                "run the same command again",
                shown_url=shown_url,
                words=words,
            )
        )
    wrapped.__cause__ = error
    return wrapped


# --- SQL that runs at the speed of the driver -----------------------------------------------------

_BIND = re.compile(r":([a-z_][a-z0-9_]*)")
_STATE = re.compile(r"\bState\.([A-Z_]+)")

Params = Mapping[str, Any]


class Rows(Protocol):
    """What a driver's cursor offers after a statement."""

    @property
    def rowcount(self) -> int:
        """Rows matched by an UPDATE or DELETE, rows inserted by an INSERT."""

    @property
    def lastrowid(self) -> int | None:
        """Id of the row an INSERT made."""

    def fetchone(self) -> Any:
        """The next row as a tuple; None at the end."""

    def fetchall(self) -> Sequence[Any]:
        """All rows."""


class Statement:
    """One statement with ``:name`` binds, in the wording of each dialect.

    ``State.DONE`` and the like stand for the numbers of :class:`~qiaocrawl.storage.schema.State`.

    Args:
        sql: the text for SQLite and, unless *mysql* is given, for MySQL and MariaDB too.
        mysql: the text for MySQL and MariaDB where it has to differ.
    """

    def __init__(self, sql: str, *, mysql: str | None = None) -> None:
        # SQLite's driver takes ":name" itself; PyMySQL wants "%(name)s".
        self._sqlite = _with_states(sql)
        # PyMySQL formats with %, so every literal % is doubled first.
        self._mysql = _BIND.sub(r"%(\1)s", _with_states(mysql or sql).replace("%", "%%"))

    def run(self, c: Connection, params: Params | None = None) -> Rows:
        """Execute once, within *c*'s transaction (begun when there is none).

        Raises:
            DriverError: the database refused; says whether it passes by itself.
        """
        cursor = _cursor(c)
        try:
            cursor.execute(self._text(c), params or {})
        except driver_errors() as error:
            raise DriverError(error) from error
        return cast(Rows, cursor)

    def run_many(self, c: Connection, rows: Sequence[Params]) -> None:
        """Execute for every row; nothing for no rows.

        Raises:
            DriverError: the database refused.
        """
        if not rows:
            return
        cursor = _cursor(c)
        try:
            cursor.executemany(self._text(c), rows)
        except driver_errors() as error:
            raise DriverError(error) from error

    def _text(self, c: Connection) -> str:
        return self._sqlite if c.dialect.name == "sqlite" else self._mysql


def _with_states(sql: str) -> str:
    return _STATE.sub(lambda match: str(State[match[1]].value), sql)


def upsert(
    table: str,
    columns: str | Mapping[str, str],
    *,
    key: str,
    change: str | Mapping[str, str] = "",
) -> Statement:
    """Insert a row; where one with its key is there already, change that, or leave it.

    Args:
        columns: their names, or names with SQL for their values; else a bind of the same name.
        key: the columns of the key by which it may be there.
        change: columns that get their new value, or columns with SQL for it, in which
            ``new.column`` is what was to be inserted; "" leaves the row as it is.
    """
    if isinstance(columns, str):
        columns = {name: f":{name.strip('`')}" for name in columns.split(", ")}
    if isinstance(change, str):
        change = {name: f"new.{name}" for name in change.split(", ") if name}
    insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(columns.values())})"
    changes = ", ".join(f"{name} = {value}" for name, value in change.items())
    # MySQL has no DO NOTHING; INSERT IGNORE would hide other errors, so a column keeps its value.
    first = f"{table}.{key.split(', ')[0]}"
    update = f"({key}) DO UPDATE SET {changes.replace('new.', 'excluded.')}"
    return Statement(
        f"{insert} ON CONFLICT {update if changes else 'DO NOTHING'}",
        mysql=f"{insert} ON DUPLICATE KEY UPDATE "
        + (re.sub(r"new\.(`?\w+`?)", r"VALUES(\1)", changes) or f"{first} = {first}"),
    )


def _cursor(c: Connection) -> Any:
    # SQLAlchemy begins transactions in its own execute(), which these statements go round.
    if not c.in_transaction():
        c.begin()
    return c.connection.cursor()


class ListStatement:
    """A statement with one ``IN ({list})``; run with values in chunks of at most 256.

    The list is padded to a power of two with its last value, so that drivers see few texts and
    can keep them prepared.
    """

    CHUNK = 256

    def __init__(self, sql: str, *, mysql: str | None = None) -> None:
        self._sqlite, self._mysql = sql, mysql or sql
        self._sized: dict[int, Statement] = {}

    def run(self, c: Connection, values: Sequence[Any], params: Params | None = None) -> list[Rows]:
        """One result a chunk, each still to be read; no result for no values."""
        return [
            self._run_chunk(c, values[start : start + self.CHUNK], params)
            for start in range(0, len(values), self.CHUNK)
        ]

    def fetch(
        self, c: Connection, values: Sequence[Any], params: Params | None = None
    ) -> list[Any]:
        """All rows of all chunks."""
        return [row for result in self.run(c, values, params) for row in result.fetchall()]

    def count(self, c: Connection, values: Sequence[Any], params: Params | None = None) -> int:
        """Rows matched over all chunks."""
        return sum(result.rowcount for result in self.run(c, values, params))

    def _run_chunk(self, c: Connection, values: Sequence[Any], params: Params | None) -> Rows:
        # Nine texts in all instead of 256; repeating a value in IN changes nothing.
        size = 1 << (len(values) - 1).bit_length()
        padded = [*values, *[values[-1]] * (size - len(values))]
        binds = {f"v{number}": value for number, value in enumerate(padded)}
        return self._statement(size).run(c, {**binds, **(params or {})})

    def _statement(self, size: int) -> Statement:
        if size not in self._sized:
            names = ", ".join(f":v{number}" for number in range(size))
            self._sized[size] = Statement(
                self._sqlite.replace("{list}", names), mysql=self._mysql.replace("{list}", names)
            )
        return self._sized[size]


def sqlite_cache(megabytes: int) -> str:
    """What gives a connection to SQLite so much of its file in memory; a PRAGMA binds no values."""
    # Negative means KiB.
    return f"PRAGMA cache_size=-{int(megabytes) << 10}"
