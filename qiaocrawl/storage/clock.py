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


# For clocks of several machines, and for transactions that had to wait.
_SLACK_SECONDS = 60.0


def latest_due(now: float, longest_seconds: float) -> float:
    """The latest time that can have been stored as the next one of anything, in epoch seconds.

    A stored time after it was written by a clock that ran ahead; whatever waits for it would wait
    for as long as the clock was wrong. So it is put back: lists, articles, queries, rows of the
    frontier, messages, schedules and rests all compare with this.

    Args:
        longest_seconds: from now to the next time, by the rule of what waits.
    """
    return now + longest_seconds + _SLACK_SECONDS
