"""Crawl after crawl in which a collector, a member or the network between members is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from benchmarks.fleets.bench import Bench
from benchmarks.fleets.crew import Terms
from benchmarks.fleets.harm import (
    MEMBER_AWAY_SECONDS,
    Harm,
    KilledCollector,
    KilledMember,
    SplitMember,
)
from qiaocrawl.frontier.host_policies import LinkMode

_SEED = 19
# Longer than a silent collector keeps its hosts: the one beside the member comes back to leases
# that are others' by then.
_LONG_AWAY_SECONDS = 40.0
SUMS = (
    "pages_missed", "rows_left", "fetched_twice", "refused_by_fencing",
    "false_finishes", "ended_badly", "politeness_violations", "members_differ",
)  # fmt: skip
WRONG = tuple(name for name in SUMS if name not in ("fetched_twice", "refused_by_fencing"))
"""What must be 0: a page may be asked for twice, when whoever had it was lost."""


def campaign(bench: Bench, rounds: int, policies: Sequence[str]) -> Iterator[dict[str, object]]:
    """A row for each of *rounds* crawls; what is lost, and when, is drawn by a fixed seed."""
    rng = random.Random(_SEED)
    for number in range(rounds):
        terms = Terms(policies[number % len(policies)], LinkMode.EXCHANGE.value)
        harm = _harm(bench, number // len(policies), rng)
        yield bench.run(max(3, len(bench.members)), terms, harm, rng.uniform(0.1, 0.5))


def _harm(bench: Bench, number: int, rng: random.Random) -> Harm:
    """The kinds of loss in turn; which member it is, is drawn."""
    if bench.cluster is None:
        return KilledCollector()
    member = rng.randrange(len(bench.members))
    kinds: Sequence[Harm] = (
        SplitMember(bench.cluster, member, _LONG_AWAY_SECONDS),
        KilledMember(bench.cluster, member),
        SplitMember(bench.cluster, member, MEMBER_AWAY_SECONDS),
        KilledCollector(),
    )
    return kinds[number % len(kinds)]


def campaign_sums(rows: Sequence[dict[str, object]]) -> dict[str, int]:
    """What all crawls came to together."""
    return {"crawls": len(rows),
            **{name: sum(int(str(row.get(name, 0))) for row in rows) for name in SUMS}}  # fmt: skip
