"""Classifies database errors: after a passing one the transaction is played again."""

from __future__ import annotations

import sqlite3
from enum import Enum
from functools import cache

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from qiaocrawl.errors import DatabaseLostError, StorageError
from qiaocrawl.language import _


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
