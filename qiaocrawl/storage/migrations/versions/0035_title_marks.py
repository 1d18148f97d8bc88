"""Marks in the log of titles."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import title_mark

revision = "0035_title_marks"
down_revision = "0034_page_dictionary"


def upgrade() -> None:
    """Create the table, empty; a new database got it with the others."""
    title_mark.create(op.get_bind(), checkfirst=True)
