"""Accounts of sites that want a login; secrets and cookies in it are encrypted."""

from __future__ import annotations

from sqlalchemy import Column, UniqueConstraint

from qiaocrawl.storage.column_types import blob_type, code_type, id_type, name_type, time_type
from qiaocrawl.storage.ddl import TableBuilder

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table."""
    TableBuilder().create(
        "account",
        Column("id", id_type(), primary_key=True, autoincrement=True),
        Column("site", code_type(64), nullable=False),
        Column("name", name_type(100), nullable=False),
        Column("state", code_type(16), nullable=False),
        Column("reason", name_type(500), nullable=False),
        Column("secret", blob_type(), nullable=False),
        Column("session", blob_type(), nullable=False),
        Column("logged_in_at", time_type()),
        Column("rests_until", time_type()),
        Column("updated_at", time_type(), nullable=False),
        UniqueConstraint("site", "name"),
        is_log=True,
    )
