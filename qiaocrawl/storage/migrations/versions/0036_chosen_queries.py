"""The ledger holds what was chosen to be asked; what nobody chose follows from it."""

from __future__ import annotations

from alembic import op

revision = "0036_chosen_queries"
down_revision = "0035_title_marks"


def upgrade() -> None:
    """Delete the rows of engines nobody chose; they were never asked, so nothing refers to them."""
    op.execute("DELETE FROM `query` WHERE state = 'robots'")
