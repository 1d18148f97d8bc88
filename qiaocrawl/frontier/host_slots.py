"""The load on each host: fetches under way, pauses, turns, pages; the leases in hand."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from qiaocrawl.items import Lease

# --- When a run stops on its own ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """Most pages, pages of one host, and seconds of a run; 0 = no limit.

    ``spent`` are pages by host that count already.
    """

    pages: int = 0
    pages_per_host: int = 0
    seconds: float = 0.0
    spent: Mapping[str, int] = field(default_factory=dict)

    def why_reached(self, pages: int, seconds: float) -> str:
        """Why a run that asked for *pages* in *seconds* stops now; "" if it does not."""
        if self.pages and pages >= self.pages:
            return "limit_pages"
        return "limit_seconds" if self.seconds and seconds >= self.seconds else ""


@dataclass(frozen=True, slots=True)
class Fetches:
    """Limits and pauses of fetches.

    Attributes:
        per_host, at_once: most fetches at a time, of one host and of all.
        rest_seconds: how long a host still rests now; 0 while it is its turn.
        is_on_trial: whether a host gets one request at a time until it gives a proper answer.
    """

    per_host: int
    at_once: int
    rest_seconds: Callable[[str], float] = lambda host: 0.0
    is_on_trial: Callable[[str], bool] = lambda host: False


# --- The load on each host: fetches under way, pauses, turns, pages of this run -------------------

# Share of all fetches that hosts may hold which have not answered yet in this run. Each holds
# one, with its robots.txt two of Scrapy's slots: a quarter is left to other hosts **(ours)**.
_UNKNOWN_SHARE = 3 / 8

FOREVER = float("inf")
"""A pause that lasts to the end of the run: the host is given up for now."""


class HostUse:
    """Says which hosts may be asked now.

    Args:
        fetches: how many at a time, and whose turn it is.
        limits: of the run.
    """

    def __init__(self, fetches: Fetches, limits: Limits) -> None:
        self._fetches = fetches
        self._limits = limits
        self._downloading: Counter[str] = Counter()
        # A watch run counts what it asked the host earlier today: its budget is one of the day.
        self._asked: Counter[str] = Counter(limits.spent)
        self._parked: dict[str, float] = {}
        self._answered: set[str] = set()
        self._most_unknown = max(1, int(fetches.at_once * _UNKNOWN_SHARE))

    @property
    def pages(self) -> int:
        """Pages asked for in this run, and those that count from before."""
        return self._asked.total()

    def begin(self, host: str) -> None:
        """A fetch of *host* begins."""
        # Counts requests, not answers: a host at its limit is asked nothing more even if
        # nothing comes back.
        self._downloading[host] += 1
        self._asked[host] += 1

    def note_answer(self, host: str) -> None:
        """*host* has given an answer, whatever its status."""
        self._answered.add(host)

    def end(self, host: str) -> None:
        """A fetch of *host* is over, whatever came of it."""
        self._downloading[host] -= 1
        # Deleted at 0: thousands of hosts pass through here, and is_asking tests for emptiness.
        if self._downloading[host] <= 0:
            del self._downloading[host]

    def park(self, host: str, seconds: float) -> None:
        """Ask *host* nothing for *seconds*; FOREVER is the rest of the run."""
        until = time.monotonic() + seconds
        # A short pause must not cut a longer one: Retry-After of an hour, then a timeout of 30 s.
        self._parked[host] = max(until, self._parked.get(host, 0.0))

    def is_free(self, host: str) -> bool:
        """Whether *host* may be asked now."""
        is_unknown = host not in self._answered
        # One at a time until it has answered: more would only wait together for the same time-out.
        most = 1 if is_unknown or self._fetches.is_on_trial(host) else self._fetches.per_host
        if self._downloading[host] >= most:
            return False
        if self._parked.get(host, 0.0) > time.monotonic():
            return False
        if is_unknown and self._held_by_unknown() >= self._most_unknown:
            return False
        rest = self._fetches.rest_seconds(host)
        if rest > 0:
            self.park(host, rest)
        return rest <= 0

    def _held_by_unknown(self) -> int:
        """Fetches under way to hosts that may never answer; they must not fill every slot."""
        return sum(n for host, n in self._downloading.items() if host not in self._answered)

    @property
    def parked_hosts(self) -> set[str]:
        """Hosts that rest and will be asked again in this run."""
        now = time.monotonic()
        self._parked = {host: until for host, until in self._parked.items() if until > now}
        # A host given up rests for ever; if it counted as resting, an idle run would wait for it.
        return set(self._parked) - self.given_up

    @property
    def is_asking(self) -> bool:
        """Whether a fetch is under way."""
        return bool(self._downloading)

    @property
    def next_rest(self) -> tuple[str, float] | None:
        """The host whose rest ends first, and the seconds until then; None when none rests."""
        resting = {host: self._parked[host] for host in self.parked_hosts}
        if not resting:
            return None
        host = min(resting, key=resting.__getitem__)
        return host, resting[host] - time.monotonic()

    @property
    def spent(self) -> set[str]:
        """Hosts that are asked nothing more in this run: given up, or at their most pages."""
        most = self._limits.pages_per_host
        full = {host for host, pages in self._asked.items() if pages >= most} if most else set()
        return full | self.given_up

    @property
    def why_spent(self) -> str:
        """Why a run ends when only rows of spent hosts are left."""
        return "hosts_given_up" if self.given_up else "limit_pages_per_host"

    @property
    def given_up(self) -> set[str]:
        """Hosts that are asked nothing more in this run."""
        return {host for host, until in self._parked.items() if until == FOREVER}


# --- The leases in hand that are not fetched yet, host by host ------------------------------------


class ReadyLeases:
    """Hands out the best lease of the hosts that may be asked.

    Args:
        present_score: of a lease, where scores change while it waits here; None where leases
            come in the order they are to be fetched in.
    """

    def __init__(self, present_score: Callable[[Lease], float] | None = None) -> None:
        self._present_score = present_score
        self._hosts: dict[str, deque[Lease]] = defaultdict(deque)

    def __len__(self) -> int:
        """How many leases wait here."""
        return sum(map(len, self._hosts.values()))

    def add(self, leases: Iterable[Lease]) -> None:
        """Leases that have come in."""
        for lease in leases:
            self._hosts[lease.host].append(lease)

    def next(self, is_free: Callable[[str], bool]) -> Lease | None:
        """Take the best lease of the hosts that are free; None when there is none."""
        free = [host for host in self._hosts if is_free(host)]
        if not free:
            return None
        if self._present_score is None:
            # Leases come best first, so the first of each host is its best.
            lease = max((self._hosts[host][0] for host in free), key=attrgetter("score"))
        else:
            # Scores change while leases wait here, so all of them are looked at: at
            # most four batches.
            every = [lease for host in free for lease in self._hosts[host]]
            lease = max(every, key=self._present_score)
        self._hosts[lease.host].remove(lease)
        if not self._hosts[lease.host]:
            del self._hosts[lease.host]
        return lease

    def take_host(self, host: str) -> list[Lease]:
        """Take all leases of *host*."""
        # pop(): a defaultdict would make an empty queue for a host that has none.
        return list(self._hosts.pop(host, ()))

    def hosts_with(self, leases: int) -> set[str]:
        """Hosts with at least this many *leases* waiting here."""
        return {host for host, queue in self._hosts.items() if len(queue) >= leases}

    def all(self) -> list[Lease]:
        """All that wait here, in no order."""
        return [lease for queue in self._hosts.values() for lease in queue]
