"""Warnings of stories, the rules they follow, and what channels were told or are to be told."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.column_types import (
    code_type,
    long_text_type,
    name_type,
    seconds_type,
    text_type,
    time_type,
)
from qiaocrawl.storage.schema.base import id_column, table

story_warning = table(
    "story_warning",
    id_column(),
    # The story it was opened for, and what that is called now.
    Column("opened_for", code_type(64), nullable=False, unique=True),
    Column("story", code_type(64), nullable=False, unique=True),
    Column("severity", code_type(16), nullable=False),
    Column("status", code_type(16), nullable=False),
    Column("changed_at", time_type(), nullable=False, index=True),
    # JSON: all of it, see analysis/warnings/state.py.
    Column("record", long_text_type(), nullable=False),
)

warning_message = table(
    "warning_message",
    id_column(),
    # Of what it tells: made again, it is the same row.
    Column("message_id", code_type(32), nullable=False, unique=True),
    Column("channel", name_type(64), nullable=False),
    Column("severity", code_type(16), nullable=False),
    Column("title", text_type(), nullable=False),
    Column("body", long_text_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # waiting, sent or given_up.
    Column("state", code_type(16), nullable=False),
    Column("attempts", SmallInteger, nullable=False),
    # Epoch seconds: nobody tries before.
    Column("next_at", seconds_type(), nullable=False),
    Column("sent_at", time_type()),
    # So many characters of the body have arrived, where it is sent in parts.
    Column("sent_chars", Integer, nullable=False, server_default="0"),
    # Why the last attempt failed.
    Column("error", name_type(500), nullable=False),
    Index(None, "state", "next_at"),
)

warning_notice = table(
    "warning_notice",
    Column("message_id", ForeignKey("warning_message.id"), primary_key=True),
    # The warning's own name: its row is another one after each change.
    Column("opened_for", code_type(64), primary_key=True, index=True),
)

warning_rule = table(
    "warning_rule",
    id_column(),
    Column("name", name_type(100), nullable=False, unique=True),
    # JSON: the table a file would have of it.
    Column("record", long_text_type(), nullable=False),
    # Counts changes: who saves an older one is told so.
    Column("revision", Integer, nullable=False),
    Column("changed_by", name_type(100), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)

quiet_hours = table(
    "quiet_hours",
    # 1: there is one row, or none.
    id_column(),
    Column("record", long_text_type(), nullable=False),
    Column("changed_by", name_type(100), nullable=False),
    Column("changed_at", time_type(), nullable=False),
)
