"""When the page of an article says it was last changed."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from qiaocrawl.storage.schema import article

revision = "0021_modified_at"
down_revision = "0020_lexicon_decisions"


def upgrade() -> None:
    """Add the column; a new database got it with its tables."""
    column = article.c.modified_at
    present = {known["name"] for known in inspect(op.get_bind()).get_columns(article.name)}
    if column.name not in present:
        op.add_column(article.name, Column(column.name, column.type))
