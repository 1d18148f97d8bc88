"""What is known of a site: the blocks it repeats and where its articles stand."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from qiaocrawl.storage.column_types import code_type, long_text_type, time_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0002"
down_revision = "0001"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the table."""
    TableBuilder().create(
        "site_template",
        Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
        Column("pages", Integer, nullable=False),
        Column("redesigns", Integer, nullable=False),
        Column("updated_at", time_type(), nullable=False),
        Column("template", long_text_type(), nullable=False),
    )
