"""Warnings of stories, and the messages that tell of them."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import story_warning, warning_message

revision = "0026_warnings"
down_revision = "0025_stories"


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in (story_warning, warning_message):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
