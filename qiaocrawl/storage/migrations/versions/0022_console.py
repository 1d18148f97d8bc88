"""The console: users, sessions, marks, saved searches and the log of changes."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Table, inspect

from qiaocrawl.storage.schema import (
    api_token,
    article,
    article_mark,
    article_tag,
    audit_entry,
    console_session,
    console_user,
    login_failure,
    saved_search,
    url,
)

revision = "0022_console"
down_revision = "0021_modified_at"

_TABLES = (
    console_user,
    console_session,
    login_failure,
    audit_entry,
    api_token,
    saved_search,
    article_mark,
    article_tag,
)
_REPLACED = ("ix_article_fetched_at", "ix_article_published_at", "ix_article_site")


def upgrade() -> None:
    """Create the tables where they are missing: a new database got them with the others."""
    for new_table in _TABLES:
        new_table.create(op.get_bind(), checkfirst=True)
        _create_indexes(new_table)
    for changed_table in (article, url):
        _create_indexes(changed_table)
    # Each is the beginning of a new one.
    names = {index["name"] for index in inspect(op.get_bind()).get_indexes(article.name)}
    for name in _REPLACED:
        if name in names:
            op.drop_index(name, article.name)


def _create_indexes(of_table: Table) -> None:
    for index in of_table.indexes:
        index.create(op.get_bind(), checkfirst=True)
