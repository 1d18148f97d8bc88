"""The frontier rows of one crawl: which they are, looked up as the database knows its hosts now."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.items import Queue
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.storage import frontier
from qiaocrawl.storage.pages.sites import host_names

if TYPE_CHECKING:
    from qiaocrawl.runtime.runtime import Runtime


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """The frontier rows of one crawl: a queue of a topic, within the sites of *within*.

    Subdomains come to light during a crawl, so the exact hosts are looked up anew by
    :func:`rows_of`.
    """

    queue: Queue
    topic: str
    within: FollowPolicy | None


def rows_of(scope: CrawlScope) -> Callable[[Connection], frontier.Scope]:
    """An operation that finds the exact hosts of *scope* as the database knows them."""

    def operation(c: Connection) -> frontier.Scope:
        if scope.within is None or scope.within.across:
            return frontier.Scope(scope.queue, scope.topic, None)
        hosts = (host for host in host_names(c) if scope.within.covers(host))
        # Also the sites themselves, of which no row may be there yet.
        return frontier.Scope(scope.queue, scope.topic, frozenset(hosts) | scope.within.sites)

    return operation


class CrawlRows:
    """The frontier rows of *scope*; links may bring new subdomains, so they are looked up anew."""

    def __init__(self, runtime: Runtime, scope: CrawlScope) -> None:
        self._runtime = runtime
        self._scope = scope
        self._found_at = float("-inf")
        self.now = frontier.Scope(scope.queue, scope.topic, frozenset())
        """As they were looked up last; none before the first time."""

    async def find(self, *, older_than_seconds: float = 0.0) -> None:
        """Look up the hosts, unless that was done less than so long ago."""
        if time.monotonic() - self._found_at >= older_than_seconds:
            self._found_at = time.monotonic()
            self.now = await self._runtime.write(rows_of(self._scope))

    async def remaining(self) -> frontier.Remaining:
        """What the frontier still holds of them."""
        rows = self.now
        return await self._runtime.write(lambda c: frontier.remaining(c, rows, now=time.time()))

    async def are_only_on(self, hosts: Collection[str]) -> bool:
        """Whether there are *hosts*, and nothing is left on any other."""
        rows = self.now

        def operation(c: Connection) -> bool:
            # Reads the stored rows: other workers and the pages in flight may have added some.
            left = frontier.remaining(c, elsewhere(c, rows, hosts), now=time.time())
            return not left.pending and not left.leased

        return bool(hosts) and await self._runtime.write(operation)


def elsewhere(c: Connection, rows: frontier.Scope, hosts: Collection[str]) -> frontier.Scope:
    """*rows* without those on *hosts*."""
    if not hosts:
        return rows
    # None stands for all hosts; to leave some out they must be listed first.
    every = host_names(c) if rows.hosts is None else rows.hosts
    return replace(rows, hosts=frozenset(every) - frozenset(hosts))
