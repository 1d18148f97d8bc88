"""The leases in hand that are not fetched yet, host by host."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from operator import attrgetter

from qiaocrawl.items import Lease


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
