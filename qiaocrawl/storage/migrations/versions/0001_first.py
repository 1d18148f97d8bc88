"""The first schema."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    UniqueConstraint,
)

from qiaocrawl.storage.column_types import (
    blob_type,
    code_type,
    digest_type,
    id_type,
    key_type,
    long_text_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0001"
down_revision = None

MAX_HOST_CHARS = 260


def row_id() -> Column[Any]:
    """The numbered primary key of most tables."""
    return Column("id", id_type(), primary_key=True, autoincrement=True)


def upgrade() -> None:
    """Create every table."""
    tables = TableBuilder()
    _create_topic_tables(tables)
    _create_run_tables(tables)
    _create_frontier_tables(tables)
    _create_page_tables(tables)
    _create_judgement_tables(tables)


def _create_topic_tables(tables: TableBuilder) -> None:
    tables.create(
        "topic",
        row_id(),
        Column("name", name_type(64), nullable=False, unique=True),
        Column("title", name_type(200), nullable=False),
        Column("description", text_type(), nullable=False),
        Column("language", code_type(16), nullable=False),
        Column("threshold", seconds_type(), nullable=False),
        Column("created_at", time_type(), nullable=False),
        Column("updated_at", time_type(), nullable=False),
    )
    tables.create(
        "term",
        row_id(),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("text", name_type(100), nullable=False),
        Column("kind", name_type(32), nullable=False),
        Column("weight", seconds_type(), nullable=False),
        Column("note", text_type(), nullable=False),
        Column("position", Integer, nullable=False),
        UniqueConstraint("topic_id", "text"),
    )
    tables.create(
        "site",
        row_id(),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False, index=True),
        Column("name", name_type(200), nullable=False),
        Column("role", name_type(32), nullable=False),
        Column("tier", SmallInteger, nullable=False),
        Column("region", name_type(100), nullable=False),
        Column("kind", name_type(32), nullable=False),
        Column("start_url", text_type(), nullable=False),
        Column("render", Boolean, nullable=False),
        Column("note", text_type(), nullable=False),
        Column("position", Integer, nullable=False),
        UniqueConstraint("topic_id", "host"),
    )
    tables.create(
        "sample",
        row_id(),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("name", name_type(200), nullable=False),
        Column("title", text_type(), nullable=False),
        Column("text", long_text_type(), nullable=False),
        Column("relevant", Boolean, nullable=False),
        Column("position", Integer, nullable=False),
        UniqueConstraint("topic_id", "name"),
    )


def _create_run_tables(tables: TableBuilder) -> None:
    tables.create(
        "run",
        row_id(),
        Column("spider", name_type(64), nullable=False),
        Column("topic_id", ForeignKey("topic.id")),
        Column("arguments", text_type(), nullable=False),
        Column("pid", Integer, nullable=False),
        Column("machine", name_type(255), nullable=False),
        Column("started_at", time_type(), nullable=False),
        Column("finished_at", time_type()),
        Column("reason", name_type(200), nullable=False),
        Column("remaining", id_type()),
        Column("stats", long_text_type(), nullable=False),
    )
    tables.create(
        "query",
        row_id(),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("key", key_type(), nullable=False, unique=True),
        Column("engine", name_type(64), nullable=False),
        Column("term", name_type(200), nullable=False),
        Column("site", code_type(MAX_HOST_CHARS), nullable=False),
        Column("page", Integer, nullable=False),
        Column("state", code_type(), nullable=False),
        Column("hits", Integer, nullable=False),
        Column("new_urls", Integer, nullable=False),
        Column("message", text_type(), nullable=False),
        Column("planned_at", time_type(), nullable=False),
        Column("asked_at", time_type()),
        Index(None, "topic_id", "engine", "state"),
    )


def _create_frontier_tables(tables: TableBuilder) -> None:
    tables.create(
        "host",
        Column("id", id_type(), primary_key=True, autoincrement=False),
        Column("name", code_type(MAX_HOST_CHARS), nullable=False, unique=True),
    )
    url = tables.create(
        "url",
        row_id(),
        Column("key", key_type(), nullable=False, unique=True),
        Column("url", text_type(), nullable=False),
        Column("host_id", ForeignKey("host.id"), nullable=False),
        Column("queue", code_type(16), nullable=False),
        Column("topic_id", ForeignKey("topic.id"), nullable=False),
        Column("state", SmallInteger, nullable=False),
        Column("outcome", code_type()),
        Column("reason", name_type(500)),
        Column("score", seconds_type(), nullable=False),
        Column("depth", Integer, nullable=False),
        Column("parent_key", key_type()),
        Column("anchor", text_type(), nullable=False),
        Column("context", text_type(), nullable=False),
        Column("payload", text_type(), nullable=False),
        Column("discovered_at", time_type(), nullable=False),
        Column("run_id", ForeignKey("run.id")),
        Column("lease_token", id_type()),
        Column("lease_until", seconds_type()),
        Column("not_before", seconds_type(), nullable=False, default=0),
        Column("attempts", Integer, nullable=False, default=0),
        Column("failures", Integer, nullable=False, default=0),
        Column("crashes", Integer, nullable=False, default=0),
        Column("fetched_at", time_type()),
        Column("done_at", time_type()),
        Column("http_status", SmallInteger),
        Column("redirect_key", key_type()),
    )
    tables.add_index(Index(
        "ix_url_frontier",
        url.c.queue, url.c.topic_id, url.c.state, url.c.host_id, url.c.score.desc(), url.c.id,
    ))


def _create_page_tables(tables: TableBuilder) -> None:
    tables.create(
        "page_source",
        row_id(),
        Column("url_id", ForeignKey("url.id"), nullable=False),
        Column("digest", key_type(), nullable=False),
        Column("final_url", text_type(), nullable=False),
        Column("http_status", SmallInteger, nullable=False),
        Column("headers", text_type(), nullable=False),
        Column("content_type", name_type(200), nullable=False),
        Column("charset", name_type(64), nullable=False),
        Column("body_bytes", id_type(), nullable=False),
        Column("truncated", Boolean, nullable=False),
        Column("fetched_at", time_type(), nullable=False),
        Column("last_seen_at", time_type(), nullable=False),
        Column("body", blob_type(), nullable=False),
        UniqueConstraint("url_id", "digest"),
    )
    tables.create(
        "article",
        row_id(),
        Column("url_id", ForeignKey("url.id"), nullable=False, unique=True),
        Column("page_source_id", ForeignKey("page_source.id"), index=True),
        Column("site", code_type(MAX_HOST_CHARS), nullable=False, index=True),
        Column("title", text_type(), nullable=False),
        Column("published_at", time_type(), index=True),
        Column("author", name_type(200), nullable=False),
        Column("source", name_type(200), nullable=False),
        Column("channel", name_type(200), nullable=False),
        Column("keywords", text_type(), nullable=False),
        Column("description", text_type(), nullable=False),
        Column("anchor", text_type(), nullable=False),
        Column("language", code_type(16), nullable=False),
        Column("charset", name_type(64), nullable=False),
        Column("method", name_type(64), nullable=False),
        Column("body_digest", digest_type(), nullable=False),
        Column("title_tokens", text_type(), nullable=False),
        Column("truncated", Boolean, nullable=False),
        Column("fetched_at", time_type(), nullable=False, index=True),
        Column("updated_at", time_type(), nullable=False),
        Column("text", long_text_type(), nullable=False),
    )


def _create_judgement_tables(tables: TableBuilder) -> None:
    tables.create(
        "relevance",
        Column("article_id", ForeignKey("article.id"), primary_key=True),
        Column("topic_id", ForeignKey("topic.id"), primary_key=True),
        Column("score", seconds_type(), nullable=False),
        Column("relevant", Boolean, nullable=False),
        Column("method", name_type(64), nullable=False),
        Column("terms", text_type(), nullable=False),
        Index(None, "topic_id", "relevant", "score"),
        is_keyed=True,
    )
    tables.create(
        "title_term",
        Column("article_id", ForeignKey("article.id"), primary_key=True),
        Column("term", name_type(100), primary_key=True, index=True),
        Column("count", Integer, nullable=False),
        Column("weight", seconds_type(), nullable=False),
        is_keyed=True,
    )
    tables.create(
        "term_weight",
        Column("term", name_type(100), primary_key=True),
        Column("df", Integer, nullable=False),
        Column("weight", seconds_type(), nullable=False),
        is_keyed=True,
    )
    tables.create(
        "verdict",
        Column("article_id", ForeignKey("article.id"), primary_key=True),
        Column("kind", code_type(), nullable=False, index=True),
        Column("of_article_id", ForeignKey("article.id"), index=True),
        Column("group_id", ForeignKey("article.id"), nullable=False, index=True),
        Column("similarity", seconds_type(), nullable=False),
        Column("why", name_type(500), nullable=False),
        Column("method", name_type(64), nullable=False),
    )
