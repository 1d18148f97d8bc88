"""Which hosts move to another collector: slow ones shed load, idle and new ones take it over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qiaocrawl.frontier.policies.collector import Collector

TOLERANCE = 1.5
"""A load is left alone while it is within this factor of the mean, above and below **(ours)**.

A host that moves costs a pause in which nobody asks it, so small differences are not evened out.
"""


def balancing_moves(
    owned: Mapping[int, Sequence[int]], collectors: Sequence[Collector]
) -> dict[int, int]:
    """New owners of the hosts that have to move, by host.

    While the most or the least loaded collector is out of tolerance, the most loaded gives a host
    to the least loaded, as long as the higher of their two loads becomes less. The source moves
    nothing; that idle collectors ask by themselves (T3) is this seen from the other side.

    Args:
        owned: hosts with waiting URLs by the token of their collector; the last go first. Their
            numbers are the collectors' ``hosts``, which are counted on.
    """
    total = sum(c.hosts for c in collectors)
    moves: dict[int, int] = {}
    if len(collectors) < 2 or not total:
        return moves
    mean = total / sum(c.capacity for c in collectors)
    leaving = {token: list(hosts) for token, hosts in owned.items()}
    while True:
        heaviest = max(collectors, key=lambda c: (c.load, c.token))
        lightest = min(collectors, key=lambda c: ((c.hosts + 1) / c.capacity, c.token))
        is_uneven = heaviest.load > mean * TOLERANCE or lightest.load < mean / TOLERANCE
        is_better = (lightest.hosts + 1) / lightest.capacity < heaviest.load
        if not (is_uneven and is_better and leaving.get(heaviest.token)):
            return moves
        moves[leaving[heaviest.token].pop()] = lightest.token
        heaviest.hosts -= 1
        lightest.hosts += 1
