"""The hosts URLs were seen on."""

from __future__ import annotations

from sqlalchemy import Connection, select

from qiaocrawl.storage.schema import host


def host_names(c: Connection) -> list[str]:
    """Every host of any URL, in no order."""
    return list(c.execute(select(host.c.name)).scalars())
