"""The hosts one worker may crawl, of those that all workers of its crawl share.

Every few seconds a worker says that it lives. One of them, whichever comes first, then deals out
the hosts by the policy: those nobody has, and those of workers that say nothing any more; and it
moves some from loaded workers to idle ones. All of that are rows, so no worker is needed for it.

Which worker has a host only says who leases its rows. That no row is leased twice, and that a
host has its pauses, does not rest on it: for a moment two workers may both hold a host that moves.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from qiaocrawl.frontier.host_policies import (
    Collector,
    HostPolicy,
    LinkMode,
    deal_round,
    entry_turns,
    make_policy,
)
from qiaocrawl.items import Candidate, Lease
from qiaocrawl.runtime.crawl_rows import CrawlScope
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier import workers as stored
from qiaocrawl.storage.frontier.lease import BatchShape
from qiaocrawl.storage.frontier.workers import Beat
from qiaocrawl.storage.values import clean_host, host_id

TakeLeases = Callable[[frontier.Scope, BatchShape], Awaitable[list[Lease]]]
"""Takes a batch of rows; see :meth:`~qiaocrawl.frontier.supply.StoredSupply.take`."""

logger = logging.getLogger(__name__)

BEAT_SECONDS = 3.0
DEAD_AFTER_SECONDS = 25.0
"""A worker that says nothing for so long loses its hosts. Well below a minute, since its hosts
have to be dealt out and noticed too; well above what a loaded machine keeps a worker waiting."""
# After an outage of the database all were silent: whoever was heard for so long without a gap lets
# the others say that they are back. Longer than the writer's longest pause between two tries.
_STEADY_SECONDS = 10.0
# A worker that has no host asks more often: those it waits for may be new.
_IDLE_BEAT_SECONDS = 0.5
MOST_NEW_HOSTS = 2_000
"""Hosts dealt at a time: the rest follow in the next round."""
_RATE_SECONDS = 60.0
# Share of the old mean that stays with each fetch.
_DECAY = 0.9


def crawl_number(scope: CrawlScope) -> int:
    """The same 63 bits for all workers that crawl the same queue, topic and sites."""
    within = scope.within
    sites = () if within is None else (str(within.across), *sorted(within.sites))
    text = "\n".join((scope.queue.value, scope.topic, *sites))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True)
class Dealt:
    """What one round brought: tokens of workers found dead, hosts dealt, hosts moved."""

    dead: tuple[int, ...]
    new: int
    moved: int


def deal_hosts(
    c: Connection,
    crawl: int,
    rows: frontier.Scope,
    policy: HostPolicy | None,
    *,
    now: float,
    may_bury: bool,
) -> Dealt:
    """Deal out the hosts of a crawl; the caller holds its round.

    Args:
        rows: of the crawl.
        policy: None = every worker may have every host: what dead ones hold goes on, no more.
        may_bury: whether silent workers count as dead. After an outage of the database all were
            silent: the caller knows by its own row.
    """
    workers = stored.collectors_of(c, crawl)
    dead = [w.token for w in workers if may_bury and abs(now - w.seen_at) > DEAD_AFTER_SECONDS]
    for token in dead:
        stored.remove_collector(c, crawl, token)
        stored.end_leases(c, rows, token, now)
    if policy is None:
        return Dealt(tuple(dead), 0, 0)
    fleet = [
        Collector(w.token, w.weight, w.fetch_seconds, turns=w.turns)
        for w in workers
        if w.token not in dead
    ]
    owned: dict[int, list[int]] = {collector.token: [] for collector in fleet}
    # Hosts of a worker that has no row wait for a new one as much as new hosts do.
    free = stored.free_hosts(c, crawl, rows, MOST_NEW_HOSTS)
    for host in stored.owned_hosts(c, crawl, rows):
        if host.has_work:
            owned.get(host.token, free).append(host.host_id)
    dealt = deal_round(fleet, owned, free, policy, random.Random())
    stored.give_hosts(c, crawl, {**dealt.given, **dealt.moved})
    stored.save_turns(c, {collector.token: collector.turns for collector in fleet})
    return Dealt(tuple(dead), len(dealt.given), len(dealt.moved))


class HostShare:
    """Keeps a worker's share of the hosts.

    Without a policy (``shared``, and always on SQLite, which one crawl has for itself) every host
    is in it; the worker says that it lives, and lets go on what those hold that do not.

    Args:
        token: of the worker.
    """

    def __init__(
        self, runtime: Runtime, scope: CrawlScope, *, token: int, run_id: int | None
    ) -> None:
        options = runtime.options
        self._runtime = runtime
        self._crawl = crawl_number(scope)
        self._token = token
        self._run_id = run_id
        self._is_alone = runtime.database.is_exclusive
        self._policy = None if self._is_alone else make_policy(options["QIAO_HOST_POLICY"])
        self._mode = LinkMode(options["QIAO_LINK_MODE"])
        self._weight: float = options["QIAO_COLLECTOR_WEIGHT"]
        self._hosts: frozenset[str] = frozenset()
        self._share: frontier.Scope | None = None
        self._is_entered = False
        self._beat_at = float("-inf")
        self._steady_since = float("inf")
        self._fetch_seconds = 0.0
        self._pages = 0
        self._page_counts: deque[tuple[float, int]] = deque()
        self._lost = self._dropped = 0

    # --- what others ask ------------------------------------------------------------------------

    async def take(
        self, supply: TakeLeases, rows: frontier.Scope, shape: BatchShape
    ) -> list[Lease]:
        """A batch of leases of its own hosts; under `crossover`, of others where it has none."""
        leases = await supply(self._of(rows), shape)
        return await supply(rows, shape) if not leases and self._helps_out else leases

    @property
    def _helps_out(self) -> bool:
        """Whether a worker whose hosts are done crawls those of others."""
        return self._policy is not None and self._mode is LinkMode.CROSSOVER

    def _of(self, rows: frontier.Scope) -> frontier.Scope:
        """Those of *rows* that this worker may lease."""
        if self._policy is None:
            return rows
        # Kept: it numbers its hosts once.
        if self._share is None or self._share.hosts is not self._hosts:
            self._share = replace(rows, hosts=self._hosts, is_share=True)
        return self._share

    def admit(self, c: Connection, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those of *candidates* that may enter the frontier: under `firewall`, not others'."""
        if self._policy is None or self._mode is not LinkMode.FIREWALL:
            return candidates
        ids = {one.host: host_id(clean_host(one.host)) for one in candidates}
        taken = stored.hosts_of_others(c, self._crawl, self._token, [*set(ids.values())])
        kept = [one for one in candidates if ids[one.host] not in taken]
        self._dropped += len(candidates) - len(kept)
        return kept

    def note_answer(self, seconds: float) -> None:
        """A fetch was answered after so many seconds; 0 where nobody measured."""
        self._pages += 1
        if seconds > 0:
            old = self._fetch_seconds or seconds
            self._fetch_seconds = old * _DECAY + seconds * (1 - _DECAY)

    def numbers(self) -> dict[str, float]:
        """Figures for the run's statistics; none where hosts are not dealt."""
        if self._policy is None:
            return {}
        return {
            "frontier/share/hosts": len(self._hosts),
            "frontier/share/hosts_lost": self._lost,
            "frontier/share/links_dropped": self._dropped,
        }

    # --- life -----------------------------------------------------------------------------------

    async def refresh(
        self, rows: frontier.Scope, held: Collection[str]
    ) -> tuple[frozenset[str], bool]:
        """When it is time: say that the worker lives, deal, and read which hosts it has.

        Args:
            rows: of the crawl.
            held: hosts of which it has leases that are not fetched yet.

        Returns:
            Those of *held* that another worker has now, and whether leases of a dead worker can
            be taken back.

        Raises:
            SchemaError: another version has upgraded the database.
        """
        await self._runtime.look_at_schema()
        pause = BEAT_SECONDS if self._hosts or self._policy is None else _IDLE_BEAT_SECONDS
        if self._is_alone or time.monotonic() - self._beat_at < pause:
            return frozenset(), False
        self._beat_at = time.monotonic()
        told = self._next_beat()
        ids = {host_id(clean_host(host)): host for host in held}

        def operation(
            c: Connection,
        ) -> tuple[Dealt | None, bool, frozenset[str], frozenset[int]]:
            dealt, is_new = self._beat(c, told, rows, pause)
            if self._policy is None:
                return dealt, is_new, frozenset(), frozenset()
            taken = stored.hosts_of_others(c, self._crawl, self._token, [*ids])
            return dealt, is_new, stored.own_hosts(c, self._crawl, self._token, rows), taken

        dealt, is_new, self._hosts, taken = await self._runtime.write(operation)
        was_buried, self._is_entered = is_new and self._is_entered, True
        if dealt is not None and dealt.dead:
            logger.warning(
                "%d workers say nothing any more: what they had goes on", len(dealt.dead)
            )
        # Who helps out holds hosts of others on purpose.
        lost = frozenset() if self._helps_out else frozenset(ids[number] for number in taken)
        if was_buried:
            # Its leases ended: what it still holds would be fetched here and by others.
            logger.warning("others took this worker for dead: its URLs wait again")
            lost = frozenset(held)
        self._lost += len(lost)
        return lost, dealt is not None and bool(dealt.dead)

    async def close(self) -> None:
        """Leave: the hosts of this worker are free at once."""
        if not self._is_alone:
            await self._runtime.write(
                lambda c: stored.remove_collector(c, self._crawl, self._token)
            )

    def _next_beat(self) -> Beat:
        now = time.monotonic()
        self._page_counts.append((now, self._pages))
        while now - self._page_counts[0][0] > _RATE_SECONDS:
            self._page_counts.popleft()
        since, before = self._page_counts[0]
        # A young worker's minute is as long as it lives; one beat alone is no rate.
        rate = 60 * (self._pages - before) / (now - since) if now > since else 0.0
        return Beat(
            self._token,
            self._crawl,
            self._run_id,
            self._weight,
            self._fetch_seconds,
            self._pages,
            rate,
        )

    def _beat(
        self, c: Connection, told: Beat, rows: frontier.Scope, pause_seconds: float
    ) -> tuple[Dealt | None, bool]:
        """Say that the worker lives, and deal if it is its turn (else None); whether it was new."""
        now = frontier.clock(c)
        # Before any row of a worker is locked: see take_round().
        is_dealing = stored.take_round(c, self._crawl, now, pause_seconds)
        seen_at = stored.beat(c, told, now)
        if seen_at is None:
            others = [
                Collector(w.token, turns=w.turns) for w in stored.collectors_of(c, self._crawl)
            ]
            stored.enter(c, told, entry_turns(others), now)
        may_bury = self._is_steady(seen_at, now)
        if not is_dealing:
            return None, seen_at is None
        dealt = deal_hosts(c, self._crawl, rows, self._policy, now=now, may_bury=may_bury)
        return dealt, seen_at is None

    def _is_steady(self, seen_at: float | None, now: float) -> bool:
        """Whether this worker was heard often enough of late to judge the silence of others."""
        if seen_at is None or abs(now - seen_at) > DEAD_AFTER_SECONDS / 2:
            self._steady_since = time.monotonic()
        return time.monotonic() - self._steady_since >= _STEADY_SECONDS
