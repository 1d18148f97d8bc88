"""Proxies an operator added, and how they have done; passwords stay in the environment."""

from __future__ import annotations

from sqlalchemy import Column, Integer, UniqueConstraint

from qiaocrawl.storage.column_types import code_type, name_type, seconds_type, time_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0009"
down_revision = "0008"

MAX_HOST_CHARS = 260


def upgrade() -> None:
    """Create the table."""
    TableBuilder().create(
        "proxy",
        Column("id", Integer, primary_key=True, autoincrement=True),
        Column("scheme", code_type(8), nullable=False),
        Column("host", code_type(MAX_HOST_CHARS), nullable=False),
        Column("port", Integer, nullable=False),
        Column("login", name_type(100), nullable=False),
        Column("password_env", code_type(100), nullable=False),
        Column("note", name_type(200), nullable=False),
        Column("added_at", time_type(), nullable=False),
        Column("successes", seconds_type(), nullable=False),
        Column("failures", seconds_type(), nullable=False),
        Column("latency_seconds", seconds_type(), nullable=False),
        Column("failures_in_row", Integer, nullable=False),
        Column("resting_until", seconds_type(), nullable=False),
        UniqueConstraint("scheme", "host", "port", "login"),
    )
