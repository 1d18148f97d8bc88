"""The log of titles, their terms, and reprint groups."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Integer

from qiaocrawl.storage.column_types import (
    MAX_HOST_CHARS,
    MAX_SKETCH_BYTES,
    code_type,
    digest_type,
    id_type,
    key_type,
    name_type,
    seconds_type,
    short_bytes_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, LOG_TABLE_OPTIONS, table

title_term = table(
    "title_term",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("term", name_type(100), primary_key=True, index=True),
    Column("count", Integer, nullable=False),
    # tf · ln(N/df) (Q6); 0 until the weights are rebuilt.
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

term_weight = table(
    "term_weight",
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    Column("weight", seconds_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

verdict = table(
    "verdict",
    Column("article_id", ForeignKey("article.id"), primary_key=True),
    Column("kind", code_type(), nullable=False, index=True),
    Column("of_article_id", ForeignKey("article.id"), index=True),
    # The article that represents the group; itself when it stands alone.
    Column("group_id", ForeignKey("article.id"), nullable=False, index=True),
    Column("similarity", seconds_type(), nullable=False),
    Column("why", name_type(500), nullable=False),
    Column("method", name_type(64), nullable=False),
    # The version of the IDF snapshot it was made with.
    Column("snapshot", Integer, nullable=False, server_default="0"),
)

title_clock = table(
    "title_clock",
    # One row, 1: its lock is the right to write title_entry, and so to judge titles.
    Column("id", Integer, primary_key=True, autoincrement=False),
    # The version of the IDF snapshot in use.
    Column("snapshot", Integer, nullable=False),
)

title_entry = table(
    "title_entry",
    # Its place in the log. A row that changes is written anew, so that readers of what is
    # behind a place see it; rows are committed in this order.
    Column("seq", id_type(), primary_key=True, autoincrement=True),
    # Of the URL where the article stands.
    Column("key", key_type(), nullable=False, unique=True),
    # NULL: there is no article at that URL any more.
    Column("article_id", ForeignKey("article.id"), index=True),
    # What was judged; see items.TitleRecord.
    Column("title", text_type(), nullable=False),
    Column("host", code_type(MAX_HOST_CHARS), nullable=False),
    Column("published_at", time_type()),
    Column("source", name_type(200), nullable=False),
    Column("body_digest", digest_type(), nullable=False),
    # 8 bytes, big-endian. NULL: it and the sketch were not computed yet.
    Column("body_simhash", short_bytes_type(8)),
    Column("body_sketch", short_bytes_type(MAX_SKETCH_BYTES), nullable=False),
    # Characters of the text: the longer one represents a group.
    Column("text_chars", Integer, nullable=False),
    # By hand, out of all groups.
    Column("taken_out", Boolean, nullable=False),
    **LOG_TABLE_OPTIONS,
)

title_mark = table(
    "title_mark",
    # Random: where it is found again, the log up to its place is the one it was put into.
    Column("mark", key_type(), primary_key=True),
    # The newest entry of the log at that time.
    Column("seq", id_type(), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

idf_snapshot = table(
    "idf_snapshot",
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("created_at", time_type(), nullable=False),
    # Titles that were counted.
    Column("documents", id_type(), nullable=False),
    Column("note", name_type(200), nullable=False),
)

idf_term = table(
    "idf_term",
    Column("version", ForeignKey("idf_snapshot.version"), primary_key=True),
    Column("term", name_type(100), primary_key=True),
    Column("df", Integer, nullable=False),
    **KEYED_TABLE_OPTIONS,
)
