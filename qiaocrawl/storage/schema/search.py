"""What search engines were asked and what they answered."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    code_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table

query = table(
    "query",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    # Hash of topic, engine, term, site, page and, where there is one, period.
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
    Column("period", code_type(), nullable=False, server_default=""),
    # Synonyms asked with the term, one a line.
    Column("also", name_type(500), nullable=False, server_default=""),
    Column("tries", Integer, nullable=False, server_default="0"),
    # Answers in a row that were none or not whole (partial).
    Column("bad_in_a_row", Integer, nullable=False, server_default="0"),
    # Not to be asked again before; NULL: when the operator's interval is over.
    Column("due_at", time_type()),
    # Results the engine says there are; NULL where it does not say.
    Column("total", id_type()),
    # Requests and new URLs, older ones counting less: see storage/search/ledger.py.
    Column("asked_weight", seconds_type(), nullable=False, server_default="0"),
    Column("new_weight", seconds_type(), nullable=False, server_default="0"),
    # Of the frontier row that asked it last, which is the parent of the URLs it brought.
    Column("url_key", key_type(), index=True),
    Index(None, "topic_id", "engine", "state"),
)

query_answer = table(
    "query_answer",
    Column("query_id", ForeignKey("query.id"), primary_key=True),
    # The number of the try modulo the answers that are kept: the newest takes the oldest's place.
    Column("slot", SmallInteger, primary_key=True),
    Column("asked_at", time_type(), nullable=False),
    Column("state", code_type(), nullable=False),
    Column("hits", Integer, nullable=False),
    Column("new_urls", Integer, nullable=False),
    Column("message", name_type(300), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

query_hit = table(
    "query_hit",
    Column("query_id", ForeignKey("query.id"), primary_key=True),
    # Of the URL as the engine gave it; it may lead elsewhere.
    Column("key", key_type(), primary_key=True),
    **KEYED_TABLE_OPTIONS,
)

engine_day = table(
    "engine_day",
    Column("engine", name_type(64), primary_key=True),
    # By Beijing time, as 2026-03-05.
    Column("day", code_type(10), primary_key=True),
    Column("asked", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)
