"""The first schema: every table of the metadata.

It bears the name of the last of the development versions it replaces, so a database of that
version is one of this schema.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import insert, inspect, select

from qiaocrawl.storage.schema import metadata, title_clock

revision = "0036_chosen_queries"
down_revision = None


def upgrade() -> None:
    """Create what is missing: MySQL cannot roll back an upgrade that was interrupted."""
    bind = op.get_bind()
    # Asked once: to ask for each table and index is a third of the time.
    there = set(inspect(bind).get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in there:
            table.create(bind, checkfirst=False)
            continue
        for index in table.indexes:
            index.create(bind, checkfirst=True)
    if bind.execute(select(title_clock.c.id)).first() is None:
        bind.execute(insert(title_clock).values(id=1, snapshot=0))
