"""What the office is called, and channels of warnings that were entered in a form."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import office, warning_channel

revision = "0040_office_and_channels"
down_revision = "0039_ends_and_keepers"


def upgrade() -> None:
    """Add the tables; a new database got them already."""
    for table in (office, warning_channel):
        table.create(op.get_bind(), checkfirst=True)
