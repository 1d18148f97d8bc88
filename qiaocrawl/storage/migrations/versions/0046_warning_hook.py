"""Programs that are told of new articles and events."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import warning_hook

revision = "0046_warning_hook"
down_revision = "0045_warning_push"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    warning_hook.create(op.get_bind(), checkfirst=True)
