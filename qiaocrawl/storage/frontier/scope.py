"""A worker's share of the frontier, as the WHERE clause that selects it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.items import Lease, Queue
from qiaocrawl.storage.sql import ListStatement, Statement
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_host, host_id


@dataclass(frozen=True)
class Scope:
    """The rows a worker may take: one queue of one topic, on all hosts (None) or some.

    Attributes:
        is_share: other workers have the other hosts of the same crawl.
    """

    queue: Queue
    topic: str
    hosts: frozenset[str] | None = None
    is_share: bool = False

    @cached_property
    def host_ids(self) -> tuple[int, ...] | None:
        """Row ids of the hosts in ascending order; None for all hosts."""
        if self.hosts is None:
            return None
        # Sorted: statements that lock rows host by host do so in one order.
        return tuple(sorted(host_id(clean_host(host)) for host in self.hosts))

    def params(self, c: Connection) -> dict[str, Any]:
        """Values for ``queue = :queue AND topic_id = :topic_id``.

        Raises:
            StorageError: the topic was never imported.
        """
        return {"queue": self.queue.value, "topic_id": topic_id(c, self.topic)}


class ScopedStatement:
    """A statement whose ``{scope}`` becomes the WHERE clause of a :class:`Scope`."""

    _ALL = "queue = :queue AND topic_id = :topic_id"
    _SOME = _ALL + " AND host_id IN ({list})"

    # Two statements, prepared once: a scope of thousands of hosts is run in chunks.
    def __init__(self, sql: str) -> None:
        self._on_all = Statement(sql.replace("{scope}", self._ALL))
        self._on_some = ListStatement(sql.replace("{scope}", self._SOME))

    def count(self, c: Connection, scope: Scope, params: dict[str, Any]) -> int:
        """Rows changed."""
        values = {**scope.params(c), **params}
        if scope.host_ids is None:
            return self._on_all.run(c, values).rowcount
        # Chunks of hosts add up, as each row is on one host.
        return self._on_some.count(c, scope.host_ids, values)

    def fetch(self, c: Connection, scope: Scope, params: dict[str, Any]) -> list[Any]:
        """Rows found, those of one chunk of hosts after the other."""
        values = {**scope.params(c), **params}
        if scope.host_ids is None:
            return list(self._on_all.run(c, values).fetchall())
        return self._on_some.fetch(c, scope.host_ids, values)


# --- What statements on frontier rows share: the fence, and the columns of a row never tried ------

# The attempt besides the token: one worker may lose a row and lease it again.
FENCE = "id = :id AND lease_token = :token AND attempts = :attempt"
"""Selects a row only for the lease that took it last; values by :func:`fence`."""

HELD = f"{FENCE} AND state IN (State.LEASED, State.FETCHED)"
"""As :data:`FENCE`, and only while the row is open."""

NEVER_TRIED = (
    "lease_token = NULL, lease_until = NULL, not_before = 0, attempts = 0, failures = 0,"
    " crashes = 0"
)
"""Assignments that let a closed row start over: no lease, wait, failure or suspicion is left."""


def fence(lease: Lease) -> dict[str, int]:
    """Values for :data:`FENCE` and :data:`HELD`."""
    return {"id": lease.url_id, "token": lease.token, "attempt": lease.attempt}
