"""The crawl order's tables: the log of visits, decisions, and what strategies have learnt.

The log begins with the pages fetched from now on; what was fetched before taught nobody.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.column_types import (
    blob_type,
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0006"
down_revision = "0005"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the tables."""
    tables = TableBuilder()
    tables.refer("topic")
    tables.refer("url")
    tables.create(
        "visit",
        Column("seq", id_type(), primary_key=True, autoincrement=True),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("queue", code_type(16), nullable=False),
        Column("url_id", ForeignKey("url.id"), nullable=False),
        Column("token", id_type(), nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("depth", Integer, nullable=False),
        Column("relevance", seconds_type(), nullable=False),
        Column("relevant", Boolean, nullable=False),
        Column("at", seconds_type(), nullable=False),
        Column("links", blob_type(), nullable=False),
        UniqueConstraint("url_id", "token", "attempt"),
        Index(None, "topic_id", "queue", "seq", "token"),
        is_log=True,
    )
    tables.create(
        "decision",
        Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
        Column("strategy", name_type(64), nullable=False),
        Column("score", seconds_type(), nullable=False),
        Column("place", Integer),
        Column("waiting", Integer),
        Column("parts", text_type(), nullable=False),
        Column("at", seconds_type(), nullable=False),
    )
    tables.create(
        "order_model",
        Column("version", id_type(), primary_key=True, autoincrement=True),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False),
        Column("strategy", name_type(64), nullable=False),
        Column("format", SmallInteger, nullable=False),
        Column("pages", id_type(), nullable=False),
        Column("upto", id_type(), nullable=False),
        Column("created_at", time_type(), nullable=False),
        Column("digest", key_type(), nullable=False),
        Column("model", blob_type(), nullable=False),
        Index(None, "topic_id", "strategy", "host", "version"),
        is_log=True,
    )
