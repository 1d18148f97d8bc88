"""Which hosts refuse or are silent."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import host_rest

revision = "0038_host_rests"
down_revision = "0037_term_weights"


def upgrade() -> None:
    """Create the table, empty; a new database got it with the others."""
    host_rest.create(op.get_bind(), checkfirst=True)
