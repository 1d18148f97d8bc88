"""Whom and what articles of stories name."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import article_name

revision = "0027_names"
down_revision = "0026_warnings"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    bind = op.get_bind()
    article_name.create(bind, checkfirst=True)
    for index in article_name.indexes:
        index.create(bind, checkfirst=True)
