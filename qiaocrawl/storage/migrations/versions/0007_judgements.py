"""Operators' judgements: which pages are on topic, as people say who read them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey

from qiaocrawl.storage.column_types import key_type, name_type, text_type, time_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table."""
    tables = TableBuilder()
    tables.refer("topic")
    tables.create(
        "judgement",
        Column("topic_id", ForeignKey("topic.id"), primary_key=True),
        Column("key", key_type(), primary_key=True),
        Column("url", text_type(), nullable=False),
        Column("relevant", Boolean, nullable=False),
        Column("note", name_type(500), nullable=False),
        Column("judged_at", time_type(), nullable=False),
        is_keyed=True,
    )
