"""F-D10: a database of an older release, with data, comes up to date and keeps all of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, MetaData, Table, delete, insert, select, text
from sqlalchemy import types as kinds
from sqlalchemy.dialects.mysql import LONGBLOB

from qiaocrawl.errors import SchemaError
from qiaocrawl.storage import Database, migrate
from qiaocrawl.urls import url_key

ROWS = 3
Data = Mapping[str, list[tuple[Any, ...]]]


def bring_to(c: Connection, revision: str) -> None:
    """The schema as the release with *revision* made it."""
    with migrate._script_location() as location:
        config = migrate._config(location)
        config.attributes["connection"] = c
        command.upgrade(config, revision)


def reflected(c: Connection) -> MetaData:
    found = MetaData()
    found.reflect(c)
    found.remove(found.tables["alembic_version"])
    return found


def some_value(column: Column[Any], number: int) -> Any:
    """The value of row *number*, 1 and up; what other tables refer to is there."""
    kind = column.type
    if column.table.name == "url" and column.name in ("url", "key"):
        url = f"http://www.a-qiao.cn/{number}"
        return url if column.name == "url" else url_key(url)
    if column.foreign_keys or isinstance(kind, kinds.Integer | kinds.Boolean):
        return number if not isinstance(kind, kinds.Boolean) else number % 2
    if isinstance(kind, kinds.Float | kinds.Numeric):
        return 1_790_000_000.25 + number
    if isinstance(kind, kinds.DateTime):
        return datetime(2026, 11, 3, 4, 5, number, 678_000)
    if isinstance(kind, kinds.LargeBinary | kinds.BINARY | kinds.VARBINARY | LONGBLOB):
        return bytes([number]) * (getattr(kind, "length", None) or 16)
    collation = getattr(kind, "collation", None) or "utf8mb4_bin"
    words = f"侨务 𠮷 {number}" if collation.startswith("utf8mb4") else f"word-{number}"
    return words[: getattr(kind, "length", None) or 99]


def fill(c: Connection, tables: MetaData) -> None:
    for table in tables.sorted_tables:
        c.execute(delete(table))  # what a migration has put there
        c.execute(insert(table), [
            {column.name: some_value(column, number) for column in table.columns}
            for number in range(1, ROWS + 1)
        ])  # fmt: skip


def read(c: Connection, tables: MetaData) -> Data:
    def rows(table: Table) -> list[tuple[Any, ...]]:
        return sorted((tuple(row) for row in c.execute(select(table))), key=repr)

    return {name: rows(table) for name, table in tables.tables.items()}


@pytest.mark.parametrize("release", ["0001", "0007", "0012"])
def test_every_row_of_an_older_release_is_kept(database_url: str, release: str) -> None:
    with Database.open(database_url) as database:
        with database.engine.begin() as c:
            bring_to(c, release)
        with database.engine.begin() as c:
            old = reflected(c)
            fill(c, old)
            before = read(c, old)
        assert len(before) >= 14
        assert all(len(rows) == ROWS for rows in before.values())
        with pytest.raises(SchemaError, match="`qiaocrawl db upgrade`"):
            database.require_current()
        # The second time as after a kill that came before the new revision was written.
        for _ in range(2):
            database.upgrade()
            assert database.check() == []
            with database.engine.begin() as c:
                assert read(c, old) == before
                c.execute(text("UPDATE alembic_version SET version_num = :old"), {"old": release})
        database.upgrade()


def test_there_is_no_way_back_to_an_older_release(database: Database) -> None:
    """What a newer release wrote has no place in an older schema: nothing undoes a migration."""
    with migrate._script_location() as location:
        scripts = ScriptDirectory(str(location)).walk_revisions()
        assert [one.revision for one in scripts if hasattr(one.module, "downgrade")] == []
