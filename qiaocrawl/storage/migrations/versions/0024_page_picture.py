"""Pictures of pages that a browser rendered."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import page_picture

revision = "0024_page_picture"
down_revision = "0023_jobs"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    page_picture.create(op.get_bind(), checkfirst=True)
