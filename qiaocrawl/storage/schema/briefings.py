"""Briefings as they were made: read again, compared with, never changed."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer

from qiaocrawl.storage.column_types import blob_type, code_type, long_text_type, time_type
from qiaocrawl.storage.schema.base import id_column, table

briefing = table(
    "briefing",
    id_column(),
    Column("topic_id", ForeignKey("topic.id"), nullable=False),
    Column("since_at", time_type(), nullable=False),
    Column("before_at", time_type(), nullable=False),
    Column("made_at", time_type(), nullable=False),
    Column("articles", Integer, nullable=False),
    # JSON: [number, title, articles] of each story of the stretch, told or only named.
    Column("stories", long_text_type(), nullable=False),
    Index(None, "topic_id", "before_at"),
)

briefing_file = table(
    "briefing_file",
    Column("briefing_id", ForeignKey("briefing.id"), primary_key=True),
    # html, md, docx.
    Column("ending", code_type(8), primary_key=True),
    # One zstd frame.
    Column("data", blob_type(), nullable=False),
)
