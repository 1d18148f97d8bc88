"""Hosts that refuse or are silent: since when, why, and when they are asked again.

A run pauses such a host and gives it up in the end; what it knows of that is a row here, so that
whoever asks afterwards is told of the site and not only of its pages.
"""

from __future__ import annotations

from sqlalchemy import Connection

from qiaocrawl.storage.converters import clean_text, host_id
from qiaocrawl.storage.raw_sql import Statement, upsert

_NOTE = upsert(
    "host_rest",
    "host_id, since, last_at, until_at, reason",
    key="host_id",
    change="last_at, until_at, reason",
)
_END = Statement("DELETE FROM host_rest WHERE host_id = :host_id")
_ALL = Statement("SELECT h.name FROM host_rest r JOIN host h ON h.id = r.host_id")


def note_rest(c: Connection, host: str, reason: str, *, until: float, now: float) -> None:
    """*host* gave no page and is left alone.

    Args:
        host: as a lease names it; its row is there.
        until: epoch seconds; 0: until the next run.
    """
    _NOTE.run(c, {
        "host_id": host_id(host), "since": now, "last_at": now, "until_at": until,
        "reason": clean_text(reason, 500),
    })  # fmt: skip


def end_rest(c: Connection, host: str) -> None:
    """*host* gave a page again."""
    _END.run(c, {"host_id": host_id(host)})


def resting_hosts(c: Connection) -> set[str]:
    """The hosts that were left alone when they were asked last."""
    return {row[0] for row in _ALL.run(c).fetchall()}
