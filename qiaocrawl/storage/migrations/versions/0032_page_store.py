"""Raw pages and pictures in files outside the database."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, inspect

from qiaocrawl.storage.schema import page_file, page_picture, page_record, page_source, page_store

revision = "0032_page_store"
down_revision = "0031_article_classes"

_COLUMN = "record_id"
# The one way SQLite has to add a reference to a table that is there.
_REFERENCES_SQLITE = {
    "page_source": "ALTER TABLE page_source ADD COLUMN record_id INTEGER"
    " CONSTRAINT fk_page_source_record_id REFERENCES page_record (id)",
    "page_picture": "ALTER TABLE page_picture ADD COLUMN record_id INTEGER"
    " CONSTRAINT fk_page_picture_record_id REFERENCES page_record (id)",
}


def upgrade() -> None:
    """Create the tables and add the columns; a new database got both with the others."""
    bind = op.get_bind()
    for table in (page_store, page_file, page_record):
        table.create(bind, checkfirst=True)
        for index in table.indexes:
            index.create(bind, checkfirst=True)
    for table in (page_source, page_picture):
        if _COLUMN not in {known["name"] for known in inspect(bind).get_columns(table.name)}:
            _add_reference(table.name)
        for index in table.indexes:
            index.create(bind, checkfirst=True)


def _add_reference(name: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_REFERENCES_SQLITE[name])
        return
    op.add_column(name, Column(_COLUMN, page_record.c.id.type))
    # All are NULL, so there is nothing to check; checking would copy every page of the table.
    op.execute("SET SESSION foreign_key_checks = 0")
    op.create_foreign_key(f"fk_{name}_{_COLUMN}", name, "page_record", [_COLUMN], ["id"])
    op.execute("SET SESSION foreign_key_checks = 1")
