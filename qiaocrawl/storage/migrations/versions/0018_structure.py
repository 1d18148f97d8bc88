"""Bodies with their structure (``html``), what readers did and said, kinds."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import Column, DefaultClause, inspect

from qiaocrawl.storage.schema import article, article_part

revision = "0018_structure"
down_revision = "0017_excerpts"

_ADDED = (
    (article, "html"),
    (article, "engagement"),
    (article, "comments"),
    (article, "kind"),
    (article_part, "html"),
)


def _copy(column: Column[Any]) -> Column[Any]:
    default = column.server_default
    written = str(default.arg) if isinstance(default, DefaultClause) else None
    return Column(column.name, column.type, nullable=column.nullable, server_default=written)


def upgrade() -> None:
    """Add what is missing: a new database got it with its tables."""
    present = inspect(op.get_bind())
    for table, name in _ADDED:
        if name not in {column["name"] for column in present.get_columns(table.name)}:
            op.add_column(table.name, _copy(table.c[name]))
