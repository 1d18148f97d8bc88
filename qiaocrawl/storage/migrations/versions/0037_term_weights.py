"""A column called ``vector`` is called otherwise: MariaDB reserves that word from 11.7 on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0037_term_weights"
down_revision = "0036_chosen_queries"


def upgrade() -> None:
    """Rename it; a database whose table of stories is newer than that never had it."""
    columns = {column["name"] for column in inspect(op.get_bind()).get_columns("story_article")}
    if "vector" in columns:
        # By hand, since its name has to be quoted; both kinds of database read these quotes.
        op.execute("ALTER TABLE story_article RENAME COLUMN `vector` TO term_weights")
