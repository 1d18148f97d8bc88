"""Where a worker's leases come from: the stored scores, or an order in memory that learns."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.in_memory_frontier import Chosen
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.items import Lease, Queue
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier import KeyLeases, Scope
from qiaocrawl.storage.frontier.lease import BatchShape, Decision, save_decisions

logger = logging.getLogger(__name__)

# Other workers may have taken every chosen row; then the next best are tried.
_ROUNDS = 8
# How often stored pages of dead workers are looked for; rows come from the order meanwhile.
_LOOK_SECONDS = 1.0
# An order that claims that rows wait but hands out none for so long may be wrong.
_DOUBT_SECONDS = 2.0


class StoredSupply:
    """Leases by the scores in the database, with the reason for each.

    Args:
        order: says why a lease is fetched.
        token: of the worker.
    """

    def __init__(self, runtime: Runtime, order: CrawlOrder, token: int) -> None:
        self._runtime = runtime
        self._order = order
        self._token = token
        self._lease_seconds: float = runtime.options["QIAO_FRONTIER_LEASE_SECONDS"]

    async def take(self, rows: Scope, shape: BatchShape) -> list[Lease]:
        """Up to a batch of leases out of *rows*; [] when nothing may be leased now."""

        def operation(c: Connection) -> list[Lease]:
            # Score and reason are written in the transaction of the lease, so that
            # `qiaocrawl report why` never tells of a choice that was not made.
            now = frontier.clock(c)
            leases = self._order.choose_fetchable(
                c,
                frontier.lease(
                    c, rows, token=self._token, lease_seconds=self._lease_seconds, now=now, **shape
                ),
                now,
            )
            strategy = self._order.strategy.name
            _note(c, leases, lambda lease: Decision(strategy, lease.score, now))
            return leases

        return await self._runtime.write(operation)


def _note(c: Connection, leases: Sequence[Lease], reason: Callable[[Lease], Decision]) -> None:
    """Keep why each of *leases* is fetched."""
    # The decision for a stored page was kept when it was fetched; a query is no page.
    save_decisions(
        c,
        [
            (lease.url_id, reason(lease))
            for lease in leases
            if not lease.stored and lease.queue is not Queue.SEARCH
        ],
    )


def make_supply(runtime: Runtime, order: CrawlOrder, token: int) -> StoredSupply:
    """Where the leases of a crawl in this order come from."""
    if isinstance(order, LearningOrder):
        return LearnedSupply(runtime, order, token)
    return StoredSupply(runtime, order, token)


class LearnedSupply(StoredSupply):
    """Leases by the order in memory, and by the stored scores where it has no answer."""

    _order: LearningOrder

    def __init__(self, runtime: Runtime, order: LearningOrder, token: int) -> None:
        super().__init__(runtime, order, token)
        self._looked_at = self._leased_at = 0.0

    async def take(self, rows: Scope, shape: BatchShape) -> list[Lease]:
        """Up to a batch of leases out of *rows*; [] when nothing may be leased now."""
        # Stored pages first, as in lease(): they need analysis only, and no host is asked.
        stored = await self._take_stored(rows, shape["limit"])
        if stored:
            return stored
        chosen: Chosen | None = None
        # Each round drops what was gone, so the rounds come to an end even with many workers.
        for _ in range(_ROUNDS):
            chosen = await self._order.choose(
                shape["limit"],
                shape["per_host"],
                shape.get("busy_hosts", ()),
                rows.hosts if rows.is_share else None,
            )
            if chosen is None or not chosen.choices:
                break
            if leases := await self._lease(rows, chosen):
                self._leased_at = time.monotonic()
                return leases
        doubtful = time.monotonic() - self._leased_at > _DOUBT_SECONDS
        # With a threshold the order leaves low rows on purpose; leasing them by stored score
        # would undo that.
        if chosen is not None and chosen.waiting and (self._order.has_threshold or not doubtful):
            return []
        # The order is not ready, or does not know of rows that other workers added.
        leases = await super().take(rows, shape)
        self._leased_at = time.monotonic()
        self._order.note_taken(leases, missed=chosen is not None)
        return leases

    async def _take_stored(self, rows: Scope, limit: int) -> list[Lease]:
        """Pages dead workers have stored, looked for now and then."""
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return []
        # lease() takes stored pages too; here the order decides, so only those are
        # taken beside it.
        self._looked_at = time.monotonic()
        leases = await self._runtime.write(
            lambda c: frontier.lease_stored(
                c,
                rows,
                token=self._token,
                lease_seconds=self._lease_seconds,
                now=frontier.clock(c),
                limit=limit,
            )
        )
        # The order is told of them too, or it would choose a row that is already in hand.
        self._order.note_taken(leases, missed=False)
        return leases

    async def _lease(self, rows: Scope, chosen: Chosen) -> list[Lease]:
        choices = {choice.key: choice for choice in chosen.choices}
        scores = {key: choice.score for key, choice in choices.items()}
        strategy = self._order.strategy.name

        def operation(c: Connection) -> KeyLeases:
            now = frontier.clock(c)
            outcome = frontier.lease_keys(
                c, rows, scores, token=self._token, lease_seconds=self._lease_seconds, now=now
            )
            _note(c, outcome.leases, lambda lease: choices[lease.key].decision(strategy, now))
            # Database time to this machine's, by which the order waits.
            # Both clocks are read now, so that only their difference counts, however
            # wrong either is.
            ahead = time.time() - now
            return replace(outcome, later={key: at + ahead for key, at in outcome.later.items()})

        outcome = await self._runtime.write(operation)
        self._order.note_leases(outcome)
        return outcome.leases
