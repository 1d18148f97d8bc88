"""Nodes, the collectors on them, and which of them has which hosts."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import collector, host_owner, host_round, node

revision = "0028_nodes"
down_revision = "0027_names"


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in (node, collector, host_round, host_owner):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
