"""What a language model translated of foreign articles."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import translation

revision = "0057_translation"
down_revision = "0053_node_clusters"


def upgrade() -> None:
    """Add its table; a new database got it with the others."""
    translation.create(op.get_bind(), checkfirst=True)
