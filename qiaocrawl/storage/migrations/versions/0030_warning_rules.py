"""Rules of warnings and quiet hours that were written in a form; what each message tells of."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import quiet_hours, warning_notice, warning_rule

revision = "0030_warning_rules"
down_revision = "0029_briefings"


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    bind = op.get_bind()
    for table in (warning_rule, quiet_hours, warning_notice):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
