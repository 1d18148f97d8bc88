"""What lists are chosen by: articles that groups of words touch, and kinds of media."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, func, insert, inspect, select, update

from qiaocrawl.storage.schema import (
    article_change,
    outlet_medium,
    word_group,
    word_group_clock,
    word_group_hit,
)

revision = "0043_desk_lists"
down_revision = "0042_word_groups"


def upgrade() -> None:
    """Add what is missing; a new database got it with its tables.

    No article is marked yet: the groups that are there are marked as if they were new.
    """
    bind = op.get_bind()
    word_group_clock.create(bind, checkfirst=True)
    word_group_hit.create(bind, checkfirst=True)
    outlet_medium.create(bind, checkfirst=True)
    article_change.create(bind, checkfirst=True)
    present = {known["name"] for known in inspect(bind).get_columns("word_group")}
    for column in (word_group.c.version, word_group.c.marked_to):
        if column.name not in present:
            default = None if column.nullable else "0"
            added = Column(
                column.name, column.type, nullable=column.nullable, server_default=default
            )
            op.add_column("word_group", added)
    bind.execute(
        update(word_group)
        .where(word_group.c.version == 0)
        .values(version=word_group.c.id, marked_to=0)
    )
    if bind.execute(select(word_group_clock.c.id)).first() is None:
        newest = bind.execute(select(func.max(word_group.c.version))).scalar_one() or 0
        bind.execute(insert(word_group_clock).values(id=1, version=newest))
