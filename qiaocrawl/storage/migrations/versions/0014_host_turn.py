"""When each host was asked last, by whichever worker."""

from __future__ import annotations

from sqlalchemy import Column, Integer

from qiaocrawl.storage.column_types import code_type, seconds_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0014"
down_revision = "0013"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the table."""
    TableBuilder().create(
        "host_turn",
        Column("host", code_type(MAX_HOST_CHARS), primary_key=True),
        Column("last_at", seconds_type(), nullable=False),
        Column("delay", seconds_type(), nullable=False),
        Column("parked_until", seconds_type(), nullable=False),
        Column("busy", Integer, nullable=False),
        is_keyed=True,
    )
