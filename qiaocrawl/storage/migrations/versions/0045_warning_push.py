"""What channels are told beside warnings: the morning's digest, and what needs a hand."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import warning_push

revision = "0045_warning_push"
down_revision = "0044_template_versions"


def upgrade() -> None:
    """Add their table; a new database got it with the others."""
    warning_push.create(op.get_bind(), checkfirst=True)
