"""Stories."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import (
    story,
    story_article,
    story_background,
    story_change,
    story_clock,
    story_correction,
    story_follow,
)

revision = "0025_stories"
down_revision = "0024_page_picture"

_TABLES = (
    story_clock,
    story,
    story_article,
    story_change,
    story_correction,
    story_background,
    story_follow,
)


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in _TABLES:
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
