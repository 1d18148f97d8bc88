"""The parts of paged articles, each with its own text, so that they can be joined again."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, SmallInteger

from qiaocrawl.storage.column_types import key_type, long_text_type, name_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    tables = TableBuilder()
    tables.refer("url")
    tables.refer("page_source")
    tables.create(
        "article_part",
        Column("url_id", ForeignKey("url.id"), primary_key=True),
        Column("first_key", key_type(), nullable=False),
        Column("number", SmallInteger, nullable=False),
        Column("parts", SmallInteger, nullable=False),
        Column("reads_alone", Boolean, nullable=False),
        Column("page_source_id", ForeignKey("page_source.id"), index=True),
        Column("digest", key_type(), nullable=False),
        Column("note", name_type(500), nullable=False),
        Column("about", long_text_type(), nullable=False),
        Column("text", long_text_type(), nullable=False),
        Index(None, "first_key", "number"),
    )
