"""Other addresses of pages: what hosts' pages say of them, and URLs not fetched for it."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, SmallInteger

from qiaocrawl.storage.column_types import code_type, key_type, text_type, time_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0004"
down_revision = "0003"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the tables."""
    tables = TableBuilder()
    tables.refer("url")
    tables.create(
        "url_alias",
        Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
        Column("rules", SmallInteger, nullable=False),
        Column("updated_at", time_type(), nullable=False),
        Column("votes", text_type(), nullable=False),
    )
    tables.create(
        "aliased_url",
        Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
        Column("preferred_key", key_type(), nullable=False, index=True),
    )
