"""What all tables share: names of keys, table options, states of a URL."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from sqlalchemy import Column, MetaData, Table

from qiaocrawl.storage.values import id_type

# One InnoDB table option set for all; SQLite ignores it.
TABLE_OPTIONS: dict[str, Any] = {
    f"{dialect}_{option}": value
    for dialect in ("mysql", "mariadb")
    for option, value in {
        "engine": "InnoDB",
        "charset": "utf8mb4",
        "collate": "utf8mb4_bin",
        # long_text and blobs of one page are read and written whole, off the row.
        "row_format": "DYNAMIC",
    }.items()
}


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class State(IntEnum):
    """Where a URL stands (``url.state``)."""

    PENDING = 0
    """Waits to be leased, from ``not_before`` on."""
    LEASED = 1
    """A worker fetches it, until ``lease_until``."""
    FETCHED = 2
    """Its page is stored and waits for, or is in, analysis."""
    DONE = 3
    FAILED = 4
    """Given up after too many failures."""
    SET_ASIDE = 5
    """Left alone: it killed its workers, or it can never be fetched."""


# On SQLite a table keyed by words or pairs is its own index then: a fifth less to write.
KEYED_TABLE_OPTIONS = {**TABLE_OPTIONS, "sqlite_with_rowid": False}
# Numbers of a log are never given twice, also where its last row is deleted. InnoDB does so anyway.
LOG_TABLE_OPTIONS = {**TABLE_OPTIONS, "sqlite_autoincrement": True}


def table(name: str, *parts: Any, **options: Any) -> Table:
    """A table of the one metadata, with the options of an ordinary one if none are given."""
    # Tables: a column a line.
    # fmt: off
    return Table(name, metadata, *parts, **(options or TABLE_OPTIONS))


def id_column() -> Column[int]:
    """A number given by the database, the primary key."""
    return Column("id", id_type(), primary_key=True, autoincrement=True)
