"""Briefings are kept."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import briefing, briefing_file

revision = "0029_briefings"
down_revision = "0028_nodes"


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in (briefing, briefing_file):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
