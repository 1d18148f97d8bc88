"""How much each host is asked: fetches under way, pauses, pages of this run."""

from __future__ import annotations

import math
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
        self._asked: Counter[str] = Counter()
        self._parked: dict[str, float] = {}
        self._given_up: set[str] = set()

    @property
    def pages(self) -> int:
        """Pages asked for in this run."""
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
        """Ask *host* nothing for *seconds*; inf: not again in this run."""
        if seconds == math.inf:
            self._given_up.add(host)
            return
        until = time.monotonic() + seconds
        self._parked[host] = max(until, self._parked.get(host, 0.0))

    def is_free(self, host: str) -> bool:
        """Whether *host* may be asked now."""
        busy = self._downloading[host] >= self._fetches_per_host
        busy = busy or host in self._given_up
        return not busy and self._parked.get(host, 0.0) <= time.monotonic()

    @property
    def parked(self) -> set[str]:
        """Hosts that asked to wait and still do."""
        now = time.monotonic()
        self._parked = {host: until for host, until in self._parked.items() if until > now}
        return set(self._parked)

    @property
    def spent(self) -> set[str]:
        """Hosts that are not asked again in this run: all the pages it may, or no session."""
        most = self._limits.pages_per_host
        full = {host for host, pages in self._asked.items() if pages >= most} if most else set()
        return full | self._given_up

    @property
    def spent_reason(self) -> str:
        """Why a run stops when only spent hosts wait."""
        return "no_session" if self._given_up else "limit_pages_per_host"
