"""Topics, their words and sites, and what people decided of them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Integer, SmallInteger, UniqueConstraint

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    code_type,
    id_type,
    key_type,
    long_text_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table

topic = table(
    "topic",
    id_column(),
    Column("name", name_type(64), nullable=False, unique=True),
    Column("title", name_type(200), nullable=False),
    Column("description", text_type(), nullable=False),
    Column("language", code_type(16), nullable=False),
    Column("threshold", seconds_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("updated_at", time_type(), nullable=False),
)

term = table(
    "term",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("text", name_type(100), nullable=False),
    Column("kind", name_type(32), nullable=False),
    Column("weight", seconds_type(), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "text"),
)

site = table(
    "site",
    id_column(),
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

sample = table(
    "sample",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("name", name_type(200), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("text", long_text_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("position", Integer, nullable=False),
    UniqueConstraint("topic_id", "name"),
)

judgement = table(
    "judgement",
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    # Of the URL, which need not be known: a page may be judged before it is crawled.
    Column("key", key_type(), primary_key=True),
    Column("url", text_type(), nullable=False),
    Column("relevant", Boolean, nullable=False),
    Column("note", name_type(500), nullable=False),
    Column("judged_at", time_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

lexicon_decision = table(
    "lexicon_decision",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False, index=True),
    Column("text", name_type(100), nullable=False),
    Column("action", name_type(16), nullable=False),
    Column("weight", seconds_type()),
    Column("kind", name_type(32), nullable=False),
    Column("synonym_of", name_type(100), nullable=False),
    Column("note", text_type(), nullable=False),
    Column("decided_by", name_type(100), nullable=False),
    Column("decided_at", time_type(), nullable=False),
    # The term as it was before, as JSON; NULL where the topic had none.
    Column("earlier", text_type()),
    Column("undone_at", time_type()),
)

run = table(
    "run",
    id_column(),
    Column("spider", name_type(64), nullable=False),
    Column("topic_id", ForeignKey("topic.id")),
    Column("arguments", text_type(), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("machine", name_type(255), nullable=False),
    Column("started_at", time_type(), nullable=False),
    Column("finished_at", time_type()),
    Column("reason", name_type(200), nullable=False),
    # URLs of its scope that still waited when it ended.
    Column("remaining", id_type()),
    Column("stats", long_text_type(), nullable=False),
)
