"""SQL that runs at the speed of the driver.

Measured on SQLite, an UPDATE costs 74 us as a Core expression, 31 us as ``text()``, 13 us by
``exec_driver_sql`` and 3 us on the driver's own cursor. A crawl runs a dozen statements a page,
so those are written once as :class:`Statement` (a third off the whole cost of a page);
everything off the hot path uses Core. Values are always bound, never formatted into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from sqlalchemy import Connection

from qiaocrawl.storage.error_kinds import DriverError, driver_errors
from qiaocrawl.storage.schema import State

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
