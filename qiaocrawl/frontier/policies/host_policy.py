"""To which collector a new host goes.

Deciding keeps nothing but what stands in the :class:`Collector` records, which are rows of the
database: any collector may decide next, and one that dies takes no state along.

Sources: T3 of the source systems for the list (round robin is its default; weighted round robin
by connection time; random; least load; pick-2 as a case of pick-k, with k = 1 random and k = n
least load). Weighted rounds are stride scheduling (Waldspurger and Weihl, MIT/LCS/TM-528, 1995),
whose turns need no list of who was served. For two choices instead of one see Azar, Broder,
Karlin and Upfal, *Balanced Allocations* (SIAM J. Comput. 29, 1999) and Mitzenmacher, *The Power
of Two Choices in Randomized Load Balancing* (IEEE TPDS 12, 2001).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier.policies.collector import Collector
from qiaocrawl.language import _

SHARED = "shared"
"""No policy: every collector leases what is best, whatever its host."""


class HostPolicy(ABC):
    """Chooses a collector for a host."""

    @abstractmethod
    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """One of *collectors*, of which there is at least one."""


class RoundRobin(HostPolicy):
    """One after another, whatever they can do."""

    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """The one that has had the fewest turns."""
        chosen = min(collectors, key=lambda c: (c.turns, c.token))
        chosen.turns += 1
        return chosen


class WeightedRoundRobin(HostPolicy):
    """In turn, the stronger ones more often: in proportion to their capacity."""

    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """The one whose turn comes first; its next is the later the weaker it is."""
        chosen = min(collectors, key=lambda c: (c.turns + 1 / c.capacity, c.token))
        chosen.turns += 1 / chosen.capacity
        return chosen


class Random(HostPolicy):
    """By chance, with probability c_k / Σc **(ours: the formula is lost in the source)**."""

    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """Any, the stronger ones more often."""
        return rng.choices(collectors, [c.capacity for c in collectors])[0]


class LeastLoad(HostPolicy):
    """The collector with the least to do for what it can do."""

    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """The least loaded with the new host counted, so that a strong one gets it."""
        return _least_loaded(collectors)


class PickK(HostPolicy):
    """The less loaded of *picks* collectors that are looked at by chance."""

    def __init__(self, picks: int) -> None:
        self._picks = picks

    def choose(self, collectors: Sequence[Collector], rng: random.Random) -> Collector:
        """The least loaded of a sample without replacement."""
        return _least_loaded(rng.sample(collectors, min(self._picks, len(collectors))))


def _least_loaded(collectors: Sequence[Collector]) -> Collector:
    return min(collectors, key=lambda c: ((c.hosts + 1) / c.capacity, c.token))


POLICIES: Mapping[str, HostPolicy] = {
    "round_robin": RoundRobin(),
    "weighted_round_robin": WeightedRoundRobin(),
    "random": Random(),
    "least_load": LeastLoad(),
    "pick2": PickK(2),
}
"""By the name an operator gives; :data:`SHARED` is none of them."""


def make_policy(name: str) -> HostPolicy | None:
    """The policy *name*; None for :data:`SHARED`.

    Raises:
        ConfigError: there is none of that name.
    """
    if name == SHARED:
        return None
    if name not in POLICIES:
        allowed = ", ".join((SHARED, *POLICIES))
        raise ConfigError(
            _("host policy {name!r}: must be one of {names}", name=name, names=allowed)
        )
    return POLICIES[name]


def assign_hosts(
    hosts: Iterable[int],
    collectors: Sequence[Collector],
    policy: HostPolicy,
    rng: random.Random,
) -> dict[int, int]:
    """Give each of *hosts* to a collector; returns tokens by host.

    The collectors' ``hosts`` and ``turns`` are counted on. Without a collector nothing is given.
    """
    owners: dict[int, int] = {}
    for host in hosts if collectors else ():
        chosen = policy.choose(collectors, rng)
        chosen.hosts += 1
        owners[host] = chosen.token
    return owners


def entry_turns(collectors: Iterable[Collector]) -> float:
    """The place in the round at which a new collector enters: that of who is next.

    From 0 on it would be given all new hosts until it had as many turns as the oldest.
    """
    return min((c.turns for c in collectors), default=0.0)
