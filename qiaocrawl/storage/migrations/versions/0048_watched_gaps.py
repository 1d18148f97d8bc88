"""The pauses between the last changes of a watched page, which its rhythm is told from."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from qiaocrawl.storage.schema import watched_page

revision = "0048_watched_gaps"
down_revision = "0047_boards"


def upgrade() -> None:
    """Add the column; a new database got it with its table. Pauses are noted from now on."""
    present = {known["name"] for known in inspect(op.get_bind()).get_columns("watched_page")}
    if "gaps" not in present:
        op.add_column("watched_page", Column("gaps", watched_page.c.gaps.type))
