"""What articles are about."""

from __future__ import annotations

from alembic import op

from qiaocrawl.storage.schema import article_class

revision = "0031_article_classes"
down_revision = "0030_warning_rules"


def upgrade() -> None:
    """Create the table where it is missing: a new database got it with the others."""
    bind = op.get_bind()
    article_class.create(bind, checkfirst=True)
    for index in article_class.indexes:
        index.create(bind, checkfirst=True)
