"""How MariaDB is to try conditions that need a look into another table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection


@contextmanager
def row_by_row(c: Connection) -> Iterator[None]:
    """Have them tried on one row after the other, as the index in use gives them.

    MariaDB would first list all rows that meet one, in a collection nearly all.
    """
    if not getattr(c.dialect, "is_mariadb", False):
        yield
        return
    c.exec_driver_sql("SET SESSION optimizer_switch = 'exists_to_in=off'")
    try:
        yield
    finally:
        c.exec_driver_sql("SET SESSION optimizer_switch = 'exists_to_in=on'")
