"""The rows of one crawl, as the database knows its hosts now."""

from __future__ import annotations

import time
from collections.abc import Collection

from qiaocrawl.frontier.host_slots import nothing_elsewhere
from qiaocrawl.runtime import CrawlScope, Runtime, rows_of
from qiaocrawl.storage import frontier


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
        return bool(hosts) and await self._runtime.write(nothing_elsewhere(self.now, hosts))
