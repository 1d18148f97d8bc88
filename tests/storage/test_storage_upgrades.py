"""F-D10: a database of the last version, with data, comes up to date and keeps all of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Table,
    delete,
    insert,
    inspect,
    literal_column,
    select,
    text,
)
from sqlalchemy import types as kinds
from sqlalchemy.dialects.mysql import LONGBLOB

from qiaocrawl.errors import SchemaError
from qiaocrawl.storage import Database, migrate
from qiaocrawl.storage.packed_text import unpack_text
from qiaocrawl.storage.schema import metadata
from qiaocrawl.storage.values import PackedText
from qiaocrawl.urls import url_key

SCHEMAS = Path(__file__).parent / "schemas"
LAST = "0036"
ROWS = 3
RENAMED = {"vector": "term_weights"}
Data = Mapping[str, list[tuple[Any, ...]]]


def make_last_version(c: Connection) -> None:
    """The tables as the version with schema 0036 made them, from a dump of its own."""
    dump = SCHEMAS / f"{LAST}_{c.dialect.name}.sql"
    for statement in dump.read_text("utf-8").split(";\n"):
        if statement:
            c.execute(text(statement))
    c.execute(
        text("INSERT INTO alembic_version VALUES (:head)"), {"head": f"{LAST}_chosen_queries"}
    )


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
    """All rows of *tables*, by the columns they have or are called now."""

    def rows(table: Table) -> list[tuple[Any, ...]]:
        new = metadata.tables[table.name].c
        present = {column["name"] for column in inspect(c).get_columns(table.name)}
        packed = {
            n
            for n, name in enumerate(table.c.keys())
            if isinstance(new[RENAMED.get(name, name)].type, PackedText)
        }
        columns = [
            column if column.name in present else literal_column(RENAMED[column.name], column.type)
            for column in table.columns
        ]
        found = (tuple(row) for row in c.execute(select(*columns).select_from(table)))
        plain = (
            tuple(unpack_text(x) if n in packed else x for n, x in enumerate(row)) for row in found
        )
        return sorted(plain, key=repr)

    return {name: rows(table) for name, table in tables.tables.items()}


def test_every_row_of_the_last_version_is_kept(database_url: str) -> None:
    with Database.open(database_url) as database:
        with database.engine.begin() as c:
            make_last_version(c)
            old = reflected(c)
            fill(c, old)
            before = read(c, old)
        assert before.keys() <= metadata.tables.keys()
        assert all(len(rows) == ROWS for rows in before.values())
        # The second time as after a kill that came before the revision was written.
        for _ in range(2):
            database.upgrade()
            assert database.check() == []
            with database.engine.begin() as c:
                assert read(c, old) == before
                context = MigrationContext.configure(c, opts={"compare_type": False})
                assert compare_metadata(context, metadata) == []
                c.execute(text("DELETE FROM alembic_version"))
        database.upgrade()


def test_term_vectors_are_kept_under_a_name_no_server_reserves(database: Database) -> None:
    with database.engine.begin() as c:
        fill(c, reflected(c))
        c.execute(text("ALTER TABLE story_article RENAME COLUMN term_weights TO `vector`"))
        kept = c.execute(text("SELECT url_id, `vector` FROM story_article")).all()
        c.execute(text("UPDATE alembic_version SET version_num = '0036_chosen_queries'"))
    database.upgrade()
    with database.engine.connect() as c:
        assert c.execute(text("SELECT url_id, term_weights FROM story_article")).all() == kept
    assert database.check() == []


# Reserved by MariaDB since 10.3, up to 12, or by MySQL since 8.0, up to 9, and unknown to the
# library that puts quotes around such names. A server of today cannot tell of tomorrow's, so new
# ones are entered here.
_NEWLY_RESERVED = {
    "conversion", "cube", "cume_dist", "dense_rank", "empty", "except", "first_value", "function",
    "groups", "grouping", "intersect", "json_table", "lag", "last_value", "lateral", "lead",
    "library", "manual", "nth_value", "ntile", "of", "offset", "over", "parallel", "percent_rank",
    "qualify", "rank", "recursive", "row_number", "rows", "row", "sets", "system", "tablesample",
    "to_date", "vector", "window",
}  # fmt: skip


def test_no_table_or_column_has_a_name_that_servers_came_to_reserve() -> None:
    names = {table.name for table in metadata.tables.values()}
    names |= {column.name for table in metadata.tables.values() for column in table.columns}
    assert names & _NEWLY_RESERVED == set()


@pytest.mark.parametrize("revision", ["0001", "0014", "0035_title_marks"])
def test_a_development_version_before_it_is_refused(database: Database, revision: str) -> None:
    with database.engine.begin() as c:
        c.execute(text("UPDATE alembic_version SET version_num = :old"), {"old": revision})
    for action in (database.upgrade, database.require_current):
        with pytest.raises(SchemaError, match=f"{revision!r} of a development version.*upgrades"):
            action()
    assert database.check() != []


def test_there_is_no_way_back_to_an_older_release(database: Database) -> None:
    """What a newer release wrote has no place in an older schema: nothing undoes a migration."""
    with migrate._script_location() as location:
        scripts = ScriptDirectory(str(location)).walk_revisions()
        assert [one.revision for one in scripts if hasattr(one.module, "downgrade")] == []


def test_migrations_are_called_as_their_files_and_stand_in_one_row() -> None:
    with migrate._script_location() as location:
        scripts = [*ScriptDirectory(str(location)).walk_revisions()]
    assert tuple(script.revision for script in reversed(scripts)) == migrate._known_revisions()
    assert migrate.head_revision() == scripts[0].revision
