"""The coverage ledger by period, with the past of every pair; requests an engine got a day.

The key of a question is as before where it asks for no period, so rows that are there keep
theirs. How often they were asked is not known: once, if at all.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, SmallInteger, inspect, text

from qiaocrawl.storage.column_types import (
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    time_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns and create the tables."""
    _add_columns()
    tables = TableBuilder()
    tables.refer("query")
    tables.create(
        "query_answer",
        Column("query_id", ForeignKey("query.id"), primary_key=True),
        Column("slot", SmallInteger, primary_key=True),
        Column("asked_at", time_type(), nullable=False),
        Column("state", code_type(), nullable=False),
        Column("hits", Integer, nullable=False),
        Column("new_urls", Integer, nullable=False),
        Column("message", name_type(300), nullable=False),
        is_keyed=True,
    )
    tables.create(
        "engine_day",
        Column("engine", name_type(64), primary_key=True),
        Column("day", code_type(10), primary_key=True),
        Column("asked", Integer, nullable=False),
        is_keyed=True,
    )


def _add_columns() -> None:
    there = {column["name"] for column in inspect(op.get_bind()).get_columns("query")}
    for column in (
        Column("period", code_type(), nullable=False, server_default=""),
        Column("also", name_type(500), nullable=False, server_default=""),
        Column("tries", Integer, nullable=False, server_default="0"),
        Column("bad_in_a_row", Integer, nullable=False, server_default="0"),
        Column("due_at", time_type()),
        Column("total", id_type()),
        Column("asked_weight", seconds_type(), nullable=False, server_default="0"),
        Column("new_weight", seconds_type(), nullable=False, server_default="0"),
        Column("url_key", key_type()),
    ):
        if column.name not in there:
            op.add_column("query", column)
    op.get_bind().execute(text(
        "UPDATE `query` SET tries = 1, asked_weight = 1, new_weight = new_urls"
        " WHERE asked_at IS NOT NULL AND tries = 0"
    ))  # fmt: skip
    indexes = {index["name"] for index in inspect(op.get_bind()).get_indexes("query")}
    if "ix_query_url_key" not in indexes:
        op.create_index("ix_query_url_key", "query", ["url_key"])
