"""The console: who works at it, what they marked, and what they changed."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, UniqueConstraint

from qiaocrawl.storage.column_types import (
    code_type,
    digest_type,
    key_type,
    long_text_type,
    name_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import KEYED_TABLE_OPTIONS, id_column, table

console_user = table(
    "console_user",
    id_column(),
    Column("name", name_type(64), nullable=False, unique=True),
    # Argon2id, with its parameters and salt.
    Column("password", code_type(200), nullable=False),
    Column("role", code_type(), nullable=False),
    # A password that somebody else chose: the first thing its owner does is to change it.
    Column("must_change", Boolean, nullable=False),
    Column("created_at", time_type(), nullable=False),
    # NULL: may log in.
    Column("disabled_at", time_type()),
)

console_session = table(
    "console_session",
    # Of the cookie: who reads the database cannot log in with it.
    Column("digest", digest_type(), primary_key=True),
    Column("user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("created_at", time_type(), nullable=False),
    Column("last_seen_at", time_type(), nullable=False),
    Column("address", code_type(64), nullable=False),
    **KEYED_TABLE_OPTIONS,
)

login_failure = table(
    "login_failure",
    id_column(),
    # Of the name that was given, which may be nobody's, or somebody's password by mistake.
    Column("name_key", key_type(), nullable=False),
    Column("address", code_type(64), nullable=False),
    Column("failed_at", time_type(), nullable=False, index=True),
)

audit_entry = table(
    "audit_entry",
    id_column(),
    Column("at", time_type(), nullable=False, index=True),
    # By name, not by row: an entry outlives its user.
    Column("user_name", name_type(64), nullable=False),
    Column("address", code_type(64), nullable=False),
    Column("action", code_type(64), nullable=False),
    Column("target", name_type(500), nullable=False),
    # JSON; NULL before for what is new, after for what is gone.
    Column("before", long_text_type()),
    Column("after", long_text_type()),
)

api_token = table(
    "api_token",
    id_column(),
    Column("digest", digest_type(), nullable=False, unique=True),
    Column("user_id", ForeignKey("console_user.id"), nullable=False, index=True),
    Column("name", name_type(100), nullable=False),
    Column("created_at", time_type(), nullable=False),
    Column("last_used_at", time_type()),
)

saved_search = table(
    "saved_search",
    id_column(),
    Column("user_id", ForeignKey("console_user.id"), nullable=False),
    Column("name", name_type(100), nullable=False),
    # As it stands behind the ? of a list's address.
    Column("query", text_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    UniqueConstraint("user_id", "name"),
)

article_mark = table(
    "article_mark",
    # By URL: an article that is read anew keeps its mark.
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("starred", Boolean, nullable=False),
    Column("note", text_type(), nullable=False),
    Column("marked_by", name_type(64), nullable=False),
    Column("marked_at", time_type(), nullable=False),
    Index(None, "starred", "marked_at"),
)

article_tag = table(
    "article_tag",
    Column("url_id", ForeignKey("url.id"), primary_key=True),
    Column("tag", name_type(50), primary_key=True, index=True),
    **KEYED_TABLE_OPTIONS,
)
