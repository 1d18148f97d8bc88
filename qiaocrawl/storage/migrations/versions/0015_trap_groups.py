"""What leads to groups of URLs, and what they were cut for as traps."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, inspect

from qiaocrawl.storage.column_types import name_type

revision = "0015_trap_groups"
down_revision = "0014"


def upgrade() -> None:
    """Add the columns."""
    there = {column["name"] for column in inspect(op.get_bind()).get_columns("url_form")}
    for column in (
        Column("listed", Integer, nullable=False, server_default="0"),
        Column("cut", name_type(200), nullable=False, server_default=""),
    ):
        if column.name not in there:
            op.add_column("url_form", column)
