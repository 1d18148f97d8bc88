"""How much each host is asked: fetches under way, pauses, pages of this run."""

from __future__ import annotations

import time
from collections import Counter

from qiaocrawl.crawl.limits import Limits


class HostUse:
    """Says which hosts may be asked now.

    Args:
        fetches_per_host: most fetches of one host at a time.
        limits: of the run.
    """

    def __init__(self, fetches_per_host: int, limits: Limits) -> None:
        self._fetches_per_host = fetches_per_host
        self._limits = limits
        self._downloading: Counter[str] = Counter()
        self._asked: Counter[str] = Counter(limits.spent)
        self._parked: dict[str, float] = {}

    @property
    def pages(self) -> int:
        """Pages asked for in this run, and those that count from before."""
        return self._asked.total()

    def begin(self, host: str) -> None:
        """A fetch of *host* begins."""
        self._downloading[host] += 1
        self._asked[host] += 1

    def end(self, host: str) -> None:
        """A fetch of *host* is over, whatever came of it."""
        self._downloading[host] -= 1
        if self._downloading[host] <= 0:
            del self._downloading[host]

    def park(self, host: str, seconds: float) -> None:
        """Ask *host* nothing for *seconds*."""
        until = time.monotonic() + seconds
        self._parked[host] = max(until, self._parked.get(host, 0.0))

    def is_free(self, host: str) -> bool:
        """Whether *host* may be asked now."""
        busy = self._downloading[host] >= self._fetches_per_host
        return not busy and self._parked.get(host, 0.0) <= time.monotonic()

    @property
    def parked(self) -> set[str]:
        """Hosts that asked to wait and still do."""
        now = time.monotonic()
        self._parked = {host: until for host, until in self._parked.items() if until > now}
        return set(self._parked)

    @property
    def spent(self) -> set[str]:
        """Hosts of which the run has asked for all the pages it may."""
        most = self._limits.pages_per_host
        return {host for host, pages in self._asked.items() if pages >= most} if most else set()
