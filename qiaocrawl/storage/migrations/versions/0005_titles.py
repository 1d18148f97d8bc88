"""The log of titles that all workers share, and IDF snapshots.

Articles that are stored already enter the log in the order of their rows; what they lack of
bodies (SimHash, sketch) stays NULL until the dedup stage runs again.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, ForeignKey, Integer, inspect, text

from qiaocrawl.storage.column_types import (
    code_type,
    digest_type,
    id_type,
    key_type,
    name_type,
    short_bytes_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.ddl import TableBuilder

revision = "0005"
down_revision = "0004"

MAX_HOST_CHARS = 260
MAX_SKETCH_BYTES = 300

# A statement over millions of rows would outlast the connection's time-out.
_ARTICLES_AT_A_TIME = 20_000

_ENTER = (
    "INSERT INTO title_entry (`key`, article_id, title, host, published_at, source,"
    " body_digest, body_simhash, body_sketch, text_chars, taken_out)"
    " SELECT u.`key`, a.id, a.title, a.site, a.published_at, a.source,"
    " a.body_digest, NULL, :empty, {chars}(a.text), :no"
    " FROM article a JOIN url u ON u.id = a.url_id"
    " LEFT JOIN title_entry e ON e.`key` = u.`key`"
    " WHERE e.seq IS NULL AND a.id > :after AND a.id <= :upto ORDER BY a.id"
)
_JUDGE = (
    "INSERT INTO verdict (article_id, kind, of_article_id, group_id, similarity, why, method)"
    " SELECT a.id, 'distinct', NULL, a.id, 0, 'not compared yet', '' FROM article a"
    " LEFT JOIN verdict v ON v.article_id = a.id"
    " WHERE v.article_id IS NULL AND a.id > :after AND a.id <= :upto"
)


def upgrade() -> None:
    """Create the tables and enter the stored articles."""
    _create_log()
    _create_snapshots()
    columns = {column["name"] for column in inspect(op.get_bind()).get_columns("verdict")}
    if "snapshot" not in columns:
        op.add_column("verdict", Column("snapshot", Integer, nullable=False, server_default="0"))
    _fill()


def _create_log() -> None:
    tables = TableBuilder()
    tables.refer("article")
    tables.create(
        "title_clock",
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("snapshot", Integer, nullable=False),
    )
    tables.create(
        "title_entry",
        Column("seq", id_type(), primary_key=True, autoincrement=True),
        Column("key", key_type(), nullable=False, unique=True),
        Column("article_id", ForeignKey("article.id"), index=True),
        Column("title", text_type(), nullable=False),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False),
        Column("published_at", time_type()),
        Column("source", name_type(200), nullable=False),
        Column("body_digest", digest_type(), nullable=False),
        Column("body_simhash", short_bytes_type(8)),
        Column("body_sketch", short_bytes_type(MAX_SKETCH_BYTES), nullable=False),
        Column("text_chars", Integer, nullable=False),
        Column("taken_out", Boolean, nullable=False),
        is_log=True,
    )


def _create_snapshots() -> None:
    tables = TableBuilder()
    tables.create(
        "idf_snapshot",
        Column("version", Integer, primary_key=True, autoincrement=False),
        Column("created_at", time_type(), nullable=False),
        Column("documents", id_type(), nullable=False),
        Column("note", name_type(200), nullable=False),
    )
    tables.create(
        "idf_term",
        Column("version", ForeignKey("idf_snapshot.version"), primary_key=True),
        Column("term", name_type(100), primary_key=True),
        Column("df", Integer, nullable=False),
        is_keyed=True,
    )


def _fill() -> None:
    bind = op.get_bind()
    if not bind.execute(text("SELECT COUNT(*) FROM title_clock")).scalar_one():
        bind.execute(text("INSERT INTO title_clock (id, snapshot) VALUES (1, 0)"))
    chars = "LENGTH" if bind.dialect.name == "sqlite" else "CHAR_LENGTH"
    last = bind.execute(text("SELECT MAX(id) FROM article")).scalar_one() or 0
    for after in range(0, last, _ARTICLES_AT_A_TIME):
        batch = {"after": after, "upto": after + _ARTICLES_AT_A_TIME}
        bind.execute(text(_ENTER.format(chars=chars)), {**batch, "empty": b"", "no": False})
        bind.execute(text(_JUDGE), batch)
