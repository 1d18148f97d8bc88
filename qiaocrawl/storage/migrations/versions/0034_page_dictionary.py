"""What pages of a site have in common; pages that are stored stay as they are."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import page_dictionary

revision = "0034_page_dictionary"
down_revision = "0033_packed_texts"


def upgrade() -> None:
    """Create the table; a new database got it with the others."""
    bind = op.get_bind()
    page_dictionary.create(bind, checkfirst=True)
    for index in page_dictionary.indexes:
        index.create(bind, checkfirst=True)
