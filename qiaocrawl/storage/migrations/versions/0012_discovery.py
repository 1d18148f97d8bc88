"""Traps and soft 404s: what groups of URLs brought, and what hosts show for missing pages."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from qiaocrawl.storage.column_types import (
    code_type,
    key_type,
    name_type,
    seconds_type,
    short_bytes_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0012"
down_revision = "0011"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the tables."""
    tables = TableBuilder()
    tables.create(
        "url_form",
        Column("key", key_type(), primary_key=True),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False),
        Column("form", name_type(400), nullable=False),
        Column("credit", seconds_type(), nullable=False),
        Column("fetched", Integer, nullable=False),
        Column("stories", Integer, nullable=False),
        Column("trees", Integer, nullable=False),
        Column("updated_at", seconds_type(), nullable=False, index=True),
        is_keyed=True,
    )
    tables.create(
        "missing_page",
        Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
        Column("title", name_type(500), nullable=False),
        Column("digest", key_type(), nullable=False),
        Column("simhash", short_bytes_type(8), nullable=False),
        Column("updated_at", seconds_type(), nullable=False),
    )
