"""Whom the office's provider signs in, and which user of the console that is."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import console_identity

revision = "0049_console_identity"
down_revision = "0048_watched_gaps"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    console_identity.create(op.get_bind(), checkfirst=True)
