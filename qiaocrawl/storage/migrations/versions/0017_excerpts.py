"""Excerpts: text on pages taken for articles that may stand on the pages they lead to."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import excerpt

revision = "0017_excerpts"
down_revision = "0015_trap_groups"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    bind = op.get_bind()
    excerpt.create(bind, checkfirst=True)
    for index in excerpt.indexes:
        index.create(bind, checkfirst=True)
