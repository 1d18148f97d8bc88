"""Groups of words that are kept with a topic."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import word_group

revision = "0042_word_groups"
down_revision = "0041_briefing_desk"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    word_group.create(op.get_bind(), checkfirst=True)
