"""One process's share of the frontier: leases in, outcomes out, nothing lost in between.

A worker leases rows in batches, keeps them alive, hands them out host by host and gives
them back when it stops. It knows asyncio and the store, not Scrapy.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from qiaocrawl.errors import OutdatedError, StorageError
from qiaocrawl.frontier.aliases import AliasLearning
from qiaocrawl.frontier.completion import CompleteLease, retry_lease
from qiaocrawl.frontier.crawl_order import CrawlOrder
from qiaocrawl.frontier.host_share import HostShare
from qiaocrawl.frontier.host_slots import FOREVER, Fetches, HostUse, Limits, ReadyLeases
from qiaocrawl.frontier.learning_order import LearningOrder
from qiaocrawl.frontier.postponed import TakingUp
from qiaocrawl.frontier.row_waits import RowWaits
from qiaocrawl.frontier.supply import make_supply
from qiaocrawl.items import Candidate, Lease
from qiaocrawl.runtime.crawl_rows import CrawlRows, CrawlScope
from qiaocrawl.runtime.run_end import Ending
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier.lease import BatchShape
from qiaocrawl.storage.writer import in_loop

logger = logging.getLogger(__name__)

T = TypeVar("T")
# Looks for work even when nothing wakes the pump: rows become due, and other workers add some.
_POLL_SECONDS = 0.25
_HOSTS_FRESH_SECONDS = 2.0
# Rows held of one host for each fetch it may have at a time. More would save writes, but a row
# leased early cannot give way to a better one found meanwhile.
_ROWS_PER_FETCH = 2


class FrontierWorker:
    """Leases rows of *scope* and accounts for every one of them.

    Args:
        wake: called when leases have come or all is done, to ask :meth:`next_lease` again.
        order: scores links, and says which leases come first.
    """

    def __init__(
        self,
        runtime: Runtime,
        scope: CrawlScope,
        *,
        order: CrawlOrder,
        limits: Limits,
        fetches: Fetches,
        run_id: int | None,
        wake: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._scope = scope
        self._rows = CrawlRows(runtime, scope)
        self._limits = limits
        self._run_id = run_id
        self._wake_caller = wake
        self.aliases = AliasLearning(runtime.reader, runtime.writer, run_id, runtime.options)
        self._lease_seconds: float = runtime.options["QIAO_FRONTIER_LEASE_SECONDS"]
        # Random: no worker may take another's lease, or its own before a restart, for its own.
        self.token = secrets.randbits(62)
        self._order = order
        self._batch: int = runtime.options["QIAO_FRONTIER_BATCH"]
        self._rows_per_host = fetches.per_host * _ROWS_PER_FETCH
        self._supply = make_supply(runtime, order, self.token)
        self._ready = ReadyLeases()
        if isinstance(order, LearningOrder):
            # Small batches, leased late, so that what the last pages taught counts at once.
            self._batch = min(self._batch, 2 * fetches.at_once)
            self._rows_per_host = fetches.per_host
            self._ready = ReadyLeases(order.present_score)
        self.share = HostShare(runtime, scope, token=self.token, run_id=run_id)
        self._postponed = TakingUp(runtime, order, scope.within)
        self._outstanding: dict[int, Lease] = {}
        self._hosts = HostUse(fetches, limits)
        self.waits = RowWaits(runtime, self._hosts)
        self._unflushed = 0
        self._starved = True
        self._event = asyncio.Event()
        self._closing = False
        self._pump_task: asyncio.Task[None] | None = None
        self._renewed_at = self._started_at = time.monotonic()
        self.drained = False
        self.ending = Ending(wake)

    # --- life ---------------------------------------------------------------------

    async def open(self) -> None:
        """Take back what dead workers held, then start leasing."""
        await self._rows.find()
        # With SQLite's crawl lock in hand every lease that is found is a dead worker's.
        await self.waits.take_back(self._rows.now, all_dead=self._runtime.database.is_exclusive)
        await self._renew_share()
        await self.aliases.load()
        if isinstance(self._order, LearningOrder):
            self._order.open(self.token, self._event.set)
        self._pump_task = asyncio.ensure_future(self._pump())
        self._pump_task.add_done_callback(self.ending.pump_ended)

    async def close(self) -> int:
        """Give unfinished leases back; returns how many URLs of the scope still wait."""
        # Asked to end, not cancelled: cancelling a lease in flight would leave rows nobody holds.
        self._closing = True
        self._event.set()
        if self._pump_task is not None:
            await asyncio.wait([self._pump_task])
        await self._rows.find()
        held = [*self._outstanding.values(), *self._ready.all()]
        await self._runtime.write(lambda c: frontier.release(c, held, now=time.time()))
        await self.share.close()
        await self._runtime.write(self.aliases.saving())
        await self._order.close()
        left = await self._rows.remaining()
        return left.pending + left.leased

    def numbers(self) -> dict[str, float]:
        """Figures of aliases, order and postponed URLs for the run's statistics."""
        parts = (self.aliases, self._order, self._postponed, self.share)
        return {name: number for part in parts for name, number in part.numbers().items()}

    # --- handing out ----------------------------------------------------------------

    def next_lease(self) -> Lease | None:
        """The best lease whose host may be asked now; None when there is none."""
        if self.stop_reason or self._limit_reached():
            return None
        lease = self._ready.next(self._hosts.is_free)
        if lease is None:
            self._starve()
            return None
        self._outstanding[lease.url_id] = lease
        self._hosts.begin(lease.host)
        if len(self._ready) < self._batch // 2:
            self._starve()
        return lease

    def left_downloader(self, lease: Lease, *, answered: bool = False, seconds: float = 0) -> None:
        """The fetch of *lease* is over, after *seconds*: its host is free again."""
        if answered:
            self._hosts.note_answer(lease.host)
            self.share.note_answer(seconds)
        self._hosts.end(lease.host)

    def park_here(self, host: str, seconds: float) -> None:
        """Ask *host* nothing for *seconds* (Retry-After, blocks); its rows go back meanwhile."""
        self._hosts.park(host, seconds)
        self._return_host(host)

    def is_parked(self, host: str) -> bool:
        """Whether *host* is asked nothing now."""
        return host in self._hosts.parked_hosts or self.has_given_up(host)

    def has_given_up(self, host: str) -> bool:
        """Whether *host* is asked nothing more in this run."""
        return host in self._hosts.given_up

    def _return_host(self, host: str) -> None:
        returned = self._ready.take_host(host)
        if returned:
            self.post(
                lambda c: frontier.release(c, returned, now=time.time()),
                then=lambda: self._wait_again(returned),
            )

    # --- coming back ------------------------------------------------------------------

    def enqueue(self, candidates: Sequence[Candidate]) -> None:
        """Queue *candidates* for the frontier; it cannot drain before they are stored."""
        self.post(
            lambda c: frontier.enqueue(c, candidates, run_id=self._run_id, now=time.time()),
            then=lambda: self._order.note_enqueued(candidates),
        )

    def post(
        self,
        operation: Callable[[Connection], object],
        then: Callable[[], None] | None = None,
    ) -> None:
        """Queue a write nobody waits for; a failure of it stops the crawl visibly.

        Args:
            then: called when it is committed.
        """
        self._unflushed += 1
        self.drained = False
        written = in_loop(self._runtime.writer.submit(operation))
        written.add_done_callback(partial(self._finish_post, then))

    async def complete(
        self,
        completion: CompleteLease[T],
        *,
        before: Callable[[Connection], object] | None = None,
        then: Callable[[], object] | None = None,
    ) -> bool:
        """Close a lease and store what came of it, in one transaction.

        Args:
            before: what the transaction has to begin with (see :meth:`Writer.submit`).
            then: called after the commit: a cache of what is rolled back would lose links for good.

        Returns:
            False when the lease was lost to another worker; nothing is written then.

        Raises:
            OutdatedError: the guard said no; nothing is written, and the lease is kept.
        """
        lease = completion.lease
        is_mine = await self.ending.stops_with(self._runtime.write(completion, before))
        if is_mine is None:
            raise OutdatedError(f"{lease.url}: what was to be stored is out of date")
        if is_mine and then is not None:
            then()
        if is_mine and (save := self.aliases.learn_end(lease, completion.end.outcome)):
            self.post(save)
        return self._end_lease(lease, is_mine)

    async def retry(
        self,
        lease: Lease,
        *,
        reason: str,
        pause_seconds: float,
        write: Callable[[Connection], object] | None = None,
    ) -> bool:
        """Give *lease* another try after a pause; *write* writes more in the same transaction."""
        limit: int = self._runtime.options["QIAO_FRONTIER_MAX_FAILURES"]
        operation = retry_lease(lease, reason, pause_seconds, limit, write)
        is_mine = await self.ending.stops_with(self._runtime.write(operation))
        if is_mine:
            self._order.wait_until(lease.key, time.time() + pause_seconds)
        return self._end_lease(lease, is_mine)

    def release(self, lease: Lease, reason: str) -> None:
        """Give an unused *lease* back: its row waits again, and no failure is counted."""
        self._outstanding.pop(lease.url_id, None)

        def operation(c: Connection) -> None:
            frontier.release(c, [lease], now=time.time())
            frontier.set_wait_reason(c, lease.url_id, reason)

        self.post(operation, then=lambda: self._wait_again([lease]))

    def _wait_again(self, leases: Sequence[Lease]) -> None:
        for lease in leases:
            self._order.wait_until(lease.key, 0.0)

    def forget(self, lease: Lease) -> None:
        """*lease* was lost to another worker: it needs no outcome here."""
        self._end_lease(lease, False)

    def holds(self, lease: Lease) -> bool:
        """Whether *lease* was handed out and has no outcome yet."""
        return self._outstanding.get(lease.url_id) is lease

    def _end_lease(self, lease: Lease, mine: bool) -> bool:
        # A lost lease may have come back to us under a new attempt, which is not settled here.
        if self.holds(lease):
            del self._outstanding[lease.url_id]
        self._order.note_closed(lease)
        if not mine:
            # Its new holder may give it up: look for it again when that lease could be over.
            self._order.wait_until(lease.key, time.time() + self._lease_seconds)
        self._event.set()
        return mine

    # --- the pump -----------------------------------------------------------------------

    async def _pump(self) -> None:
        try:
            while not self._closing:
                await self._tick()
        except StorageError as error:
            self.stop("storage_error", error)

    async def _tick(self) -> None:
        try:
            async with asyncio.timeout(_POLL_SECONDS):
                await self._event.wait()
        except TimeoutError:
            self._starved = True
        self._event.clear()
        if self._closing:
            return
        await self._renew_when_due()
        await self._renew_share()
        if self._starved and self._order.may_lease and len(self._ready) < self._batch * 4:
            await self._lease_more()
        if self._order.is_complete and not (len(self._ready) or self._is_busy):
            await self._check_drained()

    async def _renew_when_due(self) -> None:
        # A third: two renewals may fail before a lease is lost.
        if time.monotonic() - self._renewed_at < self._lease_seconds / 3:
            return
        self._renewed_at = time.monotonic()
        # Only what is in hand: rows leased by a commit whose answer got lost must run out.
        held = [*self._outstanding, *(lease.url_id for lease in self._ready.all())]
        await self._runtime.write(
            lambda c: frontier.renew(
                c, self.token, held, lease_seconds=self._lease_seconds, now=frontier.clock(c)
            )
        )
        # Other workers may share the database, and have died meanwhile.
        await self.waits.take_back(self._rows.now, all_dead=False)

    async def _renew_share(self) -> None:
        lost, has_died = await self.share.refresh(self._rows.now, self._ready.hosts_with(1))
        for host in lost:
            self._return_host(host)
        if has_died:
            await self.waits.take_back(self._rows.now, all_dead=False)

    async def _lease_more(self) -> None:
        self._starved = False
        await self._rows.find(older_than_seconds=_HOSTS_FRESH_SECONDS)
        busy = (
            self._ready.hosts_with(self._rows_per_host)
            | self._hosts.parked_hosts
            | self._hosts.spent
        )
        shape = BatchShape(limit=self._batch, per_host=self._rows_per_host, busy_hosts=busy)
        await self._renew_topic()
        leases = await self.share.take(self._supply.take, self._rows.now, shape)
        kept, preferred = await self.aliases.to_fetch(leases, self._scope.within)
        self._ready.add(kept)
        # These hosts were given up while their rows were being leased.
        for host in {lease.host for lease in kept} & self._hosts.given_up:
            self.park_here(host, FOREVER)
        if preferred:
            self._order.note_enqueued(preferred)
        if len(kept) < len(leases):
            held = {lease.url_id for lease in kept}
            for lease in (one for one in leases if one.url_id not in held):
                self._order.note_closed(lease)
            self._starve()
        if leases:
            self.drained = False
            self._wake_caller()

    async def _renew_topic(self) -> None:
        """Take over what was changed in the crawl's topic since it was read."""
        topic = self._scope.topic
        if await self._runtime.renew_topics():
            logger.info("topic %r has changed: pages and links are judged by it from now on", topic)
            await self._order.renew_topic(self._runtime.catalogue.pack(topic))

    async def _check_drained(self) -> None:
        # First: an alias whose preferred version brought no page makes a row wait again.
        await self.aliases.release_failed()
        await self._rows.find()
        left = await self._rows.remaining()
        if not (left.is_open or self._is_busy):
            if await self._postponed.next_round(self._rows.now, self._hosts):
                self._starve()
                return
            left = await self._rows.remaining()  # a row may have been proposed meanwhile
        if self._is_busy:
            return
        if not left.is_open:
            self.drained = True
            self._wake_caller()
        elif await self._rows.are_only_on(self._hosts.spent):
            self.stop(self._hosts.why_spent)
        elif await self._order.is_below_threshold() and not self._outstanding:
            self.stop("below_threshold")
        else:
            await self.waits.note(self._rows.now, left)

    @property
    def _is_busy(self) -> bool:
        """Whether a page is in hand or a write under way, or the crawl stops."""
        return bool(self._unflushed or self._outstanding or self.stop_reason)

    # --- bookkeeping ----------------------------------------------------------------------

    def _starve(self) -> None:
        if not self._starved:
            self._starved = True
            self._event.set()

    def _limit_reached(self) -> bool:
        seconds = time.monotonic() - self._started_at
        if reason := self._limits.why_reached(self._hosts.pages, seconds):
            self.stop(reason)
        return bool(self.stop_reason)

    @property
    def stop_reason(self) -> str:
        """Why nothing is handed out any more; "" while the crawl goes on."""
        return self.ending.reason

    def stop(self, reason: str, error: BaseException | None = None) -> None:
        """Stop handing out leases and let the crawl close with *reason*."""
        self.ending.stop(reason, error)

    def _finish_post(self, then: Callable[[], None] | None, future: asyncio.Future[object]) -> None:
        self._unflushed -= 1
        self._event.set()
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self.stop("storage_error", error if isinstance(error, Exception) else None)
        elif then is not None and not self._closing:
            then()
