"""Which pages need a browser, by host and form of their URL."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from qiaocrawl.storage.column_types import code_type, key_type, name_type, seconds_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0011"
down_revision = "0010"

MAX_HOST_CHARS = 260
MAX_FORM_CHARS = 200


def upgrade() -> None:
    """Create the table."""
    tables = TableBuilder()
    tables.create(
        "rendering",
        Column("key", key_type(), primary_key=True),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False),
        Column("form", name_type(MAX_FORM_CHARS), nullable=False),
        Column("gained", Integer, nullable=False),
        Column("in_vain", Integer, nullable=False),
        Column("plain", Integer, nullable=False),
        Column("voted_at", seconds_type(), nullable=False, index=True),
    )
