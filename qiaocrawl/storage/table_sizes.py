"""What tables take of the disk, with their indexes."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError


def table_bytes(c: Connection) -> dict[str, int] | None:
    """Bytes by table, its indexes included; None where this SQLite cannot tell.

    Of SQLite whole pages, read one by one; of InnoDB what the server estimates.
    """
    if c.dialect.name != "sqlite":
        rows = c.execute(
            text(
                "SELECT table_name, data_length + index_length FROM information_schema.tables"
                " WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
            )
        )
        return {str(name): int(size or 0) for name, size in rows}
    try:
        rows = c.execute(
            text(
                "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m"
                " ON m.name = s.name WHERE s.aggregate = TRUE GROUP BY m.tbl_name"
            )
        )
        return {str(name): int(size) for name, size in rows}
    except OperationalError as error:
        if "dbstat" in str(error.orig):
            return None
        raise
