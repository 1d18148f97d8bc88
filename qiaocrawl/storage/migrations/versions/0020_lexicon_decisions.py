"""Decisions of experts about the words of a topic, and every hit of a query."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import lexicon_decision, query_hit

revision = "0020_lexicon_decisions"
down_revision = "0018_structure"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    bind = op.get_bind()
    lexicon_decision.create(bind, checkfirst=True)
    for index in lexicon_decision.indexes:
        index.create(bind, checkfirst=True)
    query_hit.create(bind, checkfirst=True)
