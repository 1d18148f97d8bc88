"""One round of dealing: new hosts go to collectors by the policy, loads are evened out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qiaocrawl.frontier.policies.balance import balancing_moves
from qiaocrawl.frontier.policies.collector import Collector, refresh_capacities
from qiaocrawl.frontier.policies.host_policy import HostPolicy, assign_hosts


@dataclass(frozen=True, slots=True)
class Round:
    """What a round brought: the new owners of free hosts, and of those that have to move."""

    given: Mapping[int, int]
    moved: Mapping[int, int]


def deal_round(
    fleet: Sequence[Collector],
    owned: Mapping[int, Sequence[int]],
    free: Iterable[int],
    policy: HostPolicy,
    rng: random.Random,
) -> Round:
    """Deal *free* hosts to *fleet*, then move some of those that are *owned* already.

    Args:
        fleet: the collectors that are alive; their capacities, ``hosts`` and ``turns`` are set.
        owned: hosts with waiting URLs by the token of their collector, an entry for each.
    """
    refresh_capacities(fleet)
    for collector in fleet:
        collector.hosts = len(owned[collector.token])
    given = assign_hosts(free, fleet, policy, rng)
    return Round(given, balancing_moves(owned, fleet))
