"""A collector as policies see it: what it can do, and what it has to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# The slowest collector counts for no less than this part of what it would if it were the
# fastest: one host that never answers says little about who asks it **(ours)**.
_LEAST_SPEED = 1 / 8


@dataclass(slots=True)
class Collector:
    """One collector of a crawl.

    Attributes:
        token: names it.
        weight: what the operator says it can do, compared with the others.
        fetch_seconds: mean time of its fetches; 0 while none was measured.
        hosts: how many hosts with waiting URLs are its own.
        turns: its place in the round: the collector with the fewest is next.
        capacity: weight times relative speed; set by :func:`refresh_capacities`.
    """

    token: int
    weight: float = 1.0
    fetch_seconds: float = 0.0
    hosts: int = 0
    turns: float = 0.0
    capacity: float = 1.0

    @property
    def load(self) -> float:
        """Hosts it has to crawl for what it can do."""
        return self.hosts / self.capacity


def refresh_capacities(collectors: Sequence[Collector]) -> None:
    """Set what each can do now: its weight, times its speed compared with the fastest.

    The source weights by connection time, and computes it anew only when the list of collectors
    is refreshed (T3); so one that has become slow gets fewer hosts.
    """
    measured = [c.fetch_seconds for c in collectors if c.fetch_seconds > 0]
    fastest = min(measured, default=0.0)
    for collector in collectors:
        speed = fastest / collector.fetch_seconds if collector.fetch_seconds > 0 else 1.0
        collector.capacity = collector.weight * max(speed, _LEAST_SPEED)
