"""Hot lists, what stood on them, and at which place."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import board, board_entry, board_rank

revision = "0047_boards"
down_revision = "0046_warning_hook"


def upgrade() -> None:
    """Add their tables; a new database got them with the others."""
    for table in (board, board_entry, board_rank):
        table.create(op.get_bind(), checkfirst=True)
