"""Pictures of pages that a browser rendered."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import page_file, page_picture, page_record, page_store

revision = "0024_page_picture"
down_revision = "0023_jobs"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    # As it is today, it refers to these (0032).
    for table in (page_store, page_file, page_record, page_picture):
        table.create(op.get_bind(), checkfirst=True)
