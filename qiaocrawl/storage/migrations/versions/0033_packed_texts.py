"""Texts as bytes, which may be packed; those that are stored stay as they are."""

from __future__ import annotations

from alembic import op
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT

revision = "0033_packed_texts"
down_revision = "0032_page_store"


def upgrade() -> None:
    """Let columns hold bytes. A column of SQLite does; `qiaocrawl db compress` packs old texts."""
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in ("article", "article_part", "revision"):
        op.alter_column(
            table, "text", existing_type=LONGTEXT(), type_=LONGBLOB(), existing_nullable=False
        )
