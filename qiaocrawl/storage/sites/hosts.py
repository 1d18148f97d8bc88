"""The hosts URLs were seen on."""

from __future__ import annotations

from sqlalchemy import Connection, select

from qiaocrawl.storage.schema import host


def host_names(c: Connection) -> list[str]:
    """Every host of any URL, in no order."""
    return list(c.execute(select(host.c.name)).scalars())


def is_known_host(c: Connection, name: str) -> bool:
    """Whether any URL of the host *name* was ever proposed."""
    return c.execute(select(host.c.id).where(host.c.name == name)).first() is not None
