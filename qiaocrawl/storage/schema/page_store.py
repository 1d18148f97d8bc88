"""Where raw pages and pictures stand that are not kept in the database itself."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, SmallInteger

from qiaocrawl.storage.column_types import (
    code_type,
    digest_type,
    id_type,
    name_type,
    seconds_type,
    time_type,
)
from qiaocrawl.storage.schema.base import id_column, table

page_store = table(
    "page_store",
    id_column(),
    # Without credentials: those are in the environment of whoever reads it.
    Column("address", name_type(400), nullable=False, unique=True),
    # Stands in a file of the store too: an empty mount point, or a store of another database, is
    # told by it.
    Column("mark", code_type(), nullable=False),
    # Who writes, moves or prunes its files now ("" nobody), and until when unless it says more.
    Column("holder", name_type(200), nullable=False),
    Column("held_until", seconds_type(), nullable=False),
)

page_file = table(
    "page_file",
    id_column(),
    Column("store_id", ForeignKey("page_store.id"), nullable=False),
    Column("name", code_type(100), nullable=False, unique=True),
    # FileState of storage.page_store.files_table.
    Column("state", SmallInteger, nullable=False),
    Column("file_bytes", id_type(), nullable=False),
    Column("created_at", time_type(), nullable=False),
    # When its last record went; it is deleted some days later.
    Column("retired_at", time_type()),
    Index("ix_page_file_state", "store_id", "state"),
)

page_record = table(
    "page_record",
    id_column(),
    # SHA-256 of what is stored: the body of a page, or a picture.
    Column("digest", digest_type(), nullable=False, unique=True),
    Column("file_id", ForeignKey("page_file.id"), nullable=False),
    Column("offset_bytes", id_type(), nullable=False),
    Column("length_bytes", Integer, nullable=False),
    # What was wrong with it when it was last verified; "" nothing.
    Column("fault", name_type(200), nullable=False),
    # The order in which a file is read.
    Index("ix_page_record_place", "file_id", "offset_bytes"),
)
