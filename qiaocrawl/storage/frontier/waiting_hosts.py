"""Hosts that have waiting rows, in the order of their ids: what a batch is chosen from.

A host may have one row or a hundred thousand, so none but the first of each may be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.storage.raw_sql import Statement

# A loose index scan, a jump a host, which SQLite does only when told.
_JUMPS = Statement(
    "WITH RECURSIVE h(id, n) AS ("
    " SELECT MIN(host_id), 1 FROM url WHERE queue = :queue AND topic_id = :topic_id"
    "  AND state = State.PENDING AND host_id >= :first AND host_id <= :last"
    " UNION ALL SELECT (SELECT MIN(u.host_id) FROM url u WHERE u.queue = :queue"
    "  AND u.topic_id = :topic_id AND u.state = State.PENDING AND u.host_id > h.id"
    "  AND u.host_id <= :last), h.n + 1"
    " FROM h WHERE h.id IS NOT NULL AND h.n < :count"
    ") SELECT id FROM h WHERE id IS NOT NULL"
)

# MariaDB does it for GROUP BY or not at all, as its statistics have it: with 3,300 rows a host it
# read half a million of them, 1 to 3 s, and the recursion above never ended. Nothing but these
# two reads no row in vain (3,000 hosts, ten million rows: 3 ms for 200 hosts, .4 ms for one).
_LAST_OF_NEXT = Statement(
    "SELECT MAX(id) FROM (SELECT id FROM host WHERE id >= :first AND id <= :last"
    " ORDER BY id LIMIT :count) h"
)
_WITH_ROWS = Statement(
    "SELECT h.id FROM host h WHERE h.id >= :first AND h.id <= :last AND EXISTS ("
    "SELECT 1 FROM url u FORCE INDEX (ix_url_frontier) WHERE u.queue = :queue"
    " AND u.topic_id = :topic_id AND u.state = State.PENDING AND u.host_id = h.id)"
    " ORDER BY h.id LIMIT :count"
)
_NEXT = Statement(
    "SELECT MIN(host_id) FROM url WHERE queue = :queue AND topic_id = :topic_id"
    " AND state = State.PENDING AND host_id >= :first AND host_id <= :last"
)

LOOKED_AT = 200
"""Hosts MariaDB looks at together."""
_WORTH_LOOKING = 10
"""Where fewer than one in so many of them has waiting rows, the next one is asked for instead."""


def waiting_hosts(
    c: Connection, scope: Mapping[str, Any], first: int, last: int, count: int
) -> list[int]:
    """The first *count* hosts with waiting rows among the ids from *first* to *last*.

    Args:
        scope: ``queue`` and ``topic_id`` of the rows.
    """
    if c.dialect.name == "sqlite":
        params = {**scope, "first": first, "last": last, "count": count}
        return [row[0] for row in _JUMPS.run(c, params).fetchall()]
    return list(islice(_hosts_on_mysql(c, scope, first, last), count))


def _hosts_on_mysql(
    c: Connection, scope: Mapping[str, Any], first: int, last: int
) -> Iterator[int]:
    while first <= last:
        looked = {**scope, "first": first, "last": last, "count": LOOKED_AT}
        end = _LAST_OF_NEXT.run(c, looked).fetchone()[0]
        if end is None:
            return
        found = [row[0] for row in _WITH_ROWS.run(c, {**looked, "last": end}).fetchall()]
        yield from found
        first = end + 1
        if len(found) * _WORTH_LOOKING < LOOKED_AT:
            yield from _one_by_one(c, scope, first, last)
            return


def _one_by_one(c: Connection, scope: Mapping[str, Any], first: int, last: int) -> Iterator[int]:
    while first <= last:
        host: int | None = _NEXT.run(c, {**scope, "first": first, "last": last}).fetchone()[0]
        if host is None:
            return
        yield host
        first = host + 1
