"""What each person chose to be told, and where."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import person_push

revision = "0050_person_push"
down_revision = "0049_console_identity"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    person_push.create(op.get_bind(), checkfirst=True)
