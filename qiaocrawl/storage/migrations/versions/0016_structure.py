"""Bodies with their structure (``html``), and what readers did and said."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from qiaocrawl.storage.schema import article, article_part

revision = "0016_structure"
down_revision = "0015_trap_groups"

_ADDED = (
    (article, "html"), (article, "engagement"), (article, "comments"), (article_part, "html"),
)  # fmt: skip


def upgrade() -> None:
    """Add what is missing: a new database got it with its tables."""
    present = inspect(op.get_bind())
    for table, name in _ADDED:
        if name not in {column["name"] for column in present.get_columns(table.name)}:
            op.add_column(table.name, Column(name, table.c[name].type))
