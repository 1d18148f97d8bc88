"""One process's hold on the frontier: leases in, outcomes out, nothing lost between.

A worker leases rows in batches, keeps them alive, hands them out host by host and gives
them back when it stops. It knows asyncio and the store, not Scrapy.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.alias_learning import AliasLearning
from qiaocrawl.crawl.limits import Limits
from qiaocrawl.errors import OutdatedError, StorageError
from qiaocrawl.items import Candidate, Lease, Outcome
from qiaocrawl.runtime import CrawlScope, Runtime
from qiaocrawl.storage import frontier, url_aliases

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.25
_HOSTS_FRESH_SECONDS = 2.0
# Rows held of one host, for each fetch it may have at a time. More would save writes; but a
# row leased early cannot give way to a better one found meanwhile.
_ROWS_PER_FETCH = 2


@dataclass(frozen=True, slots=True)
class Opening:
    """What the transaction that closes a lease begins with.

    Attributes:
        first: done before all else, other operations included (see :meth:`Writer.submit`).
        only_if: asked next; False leaves everything as it is.
    """

    first: Callable[[Connection], object] | None = None
    only_if: Callable[[Connection], bool] | None = None


class FrontierWorker:
    """Leases rows of *scope* and accounts for every one of them.

    Args:
        wake: called when leases have arrived or the frontier has drained, so that the
            caller asks :meth:`next_lease` again.
        fetches_per_host: most fetches of one host at a time.
    """

    def __init__(
        self,
        runtime: Runtime,
        scope: CrawlScope,
        *,
        limits: Limits,
        fetches_per_host: int,
        run_id: int | None,
        wake: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._scope = scope
        self._rows = frontier.Scope(scope.queue, scope.topic, frozenset())
        self._rows_found_at = 0.0
        self._limits = limits
        self._run_id = run_id
        self._wake_caller = wake
        self.aliases = AliasLearning(runtime.reader, runtime.writer, run_id, runtime.options)
        self._batch: int = runtime.options["QIAO_FRONTIER_BATCH"]
        self._lease_seconds: float = runtime.options["QIAO_FRONTIER_LEASE_SECONDS"]
        self._fetches_per_host = fetches_per_host
        self._rows_per_host = fetches_per_host * _ROWS_PER_FETCH
        self.token = secrets.randbits(62)
        self._ready: dict[str, deque[Lease]] = defaultdict(deque)
        self._outstanding: dict[int, Lease] = {}
        self._downloading: Counter[str] = Counter()
        self._handed_out: Counter[str] = Counter()
        self._parked: dict[str, float] = {}
        self._unflushed = 0
        self._starved = True
        self._event = asyncio.Event()
        self._closing = False
        self._pump_task: asyncio.Task[None] | None = None
        self._renewed_at = self._started_at = time.monotonic()
        self.drained = False
        self.stop_reason = ""

    # --- life ---------------------------------------------------------------------

    async def open(self) -> None:
        """Take back what dead workers held, then start leasing."""
        await self._find_rows()
        await self._recover(all_dead=self._runtime.database.is_exclusive)
        await self.aliases.load()
        self._pump_task = asyncio.ensure_future(self._pump())
        self._pump_task.add_done_callback(self._pumped)

    async def _recover(self, *, all_dead: bool) -> None:
        # A page that kills its analysis is caught by the pool, in this process; a dead
        # process says little about the pages it held, so the bound for that is high.
        recovery = await self._runtime.write(
            lambda c: frontier.recover(
                c, self._rows, now=time.time(), all_dead=all_dead,
                max_failures=frontier.MAX_ATTEMPTS,
            )
        )
        if recovery.requeued or recovery.resumed or recovery.set_aside:
            logger.info(
                "taken over from an interrupted crawl: %d URLs waiting again, %d stored pages "
                "to analyse, %d set aside",
                recovery.requeued, recovery.resumed, recovery.set_aside,
            )

    async def close(self) -> int:
        """Give unfinished leases back; returns how many URLs of the scope still wait."""
        # Asked to end, not cancelled: a cancelled lease write would leave rows nobody holds.
        self._closing = True
        self._event.set()
        if self._pump_task is not None:
            await asyncio.wait([self._pump_task])
        await self._find_rows()
        held = [*self._outstanding.values(), *self._waiting_here()]
        await self._runtime.write(lambda c: frontier.release(c, held, now=time.time()))
        await self._runtime.write(self.aliases.saving())
        left = await self._remaining()
        return left.pending + left.leased

    # --- handing out ----------------------------------------------------------------

    def next_lease(self) -> Lease | None:
        """The best-scored lease whose host may be asked now; None when there is none."""
        if self.stop_reason or self._limit_reached():
            return None
        now = time.monotonic()
        free = (
            host for host, queue in self._ready.items()
            if queue and self._is_free(host, now)
        )
        best = max(free, key=lambda host: self._ready[host][0].score, default=None)
        if best is None:
            self._starve()
            return None
        lease = self._ready[best].popleft()
        if not self._ready[best]:
            del self._ready[best]
        self._outstanding[lease.url_id] = lease
        self._downloading[best] += 1
        self._handed_out[best] += 1
        if self._waiting_count() < self._batch // 2:
            self._starve()
        return lease

    def left_downloader(self, lease: Lease) -> None:
        """The fetch of *lease* is over, whatever came of it: its host is free again."""
        self._downloading[lease.host] -= 1
        if self._downloading[lease.host] <= 0:
            del self._downloading[lease.host]

    def park(self, host: str, seconds: float) -> None:
        """Ask *host* nothing for *seconds* (Retry-After); its rows go back meanwhile."""
        until = time.monotonic() + seconds
        self._parked[host] = max(until, self._parked.get(host, 0.0))
        returned = list(self._ready.pop(host, ()))
        if returned:
            self.post(lambda c: frontier.release(c, returned, now=time.time()))

    # --- coming back ------------------------------------------------------------------

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Queue *candidates* for the frontier; it cannot drain before they are stored."""
        self.post(
            lambda c: frontier.offer(c, candidates, run_id=self._run_id, now=time.time())
        )

    def post(self, operation: Callable[[Connection], object]) -> None:
        """Queue a write nobody waits for; a failure of it stops the crawl visibly."""
        self._unflushed += 1
        self.drained = False
        future = asyncio.wrap_future(self._runtime.writer.submit(operation))
        future.add_done_callback(self._posted)

    async def complete(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        reason: str = "",
        http_status: int | None = None,
        redirect_key: bytes | None = None,
        also: Callable[[Connection], object] | None = None,
        opening: Opening | None = None,
    ) -> bool:
        """Close *lease* and store what came of it, in one transaction.

        Args:
            also: writes more.
            opening: what comes before.

        Returns:
            False when the lease was lost to another worker; nothing is written then.

        Raises:
            OutdatedError: *opening.only_if* said no; nothing is written, and the lease is held
                on.
        """
        before = opening or Opening()

        def operation(c: Connection) -> bool | None:
            if before.only_if is not None and not before.only_if(c):
                return None
            mine = frontier.complete(
                c, lease, outcome=outcome, reason=reason, http_status=http_status,
                redirect_key=redirect_key, now=time.time(),
            )
            if mine and also is not None:
                also(c)
            if outcome not in url_aliases.READABLE:
                url_aliases.settle(c, [lease.key])
            return mine

        mine = await self._runtime.write(operation)
        if mine is None:
            raise OutdatedError(f"{lease.url}: what was to be stored is out of date")
        if mine and (save := self.aliases.ended(lease, outcome)):
            self.post(save)
        return self._settled(lease, mine)

    async def retry(self, lease: Lease, *, reason: str, pause_seconds: float) -> bool:
        """Give *lease* another try after a pause, or give it up after too many."""
        most: int = self._runtime.options["QIAO_FRONTIER_MAX_FAILURES"]
        not_before = time.time() + pause_seconds
        mine = await self._runtime.write(
            lambda c: frontier.retry(
                c, lease, reason=reason, not_before=not_before, max_failures=most,
                now=time.time(),
            )
        )
        return self._settled(lease, mine)

    def give_back(self, lease: Lease) -> None:
        """*lease* was not used: its row waits again, and no failure is counted."""
        self._outstanding.pop(lease.url_id, None)
        self.post(lambda c: frontier.release(c, [lease], now=time.time()))

    def forget(self, lease: Lease) -> None:
        """*lease* was lost to another worker: nothing is owed for it here."""
        self._outstanding.pop(lease.url_id, None)
        self._event.set()

    def holds(self, lease: Lease) -> bool:
        """Whether *lease* was handed out and has no outcome yet."""
        return self._outstanding.get(lease.url_id) is lease

    def _settled(self, lease: Lease, mine: bool) -> bool:
        self._outstanding.pop(lease.url_id, None)
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
        if self._starved and self._waiting_count() < self._batch * 4:
            await self._lease_more()
        if not self._ready and not self._outstanding and not self._unflushed:
            await self._check_drained()

    async def _renew_when_due(self) -> None:
        if time.monotonic() - self._renewed_at < self._lease_seconds / 3:
            return
        self._renewed_at = time.monotonic()
        # Only what is in hand: rows whose lease was committed while the answer got lost run out.
        held = [*self._outstanding, *(lease.url_id for lease in self._waiting_here())]
        await self._runtime.write(
            lambda c: frontier.renew(
                c, self.token, held, lease_seconds=self._lease_seconds, now=time.time()
            )
        )
        # Other workers may share the database, and have died meanwhile.
        await self._recover(all_dead=False)

    async def _find_rows(self) -> None:
        """Look up the scope's hosts: links may have brought new subdomains."""
        self._rows_found_at = time.monotonic()
        self._rows = await self._runtime.write(self._runtime.rows_of(self._scope))

    async def _lease_more(self) -> None:
        self._starved = False
        if time.monotonic() - self._rows_found_at > _HOSTS_FRESH_SECONDS:
            await self._find_rows()
        now = time.monotonic()
        self._parked = {host: until for host, until in self._parked.items() if until > now}
        full = {h for h, queue in self._ready.items() if len(queue) >= self._rows_per_host}
        busy = full | self._parked.keys() | self._spent_hosts()
        leases = await self._runtime.write(
            lambda c: frontier.lease(
                c, self._rows, token=self.token, limit=self._batch, per_host=self._rows_per_host,
                lease_seconds=self._lease_seconds, now=time.time(), busy_hosts=busy,
            )
        )
        kept = await self.aliases.to_fetch(leases, self._scope.within)
        for lease in kept:
            self._ready[lease.host].append(lease)
        if len(kept) < len(leases):
            self._starve()
        if leases:
            self.drained = False
            self._wake_caller()

    async def _remaining(self) -> frontier.Remaining:
        """What stands in the frontier for this worker's rows."""
        rows = self._rows
        return await self._runtime.write(lambda c: frontier.remaining(c, rows, now=time.time()))

    async def _check_drained(self) -> None:
        await self.aliases.settle()
        await self._find_rows()
        left = await self._remaining()
        if self._unflushed or self._outstanding:
            return
        if not left.pending and not left.leased:
            self.drained = True
            self._wake_caller()
        elif self._only_spent_hosts_wait(left):
            self.stop("limit_pages_per_host")

    # --- bookkeeping ----------------------------------------------------------------------

    def _is_free(self, host: str, now: float) -> bool:
        busy = self._downloading[host] >= self._fetches_per_host
        return not busy and self._parked.get(host, 0.0) <= now

    def _waiting_here(self) -> list[Lease]:
        return [lease for queue in self._ready.values() for lease in queue]

    def _waiting_count(self) -> int:
        return sum(len(queue) for queue in self._ready.values())

    def _starve(self) -> None:
        if not self._starved:
            self._starved = True
            self._event.set()

    def _spent_hosts(self) -> set[str]:
        most = self._limits.pages_per_host
        return {h for h, n in self._handed_out.items() if n >= most} if most else set()

    def _only_spent_hosts_wait(self, left: frontier.Remaining) -> bool:
        due = left.next_due is None or left.next_due <= time.time()
        return bool(self._spent_hosts() and due and not left.leased and not self._parked)

    def _limit_reached(self) -> bool:
        seconds = time.monotonic() - self._started_at
        if reason := self._limits.reached(self._handed_out.total(), seconds):
            self.stop(reason)
        return bool(self.stop_reason)

    def stop(self, reason: str, error: BaseException | None = None) -> None:
        """Hand nothing out any more and let the crawl close with *reason*."""
        if error is not None:
            logger.error("the crawl stops: %s", error)
        if not self.stop_reason:
            self.stop_reason = reason
            self._wake_caller()

    def _pumped(self, task: asyncio.Task[None]) -> None:
        """Without the pump the crawl would wait for ever: it stops, and says why."""
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the frontier worker failed", exc_info=error)
            self.stop("internal_error", error)

    def _posted(self, future: asyncio.Future[object]) -> None:
        self._unflushed -= 1
        self._event.set()
        if not future.cancelled() and (error := future.exception()) is not None:
            self.stop("storage_error", error if isinstance(error, Exception) else None)
