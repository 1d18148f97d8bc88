"""When a host may be asked: one request at a time, in this process or in all of them.

Scrapy's download slots pace one process. Workers of one MariaDB share the clock of
:mod:`qiaocrawl.storage.frontier.workers`; a crawl that has its database for itself keeps one
in memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro
from sqlalchemy import Connection
from twisted.internet.endpoints import HostnameEndpoint
from twisted.web.client import HTTPConnectionPool

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.errors import HostParkedError
from qiaocrawl.fetch.failure_policy import HOST_PAUSES, backoff_seconds, longest_wait_seconds
from qiaocrawl.storage import Database, Writer
from qiaocrawl.storage.frontier import workers as host_pacing
from qiaocrawl.storage.frontier.workers import NO_MARK, TurnAnswer
from qiaocrawl.storage.writer import in_loop

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

T = TypeVar("T")

# A pause with no more than this left is waited for with the request in hand.
_SHORT_SECONDS = 1.0
# In a process of its own a turn used later than this is dated anew.
_LATE_SECONDS = 0.005
# A process late for its turn asks for one that holds longer, five times, then sends anyway.
_LATE_TRIES = (2, 8, 32, 128, 512)


class HostPacing(Protocol):
    """Where turns and pauses of hosts are kept. Times in seconds; hosts without port."""

    async def take(
        self, host: str, gap: float, *, tries: int = 1, mark: float = NO_MARK
    ) -> TurnAnswer:
        """As :func:`qiaocrawl.storage.frontier.workers.take_turn`."""

    async def park_for_all(self, host: str, asked: float, first: float) -> float:
        """As :func:`qiaocrawl.storage.frontier.workers.park_host`."""

    async def note_answer(self, host: str) -> None:
        """The next refusal of *host* is a first one."""

    async def set_crawl_delay(self, host: str, delay: float) -> None:
        """What robots.txt asks for now; 0 = nothing."""


@dataclass(slots=True)
class _Host:
    last_at: float = float("-inf")
    delay: float = 0.0
    parked_until: float = float("-inf")
    busy: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to ask *host* that was taken and is good until a moment of the monotonic clock."""

    host: str
    gap: float
    mark: float
    good_until: float

    @property
    def is_good(self) -> bool:
        """Whether a request that is sent now keeps its distance to the next one."""
        return time.monotonic() <= self.good_until


class LocalClock:
    """The clock of one process."""

    def __init__(self) -> None:
        self._turns: dict[str, _Host] = {}

    async def take(
        self,
        host: str,
        gap: float,
        *,
        tries: int = 1,
        mark: float = NO_MARK,
        # No lock: between reading and writing there is no await.
    ) -> TurnAnswer:
        """Take the next turn of *host*, if it is due."""
        last, now = self._of(host), time.monotonic()
        least = max(last.delay, gap)
        # The mark is this worker's own turn: nobody has taken the next one.
        is_due = last.last_at + least <= now or last.last_at == mark
        if is_due and last.parked_until <= now:
            last.last_at = now
            # Without a gap between requests nobody waits, so a turn cannot be late.
            return TurnAnswer(hold=tries * _LATE_SECONDS if least else 0.0, mark=now)
        wait = max(last.last_at + least - now, 0.001)
        return TurnAnswer(wait, max(last.parked_until - now, 0.0))

    async def park_for_all(self, host: str, asked: float, first: float) -> float:
        """Nobody asks *host* for the longer of its wish and a growing pause, in seconds."""
        # Answers to requests that were under way together count as one refusal.
        turn, now = self._of(host), time.monotonic()
        if turn.parked_until > now:
            turn.parked_until = max(turn.parked_until, now + asked)
            return turn.parked_until - now
        forgotten = turn.parked_until + host_pacing.FORGOTTEN_SECONDS < now
        turn.busy = 1 if forgotten else turn.busy + 1
        pause = max(asked, backoff_seconds(min(turn.busy, HOST_PAUSES), first))
        turn.parked_until = now + pause
        return pause

    async def note_answer(self, host: str) -> None:
        """The next refusal of *host* is a first one."""
        self._of(host).busy = 0

    async def set_crawl_delay(self, host: str, delay: float) -> None:
        """What robots.txt asks for now; 0 = nothing."""
        self._of(host).delay = delay

    def _of(self, host: str) -> _Host:
        return self._turns.setdefault(host, _Host())


class SharedClock:
    """The clock of all workers of one MariaDB or MySQL database, on a connection of its own.

    Args:
        outage_seconds: how long the database is waited for.
        longest_seconds: no pause is longer than this.
    """

    def __init__(
        self, database: Database, outage_seconds: float = 300.0, longest_seconds: float = 86_400.0
    ) -> None:
        self._longest_seconds = longest_seconds
        # One transaction a statement: within a group one locked row would hold up all others.
        self._writer = Writer(
            database, outage_seconds=outage_seconds, max_group=1, linger_seconds=0.0
        )
        self._entered: set[str] = set()

    async def take(
        self, host: str, gap: float, *, tries: int = 1, mark: float = NO_MARK
    ) -> TurnAnswer:
        """Take the next turn of *host*, if it is due."""
        return await self._run(
            host,
            lambda c: host_pacing.take_turn(
                c, host, gap, self._longest_seconds, tries=tries, mark=mark
            ),
        )

    async def park_for_all(self, host: str, asked: float, first: float) -> float:
        """Nobody asks *host* for the longer of its wish and a growing pause, in seconds."""
        return await self._run(
            host,
            lambda c: host_pacing.park_host(
                c, host, asked, first, HOST_PAUSES, self._longest_seconds
            ),
        )

    async def note_answer(self, host: str) -> None:
        """The next refusal of *host* is a first one."""
        await self._run(host, lambda c: host_pacing.host_answered(c, host))

    async def set_crawl_delay(self, host: str, delay: float) -> None:
        """What robots.txt asks for now; 0 = nothing."""
        await self._run(host, lambda c: host_pacing.set_crawl_delay(c, host, delay))

    async def _run(self, host: str, operation: Callable[[Connection], T]) -> T:
        # Once per process: the row stays.
        if host not in self._entered:
            entered = self._writer.submit(lambda c: host_pacing.enter_host(c, host))
            await in_loop(entered)
            self._entered.add(host)
        return await in_loop(self._writer.submit(operation))

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


class HostRateLimiter:
    """Lets requests pass one by one, with the delay their host wants.

    Args:
        first_pause: seconds a host is left alone that refuses for the first time without
            saying how long.
    """

    def __init__(self, clock: HostPacing, first_pause: float) -> None:
        self._clock = clock
        self._first_pause = first_pause
        self._refused: set[str] = set()
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def wait(self, host: str, gap: float) -> Turn:
        """Return when *host* may be asked, at least *gap* seconds after the last request.

        Raises:
            HostParkedError: it asked to be left alone for longer than a moment.
        """
        # A lock a host keeps its requests in order; weakly held, it goes with its last waiter.
        queue = self._queues.setdefault(host, asyncio.Lock())
        async with queue:
            return await self._take_turn(host, gap)

    def before_sending(self, turn: Turn) -> Awaitable[None] | None:
        """What to wait for before the request of *turn* is sent; None when it is not overdue.

        Raises:
            HostParkedError: as :meth:`wait`, when it is awaited.
        """
        return None if turn.is_good else self._good(turn)

    async def _good(self, turn: Turn) -> None:
        for tries in _LATE_TRIES:
            turn = await self._take_turn(turn.host, turn.gap, tries=tries, mark=turn.mark)
            if turn.is_good:
                return

    async def _take_turn(
        self, host: str, gap: float, *, tries: int = 1, mark: float = NO_MARK
    ) -> Turn:
        while True:
            # Taken before asking: the hold must not seem longer by the time the answer took.
            asked_at = time.monotonic()
            answer = await self._clock.take(host, gap, tries=tries, mark=mark)
            if answer.is_taken:
                good_until = asked_at + answer.hold if answer.hold else float("inf")
                return Turn(host, gap, answer.mark, good_until)
            if answer.parked > _SHORT_SECONDS:
                self._refused.add(host)
                raise HostParkedError(host, answer.parked)
            await asyncio.sleep(max(answer.wait, answer.parked))

    async def park_for_all(self, host: str, asked_seconds: float) -> float:
        """*host* refused and asks to wait; for how many seconds it is left alone by all."""
        self._refused.add(host)
        return await self._clock.park_for_all(host, asked_seconds, self._first_pause)

    async def note_answer(self, host: str) -> None:
        """*host* served a request."""
        # Most hosts never refuse: then nothing is written.
        if host in self._refused:
            self._refused.discard(host)
            await self._clock.note_answer(host)

    async def set_crawl_delay(self, host: str, seconds: float) -> None:
        """The robots.txt of *host* asks for *seconds* between requests, 0 for nothing."""
        await self._clock.set_crawl_delay(host, seconds)


_turns: WeakKeyDictionary[Crawler, HostRateLimiter] = WeakKeyDictionary()


def rate_limiter_of(crawler: Crawler) -> HostRateLimiter:
    """The turns of *crawler*'s run, built at the first call."""
    if crawler not in _turns:
        runtime = runtime_of(crawler)
        options = runtime.options
        clock: HostPacing = LocalClock()
        # With SQLite's crawl lock there is one worker, and no clock to share.
        if not runtime.database.is_exclusive:
            clock = SharedClock(
                runtime.database,
                options["QIAO_STORAGE_OUTAGE_SECONDS"],
                longest_wait_seconds(options),
            )
            crawler.signals.connect(clock.close, signal=signals.spider_closed, weak=False)
        _turns[crawler] = HostRateLimiter(clock, options["QIAO_FRONTIER_RETRY_SECONDS"])
    return _turns[crawler]


# --- Connections that a request gets when its turn has come, and not before -----------------------
# A turn is taken before there is a connection. Where making one takes long, or this process is
# held up, the turn is overdue by then: the request waits for another one.

BeforeSending = Callable[[], Awaitable[None] | None]
"""Asked when a connection is there: what to wait for, None for nothing."""

# A context variable: Scrapy's handler takes no argument for the pool.
_how: ContextVar[tuple[BeforeSending | None, str]] = ContextVar("how", default=(None, ""))


@contextmanager
def connecting(before_sending: BeforeSending | None, server: str = "") -> Iterator[None]:
    """Connections that are asked for within this block come after *before_sending*.

    Args:
        server: host:port they lead to, whatever host they are for, without TLS; "" = to that.
    """
    token = _how.set((before_sending, server))
    try:
        yield
    finally:
        _how.reset(token)


class PacedPool(HTTPConnectionPool):
    """Twisted's pool of connections; a waiting request keeps its connection to itself."""

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[Any]:
        """A connection of *key*, an old one or a new one."""
        # Read now: the callback below runs in another context.
        before_sending, server = _how.get()
        if server:
            # Only the way there differs: the request, its Host header too, stays the host's own.
            host, _, port = server.rpartition(":")
            endpoint = HostnameEndpoint(self._reactor, host, int(port))
            # All hosts share these connections: a thousand of them would keep a thousand open.
            key = (server,)
        connecting: Deferred[Any] = super().getConnection(key, endpoint)
        if before_sending is None:
            return connecting

        def on_connection(connection: Any) -> Any:
            waiting = before_sending()
            if waiting is None:
                return connection
            return deferred_from_coro(self._after(waiting, key, connection))

        return connecting.addCallback(on_connection)

    async def _after(self, waiting: Awaitable[None], key: Any, connection: Any) -> Any:
        try:
            await waiting
        except BaseException:
            # A connection that was used before comes wrapped.
            unused = getattr(connection, "_clientProtocol", connection)
            self._putConnection(key, unused)  # type: ignore[no-untyped-call]
            raise
        return connection
