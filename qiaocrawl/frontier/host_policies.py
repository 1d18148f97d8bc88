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
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

# --- A collector as policies see it: what it can do, and what it has to do ------------------------

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


# --- To which collector a new host goes -----------------------------------------------------------

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


_PICK = re.compile(r"pick([1-9]\d{0,3})", re.ASCII)


def make_policy(name: str) -> HostPolicy | None:
    """The policy *name*, also ``pick3`` and so on; None for :data:`SHARED`.

    Raises:
        ConfigError: there is none of that name.
    """
    if name == SHARED:
        return None
    if name not in POLICIES and (picked := _PICK.fullmatch(name)) is not None:
        return PickK(int(picked[1]))
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


# --- Which hosts move to another collector: slow ones shed load, idle and new ones take it over

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


# --- One round of dealing: new hosts go to collectors by the policy, loads are evened out ---------


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


# --- What becomes of a link to a host that another collector has ----------------------------------


class LinkMode(StrEnum):
    """The three modes of Cho and Garcia-Molina, *Parallel Crawlers* (WWW 2002), section 4.1.

    They exchange links over the network; here every link is a row of the shared frontier,
    written in the transaction that closes its page: that is the batch, and it is never lost.
    Since no row is leased to two workers, none of the modes fetches a page twice.
    """

    FIREWALL = "firewall"
    """It is dropped: a page that only other collectors' hosts link to is missed."""
    CROSSOVER = "crossover"
    """It waits for its collector, but one that has nothing left to do fetches it too."""
    EXCHANGE = "exchange"
    """It waits for its collector."""


# --- Which collector crawls which hosts: policies, modes, and how hosts move ----------------------
# A *collector* is a worker process of one crawl; hosts are assigned to collectors, never single
# URLs, so that the pause between two requests to a host is kept by the one that has it.

__all__ = [
    "POLICIES",
    "SHARED",
    "Collector",
    "HostPolicy",
    "LinkMode",
    "Round",
    "assign_hosts",
    "balancing_moves",
    "deal_round",
    "make_policy",
    "refresh_capacities",
]
