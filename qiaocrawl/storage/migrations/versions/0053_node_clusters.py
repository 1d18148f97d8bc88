"""What crawls have taught the method cluster."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import node_clusters

revision = "0053_node_clusters"
down_revision = "0052_model_writing"


def upgrade() -> None:
    """Add its table; a new database got it with the others."""
    node_clusters.create(op.get_bind(), checkfirst=True)
