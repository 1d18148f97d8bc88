"""A crawl in memory by many collectors: what each policy and mode comes to.

Ours are the project's own policies, dealt by its own round
(:func:`~qiaocrawl.frontier.host_policies.deal_round`) every three seconds, over one frontier.
Beside them are those that hash, in :mod:`benchmarks.fleets.partition`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.fleets import kernels
from benchmarks.fleets.kernels import Frontier, new_frontier, views_of
from benchmarks.fleets.links import Ints, LinkedWeb
from qiaocrawl.frontier.host_policies import (
    POLICIES,
    SHARED,
    Collector,
    HostPolicy,
    LinkMode,
    deal_round,
    make_policy,
)
from qiaocrawl.frontier.host_share import BEAT_SECONDS, MOST_NEW_HOSTS

MODES = {
    LinkMode.FIREWALL.value: kernels.FIREWALL,
    LinkMode.CROSSOVER.value: kernels.CROSSOVER,
    LinkMode.EXCHANGE.value: kernels.EXCHANGE,
}
EQUAL, MIXED = "equal", "mixed"
PAGES_A_SECOND = 8
"""Of a collector: what one process of this project does, more or less."""
_SLOW_PAGES_A_SECOND = 2
_MOST_SECONDS = 10**7


def speeds_of(kind: str, collectors: int) -> Ints:
    """Pages a second of each collector; where *kind* is ``mixed`` every fourth one is slow."""
    speeds = np.full(collectors, PAGES_A_SECOND, np.int32)
    if kind == MIXED:
        speeds[3::4] = _SLOW_PAGES_A_SECOND
    return speeds


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one simulated crawl came to.

    Attributes:
        fetched: pages fetched in each second, all collectors together.
        pages: fetched by each collector.
        distinct: pages of the web that were fetched.
        urls_crossed: links that were found by one collector and were another's.
        messages: to the database, or between collectors, beside the closing of pages.
        too_soon: requests to a host that had been asked in the same second.
        moved: hosts that changed hands.
    """

    fetched: NDArray[np.int64]
    pages: NDArray[np.int64]
    distinct: int
    urls_crossed: int
    messages: int
    too_soon: int
    moved: int

    def figures(self, web: LinkedWeb, speeds: Ints) -> dict[str, float]:
        """In the terms of Cho and Garcia-Molina, *Parallel Crawlers*; see docs/fleet.md."""
        total = int(self.pages.sum())
        share = self.pages / speeds
        # The end of a crawl is that of its largest host; most of it is over long before.
        most = int(np.searchsorted(np.cumsum(self.fetched), 0.9 * total)) + 1
        return {
            "coverage_percent": 100 * self.distinct / web.reachable,
            "overlap_percent": 100 * (total - self.distinct) / self.distinct,
            "urls_crossed_per_page": self.urls_crossed / total,
            "messages_per_page": self.messages / total,
            "most_loaded_over_mean": float(share.max() / share.mean()),
            "idle_percent": self._idle(len(self.fetched), speeds),
            "idle_percent_of_90": self._idle(most, speeds),
            "seconds": len(self.fetched),
            "seconds_to_90": most,
            "asked_too_soon_percent": 100 * self.too_soon / total,
            "hosts_moved": self.moved,
        }

    def _idle(self, seconds: int, speeds: Ints) -> float:
        return float(100 * (1 - self.fetched[:seconds].sum() / (seconds * int(speeds.sum()))))


class SharedFrontierCrawl:
    """Collectors on one frontier, as this project's are.

    Args:
        policy: by name; ``shared`` is none.
    """

    def __init__(self, web: LinkedWeb, speeds: Ints, policy: str, mode: str) -> None:
        self._web, self._speeds = web, speeds
        self._policy: HostPolicy | None = make_policy(policy)
        self._mode = MODES[mode]
        self._rows: Frontier = new_frontier(web.pages, web.host_count, len(speeds))
        self._views, self._links = views_of(self._rows), views_of(web.links)
        self._rng = random.Random(web.host_count)
        fastest = int(speeds.max())
        self._fleet = [
            Collector(token, fetch_seconds=fastest / int(speed))
            for token, speed in enumerate(speeds)
        ]
        self._is_even = bool((speeds == fastest).all())
        self._beats = self._moved = 0

    def run(self) -> Crawl:
        """Crawl the web to its end."""
        for page in self._web.starts.tolist():
            kernels.enqueue(self._views, self._links, page)
        fetched: list[int] = []
        is_shared, speeds = self._policy is None, self._speeds.tolist()
        for now in range(_MOST_SECONDS):
            if self._policy is not None and self._is_due(now):
                self._deal(self._policy)
            elif now % BEAT_SECONDS == 0:
                self._beats += len(self._fleet)
            done = kernels.tick(self._views, self._links, speeds, now, self._mode, is_shared)
            fetched.append(done)
            if not (done or self._rows.held_count.any() or self._rows.waiting.any()):
                break
        return self._result(fetched)

    def _is_due(self, now: int) -> bool:
        """Every three seconds; whoever has no host asks at once."""
        return now % BEAT_SECONDS == 0 or kernels.count_idle(self._rows, len(self._fleet)) > 0

    def _deal(self, policy: HostPolicy) -> None:
        rows = self._rows
        self._beats += len(self._fleet)
        hosts = np.nonzero(rows.waiting)[0]
        owners = rows.owner[hosts]
        free = hosts[owners == kernels.NOBODY][:MOST_NEW_HOSTS].tolist()
        if not free and self._is_even and np.bincount(owners, minlength=1).max() < 2:
            return  # Nobody has a host to spare: a round would move none.
        order = np.argsort(owners, kind="stable")
        bounds = np.searchsorted(owners[order], np.arange(len(self._fleet) + 1))
        by_owner = hosts[order]
        owned = {
            token: by_owner[bounds[token] : bounds[token + 1]].tolist()
            for token in range(len(self._fleet))
        }
        dealt = deal_round(self._fleet, owned, free, policy, self._rng)
        for host, token in (*dealt.given.items(), *dealt.moved.items()):
            rows.owner[host] = token
        self._moved += len(dealt.moved)
        if dealt.moved and self._mode != kernels.CROSSOVER:
            for number in range(len(self._fleet)):
                kernels.give_back(self._views, self._links, number)

    def _result(self, fetched: Sequence[int]) -> Crawl:
        counts = self._rows.counts
        dropped = int(counts[kernels.DROPPED])
        return Crawl(
            np.array(fetched, np.int64), self._rows.pages.copy(), int(counts[kernels.FETCHED]),
            int(counts[kernels.CROSSED]) + dropped, int(counts[kernels.ASKED]) + self._beats, 0,
            self._moved,
        )  # fmt: skip


def our_methods() -> list[tuple[str, str]]:
    """Policy and mode of each of ours; ``shared`` knows no modes."""
    return [(SHARED, LinkMode.EXCHANGE.value),
            *((policy, mode) for policy in POLICIES for mode in reversed(MODES))]  # fmt: skip
