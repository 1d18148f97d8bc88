"""What is watched: pages with their schedule, articles to be looked at again, revisions."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.column_types import (
    code_type,
    digest_type,
    id_type,
    key_type,
    long_text_type,
    name_type,
    seconds_type,
    short_bytes_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Create the tables."""
    tables = TableBuilder()
    for name in ("topic", "host", "url", "page_source"):
        tables.refer(name)
    _pages(tables)
    _articles(tables)


def _pages(tables: TableBuilder) -> None:
    tables.create(
        "watched_page",
        Column("topic_id", ForeignKey("topic.id"), primary_key=True, autoincrement=False),
        Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False, index=True),
        Column("kind", code_type(16), nullable=False),
        Column("name", name_type(200), nullable=False),
        Column("weight", seconds_type(), nullable=False),
        Column("since", seconds_type(), nullable=False),
        Column("next_at", seconds_type(), nullable=False),
        Column("last_at", seconds_type()),
        Column("changed_at", seconds_type()),
        Column("rate", seconds_type(), nullable=False),
        Column("wait_hours", seconds_type(), nullable=False),
        Column("visits", Integer, nullable=False),
        Column("changes", Integer, nullable=False),
        Column("news", Integer, nullable=False),
        Column("failures", Integer, nullable=False),
        Column("etag", name_type(500), nullable=False),
        Column("modified", name_type(64), nullable=False),
        Column("digest", key_type()),
        Column("memory", short_bytes_type(250), nullable=False),
        Index(None, "topic_id", "next_at"),
        is_keyed=True,
    )


def _articles(tables: TableBuilder) -> None:
    tables.create(
        "watched_article",
        Column("url_id", ForeignKey("url.id"), primary_key=True, autoincrement=False),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("published", seconds_type(), nullable=False),
        Column("next_at", seconds_type(), nullable=False),
        Column("etag", name_type(500), nullable=False),
        Column("modified", name_type(64), nullable=False),
        Index(None, "topic_id", "next_at"),
        is_keyed=True,
    )
    tables.create(
        "watch_hour",
        Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
        Column("hour", SmallInteger, primary_key=True, autoincrement=False),
        Column("articles", seconds_type(), nullable=False),
        is_keyed=True,
    )
    tables.create(
        "watch_day",
        Column("topic_id", ForeignKey("topic.id"), primary_key=True, autoincrement=False),
        Column("day", Integer, primary_key=True, autoincrement=False),
        Column("host_id", ForeignKey("host.id"), primary_key=True, autoincrement=False),
        Column("pages", Integer, nullable=False),
        Column("articles", Integer, nullable=False),
        Column("looks", Integer, nullable=False),
        is_keyed=True,
    )
    tables.create(
        "revision",
        Column("id", id_type(), primary_key=True, autoincrement=True),
        Column("url_id", ForeignKey("url.id"), nullable=False, index=True),
        Column("kind", code_type(16), nullable=False),
        Column("at", time_type(), nullable=False),
        Column("page_source_id", ForeignKey("page_source.id"), index=True),
        Column("note", name_type(500), nullable=False),
        Column("title", text_type(), nullable=False),
        Column("published_at", time_type()),
        Column("body_digest", digest_type(), nullable=False),
        Column("text", long_text_type(), nullable=False),
    )
