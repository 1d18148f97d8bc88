"""The one clock for leases and waiting rows, whatever the workers' own clocks say."""

from __future__ import annotations

import time

from sqlalchemy import Connection

from qiaocrawl.storage.raw_sql import Statement

_SERVER_TIME = Statement("SELECT UNIX_TIMESTAMP(SYSDATE(6))")


def clock(c: Connection) -> float:
    """Epoch seconds by the database server's clock; by this machine's for SQLite.

    Workers on several machines disagree by minutes at times: one that is ahead would take the
    leases of all others for run out.
    """
    if c.dialect.name == "sqlite":
        return time.time()
    return float(_SERVER_TIME.run(c).fetchone()[0])
