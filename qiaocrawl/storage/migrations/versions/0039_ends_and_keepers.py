"""How commands ended, when keepers looked last, and how much of a message has arrived."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from qiaocrawl.storage.schema import job, job_schedule, keeper, warning_message

revision = "0039_ends_and_keepers"
down_revision = "0038_host_rests"
_COLUMNS = (job.c.exit_code, job_schedule.c.since_at, warning_message.c.sent_chars)


def upgrade() -> None:
    """Add what is missing; a new database got it with its tables."""
    bind = op.get_bind()
    keeper.create(bind, checkfirst=True)
    for column in _COLUMNS:
        present = {known["name"] for known in inspect(bind).get_columns(column.table.name)}
        if column.name not in present:
            default = None if column.nullable else "0"
            added = Column(
                column.name, column.type, nullable=column.nullable, server_default=default
            )
            op.add_column(column.table.name, added)
