"""Where a worker's leases come from: the stored scores, or an order in memory that learns."""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.fetch.failure_policy import FailurePolicy
from qiaocrawl.frontier.host_slots import HostUse
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.frontier.memory_order import Chosen
from qiaocrawl.frontier.ordering import FrontierOrder
from qiaocrawl.items import Lease, Queue
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.frontier import KeyLeases, Scope
from qiaocrawl.storage.frontier.lease import BatchShape, Decision, save_decisions
from qiaocrawl.text.zones import china_time

logger = logging.getLogger(__name__)

# Other workers may have taken every chosen row; then the next best are tried.
_ROUNDS = 8
# How often stored pages of dead workers are looked for; rows come from the order meanwhile.
_LOOK_SECONDS = 1.0
# An order that claims that rows wait but hands out none for so long may be wrong.
_DOUBT_SECONDS = 2.0


async def recover_rows(runtime: Runtime, rows: Scope, *, all_dead: bool) -> None:
    """Take back what dead workers held of *rows*; *all_dead*: all but this one are."""
    options = runtime.options
    # By the database's clock: this machine's may be wrong about which leases have run out.
    recovery = await runtime.write(
        lambda c: frontier.recover(
            c,
            rows,
            now=frontier.clock(c),
            all_dead=all_dead,
            max_failures=options["QIAO_FRONTIER_MAX_FAILURES"],
            lease_seconds=options["QIAO_FRONTIER_LEASE_SECONDS"],
        )
    )
    if recovery.requeued or recovery.resumed or recovery.set_aside:
        logger.info(
            "taken over from an interrupted crawl: %d URLs waiting again, %d stored pages "
            "to analyse, %d set aside",
            recovery.requeued,
            recovery.resumed,
            recovery.set_aside,
        )


async def renew_topic(runtime: Runtime, ordering: FrontierOrder, topic: str) -> None:
    """Take over what was changed in the crawl's *topic* since it was read."""
    if await runtime.renew_topics():
        logger.info("topic %r has changed: pages and links are judged by it from now on", topic)
        await ordering.renew_topic(runtime.catalogue.pack(topic))


class StoredSupply:
    """Leases by the scores in the database, with the reason for each.

    Args:
        ordering: says why a lease is fetched.
        token: of the worker.
    """

    def __init__(self, runtime: Runtime, ordering: FrontierOrder, token: int) -> None:
        self._runtime = runtime
        self._ordering = ordering
        self._token = token
        self._lease_seconds: float = runtime.options["QIAO_FRONTIER_LEASE_SECONDS"]

    async def take(self, rows: Scope, shape: BatchShape) -> list[Lease]:
        """Up to a batch of leases out of *rows*; [] when nothing may be leased now."""

        def operation(c: Connection) -> list[Lease]:
            # Score and reason are written in the transaction of the lease, so that `qiaocrawl why`
            # never tells of a choice that was not made.
            now = frontier.clock(c)
            leases = self._ordering.admitted(
                c,
                frontier.lease(
                    c, rows, token=self._token, lease_seconds=self._lease_seconds, now=now, **shape
                ),
                now,
            )
            strategy = self._ordering.strategy.name
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


def make_supply(runtime: Runtime, ordering: FrontierOrder, token: int) -> StoredSupply:
    """Where the leases of a crawl in this order come from."""
    if isinstance(ordering, LearningOrder):
        return LearnedSupply(runtime, ordering, token)
    return StoredSupply(runtime, ordering, token)


class LearnedSupply(StoredSupply):
    """Leases by the order in memory, and by the stored scores where it has no answer."""

    _ordering: LearningOrder

    def __init__(self, runtime: Runtime, ordering: LearningOrder, token: int) -> None:
        super().__init__(runtime, ordering, token)
        self._looked_at = self._leased_at = 0.0

    async def take(self, rows: Scope, shape: BatchShape) -> list[Lease]:
        """Up to a batch of leases out of *rows*; [] when nothing may be leased now."""
        # Stored pages first, as in lease(): they need analysis only, and no host is asked.
        stored = await self._stored(rows, shape["limit"])
        if stored:
            return stored
        chosen: Chosen | None = None
        # Each round drops what was gone, so the rounds come to an end even with many workers.
        for _ in range(_ROUNDS):
            chosen = await self._ordering.choose(
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
        if chosen is not None and chosen.waiting and (self._ordering.has_threshold or not doubtful):
            return []
        # The order is not ready, or does not know of rows that other workers added.
        leases = await super().take(rows, shape)
        self._leased_at = time.monotonic()
        self._ordering.taken(leases, missed=chosen is not None)
        return leases

    async def _stored(self, rows: Scope, limit: int) -> list[Lease]:
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
        self._ordering.taken(leases, missed=False)
        return leases

    async def _lease(self, rows: Scope, chosen: Chosen) -> list[Lease]:
        choices = {choice.key: choice for choice in chosen.choices}
        scores = {key: choice.score for key, choice in choices.items()}
        strategy = self._ordering.strategy.name

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
        self._ordering.settle(outcome)
        return outcome.leases


# --- The leases in hand that are not fetched yet, host by host ------------------------------------


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


# --- What an idle run waits for; and no row waits longer than an option allows --------------------
# Rows name the wall-clock time from which they may be fetched. If that clock is set back, they
# would wait for as long as it was ahead: a row that is due later than any option can have asked is
# due at once.

# Whatever the options, a host that does not answer or blocks rests for up to an hour.
_LEAST_SECONDS = 3_600.0
# For clocks of several machines, and for transactions that had to wait.
_SLACK_SECONDS = 60.0
_WAITS_LOOK_SECONDS = 600.0
# An older count says nothing about now.
_FRESH_SECONDS = 5.0


def longest_wait_seconds(options: Mapping[str, Any]) -> float:
    """The longest pause these options can give a row or a host."""
    asked: float = options["QIAO_MAX_RETRY_AFTER_SECONDS"]
    growing = FailurePolicy.of(options).longest_pause_seconds
    return max(_LEAST_SECONDS, asked, growing) + _SLACK_SECONDS


class RowWaits:
    """Looks after the rows of a crawl that wait for their time.

    Args:
        hosts: what the crawl asks now.
    """

    def __init__(self, runtime: Runtime, hosts: HostUse) -> None:
        self._runtime = runtime
        self._hosts = hosts
        self._longest_seconds = longest_wait_seconds(runtime.options)
        self._looked_at = float("-inf")
        self._left: frontier.Remaining | None = None
        self._left_at = 0.0

    async def take_back(self, rows: frontier.Scope, *, all_dead: bool) -> None:
        """Take over what dead workers held; every ten minutes, look at what waits too long."""
        await recover_rows(self._runtime, rows, all_dead=all_dead)
        # Reads all waiting rows, so not with every take-over.
        if time.monotonic() - self._looked_at > _WAITS_LOOK_SECONDS:
            await self.right(rows)

    async def right(self, rows: frontier.Scope) -> None:
        """Make rows due that wait longer than any option asks for."""
        self._looked_at = time.monotonic()
        changed = await self._runtime.write(
            lambda c: frontier.bound_waits(
                c, rows, now=frontier.clock(c), longest_seconds=self._longest_seconds
            )
        )
        if changed:
            logger.warning(
                "%d URLs were to wait longer than any option asks for: the clock was ahead, they "
                "are due now",
                changed,
            )

    async def note(self, rows: frontier.Scope, left: frontier.Remaining) -> None:
        """Nothing can be asked now, and this is *left*."""
        self._left, self._left_at = left, time.monotonic()
        latest = latest_due(time.time(), self._longest_seconds)
        far = left.next_due is not None and left.next_due > latest
        if far and time.monotonic() - self._looked_at > _FRESH_SECONDS:
            await self.right(rows)

    def words(self) -> str:
        """What the crawl waits for while it asks nobody, and until when; "" when it asks."""
        if self._hosts.is_asking:
            return ""
        reasons = []
        if self._runtime.writer.is_away:
            reasons.append("the database, which does not answer")
        if rest := self._hosts.next_rest:
            host, seconds = rest
            reasons.append(
                f"{len(self._hosts.parked)} hosts that rest, {host} until {_at(seconds)}"
            )
        left = self._left
        if left is not None and time.monotonic() - self._left_at < _FRESH_SECONDS:
            ahead = (left.next_due or 0.0) - time.time()
            if ahead > 0:
                reasons.append(f"{left.pending} URLs, the first until {_at(ahead)}")
            if left.leased:
                reasons.append(f"{left.leased} pages that other workers have in hand")
        return " and ".join(reasons)


def _at(seconds: float) -> str:
    """The time of day in so many seconds, and how long that is."""
    then = datetime.fromtimestamp(time.time() + seconds, UTC)
    # The day is shown only where it may be another one: twelve hours or more ahead.
    day = "%Y-%m-%d " if seconds >= 43_200 else ""
    return f"{china_time(then, f'{day}%H:%M:%S')} (in {seconds:.0f} s)"
