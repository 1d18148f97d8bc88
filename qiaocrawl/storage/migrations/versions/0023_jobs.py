"""Jobs and their schedules."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import job, job_schedule

revision = "0023_jobs"
down_revision = "0022_console"


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in (job_schedule, job):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
