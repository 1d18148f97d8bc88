"""Table changes that may be repeated: MySQL cannot roll back a migration that was interrupted."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Column, Index, MetaData, Table, inspect

from qiaocrawl.storage.column_types import id_type
from qiaocrawl.storage.schema import (
    KEYED_TABLE_OPTIONS,
    LOG_TABLE_OPTIONS,
    TABLE_OPTIONS,
    metadata,
)


class TableBuilder:
    """Creates the tables of one migration, each unless it is there already."""

    def __init__(self) -> None:
        self._metadata = MetaData(naming_convention=metadata.naming_convention)

    def create(
        self, name: str, *parts: Any, is_keyed: bool = False, is_log: bool = False
    ) -> Table:
        """Create table *name* with its indexes, as far as they are missing.

        Args:
            is_keyed: its primary key is of words or several columns.
            is_log: its row ids are never given twice.
        """
        options = TABLE_OPTIONS
        if is_keyed or is_log:
            options = KEYED_TABLE_OPTIONS if is_keyed else LOG_TABLE_OPTIONS
        table = Table(name, self._metadata, *parts, **options)
        bind = op.get_bind()
        table.create(bind, checkfirst=True)
        self._create_missing_indexes(table)
        return table

    def refer(self, name: str) -> None:
        """Let foreign keys refer to the row ids of table *name* of an earlier migration."""
        Table(name, self._metadata, Column("id", id_type(), primary_key=True))

    def add_index(self, index: Index) -> None:
        """Create *index* (of a table made here) unless it is there already."""
        assert index.table is not None
        self._create_missing_indexes(index.table)

    def _create_missing_indexes(self, table: Table) -> None:
        bind = op.get_bind()
        there = {index["name"] for index in inspect(bind).get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in there:
                index.create(bind)
