"""A fetch that brought no page: what it says of its URL and its host, and what is done."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from sqlalchemy import Connection

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.crawl.network.pacing import rate_limiter_of
from qiaocrawl.errors import (
    AddressRefusedError,
    BlockedError,
    BrowserLostError,
    HostParkedError,
    LoginPageError,
    ProxiesRestError,
    ProxyError,
    RobotsUnreachableError,
    SessionRestError,
    TrapError,
)
from qiaocrawl.fetch.failure_policy import (
    Close,
    FailureKind,
    FailurePolicy,
    FetchDecision,
    FetchFailure,
    Release,
    Retry,
)
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd
from qiaocrawl.frontier.host_slots import FOREVER
from qiaocrawl.frontier.journal import PagelessEnd
from qiaocrawl.items import Candidate, Lease, Outcome, Queue, Visit
from qiaocrawl.storage.frontier import visit_log
from qiaocrawl.storage.frontier.visit_log import pack_links
from qiaocrawl.storage.frontier.workers import end_rest, note_rest, resting_hosts
from qiaocrawl.text.zones import china_time

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.crawl.context import CrawlContext
    from qiaocrawl.fetch.host_rules import Strike
    from qiaocrawl.frontier.worker import FrontierWorker

# --- Classifies a failed fetch for its URL and its host; the host may be paused or given up -------
# What becomes of the URL then is decided by :mod:`qiaocrawl.fetch.failure_policy`.

logger = logging.getLogger(__name__)

# Nobody answers there, so its other URLs would fail too; a broken answer may concern
# one page only.
_NOBODY_THERE = (CannotResolveHostError, DownloadConnectionRefusedError, DownloadTimeoutError)
# What shows that the host is there, though it gave no page.
_ANSWERS = (BlockedError, DownloadCancelledError, IgnoreRequest, LoginPageError)
_REASON_CHARS = 300
# The last part of what OpenSSL says.
_TLS_ERROR = re.compile(r"OpenSSL\.SSL\.Error: .*?'([^']*)'\)\]")
# An error within a message of Twisted's. What follows may be a server's words, so no pattern looks
# for their end.
_TWISTED_ERROR = re.compile(r"twisted\.python\.failure\.Failure ([\w.]{1,200}): ?")
_TOOK_LONGER = re.compile(r"took longer than ([\d.]+) seconds")
_NO_TLS = "no secure connection (TLS):"
# What OpenSSL says, and what that means for an operator.
_TLS_FAULTS = (
    ("alert protocol version", "only TLS 1.0 or 1.1, which are no longer safe"),
    ("unsupported protocol", "only TLS 1.0 or 1.1, which are no longer safe"),
    ("dh key too small", "its key is too weak (DH)"),
    ("bad ecpoint", "its key is too weak (DH)"),
    ("key too small", "its key is too weak (certificate)"),
    ("md too weak", "its key is too weak (certificate)"),
    ("insufficient security", "no cipher in common"),
    ("no shared cipher", "no cipher in common"),
    ("certificate required", "the host asks for a certificate of ours"),
    ("legacy renegotiation", "the host's renegotiation is of the old, unsafe kind"),
    ("unrecognized name", "the host does not know its own name"),
    ("wrong version number", "the host speaks plain HTTP on this port"),
    ("http request", "the host speaks plain HTTP on this port"),
    ("packet length too long", "the host speaks plain HTTP on this port"),
    ("record layer failure", "the host speaks plain HTTP on this port"),
    ("handshake failure", "no cipher in common"),
)


def is_answer(error: BaseException | None) -> bool:
    """Whether *error* shows that the host is there, though it gave no page."""
    return isinstance(error, _ANSWERS)


def words_of(error: BaseException | None) -> str:
    """*error* as the reason in a row, in words where a library only hands on its causes."""
    # By what it says: Twisted takes an error's causes away when it is handed on.
    said = str(error)
    if isinstance(error, IgnoreRequest):
        # Scrapy's and ours, whose words need no name.
        return said[:_REASON_CHARS]
    if isinstance(error, DownloadConnectionRefusedError):
        return "the connection is refused: nothing serves there"
    if isinstance(error, CannotResolveHostError):
        return "its name leads to no address"
    if isinstance(error, DownloadTimeoutError) and (limit := _TOOK_LONGER.search(said)):
        return f"no answer in {float(limit[1]):g} s"
    if isinstance(error, DownloadFailedError):
        if (tls := _TLS_ERROR.search(said)) is not None:
            words = (words for sign, words in _TLS_FAULTS if sign in said)
            return f"{_NO_TLS} {next(words, tls[1])}"[:_REASON_CHARS]
        if "ConnectionDone" in said:
            return "connection closed before an answer came"
        if "ConnectionLost" in said:
            return "connection cut off before an answer came"
        if "ParseError" in said:
            return "what it sends is no HTTP"
        if (twisted := _TWISTED_ERROR.search(said)) is not None:
            what = said[twisted.end() :].rstrip(">]")
            said = ": ".join(filter(None, (twisted[1].rpartition(".")[2], what)))
    return f"{type(error).__name__}: {said}"[:_REASON_CHARS]


class HostFailureHandler:
    """Parks hosts and gives them up for this run, as their failures demand."""

    def __init__(self, crawler: Crawler, worker: FrontierWorker) -> None:
        self._stats = crawler.stats
        self._worker = worker
        self._access = access_of(crawler)
        self._pacing = rate_limiter_of(crawler)
        runtime = runtime_of(crawler)
        options = runtime.options
        # What earlier runs met counts until the host gives a page again.
        with runtime.database.engine.connect() as c:
            self._resting = resting_hosts(c)
        self._is_shared = not runtime.database.is_exclusive
        self._answered: set[str] = set()
        self._proxy_refresh_seconds: float = options["QIAO_PROXY_REFRESH_SECONDS"]

    async def failure_of(self, lease: Lease, error: BaseException | None) -> FetchFailure:
        """The failure that *error*, which came instead of a response, means for *lease*."""
        match error:
            case AddressRefusedError():
                return FetchFailure(FailureKind.ADDRESS_REFUSED, str(error))
            case BlockedError():
                return self._block_failure(lease, error)
            case ProxiesRestError():
                return self._without_proxy(lease, error)
            case TrapError():
                return FetchFailure(FailureKind.TRAP, str(error))
            case HostParkedError():
                self._worker.park_here(lease.host, error.seconds)
                return FetchFailure(FailureKind.CANNOT_ASK, str(error))
            case RobotsUnreachableError():
                return await self._without_robots(lease, error)
            case SessionRestError():
                return self._without_session(lease, error)
            case LoginPageError():
                return FetchFailure(FailureKind.LOGIN, str(error))
            case IgnoreRequest():
                # Scrapy raises it for what robots.txt forbids and for decompression bombs.
                # Scrapy has no type of its own for it, only these words.
                forbidden = "robots.txt" in str(error)
                kind = FailureKind.ROBOTS if forbidden else FailureKind.TOO_LARGE
                return FetchFailure(kind, str(error))
            case DownloadCancelledError():
                return FetchFailure(FailureKind.TOO_LARGE, words_of(error))
            case BrowserLostError():
                # Neither the host's fault nor a failed fetch: the browser is the crawler's.
                self._count("errors")
                return FetchFailure(FailureKind.INTERNAL, words_of(error))
        await self._silent(lease, error)
        return FetchFailure(FailureKind.NO_PAGE, words_of(error))

    def note_answer(self, host: str) -> None:
        """*host* gave an answer that is no refusal: nothing is told against it any more."""
        # An answer that was under way when the host was paused does not end the pause, nor what is
        # told of it. Another worker may have met its silence: its first page here ends that too.
        is_first = self._is_shared and host not in self._answered
        if (is_first or host in self._resting) and not self._worker.is_parked(host):
            self._answered.add(host)
            self._resting.discard(host)
            self._worker.post(partial(end_rest, host=host))

    def _note_rest(self, host: str, reason: str, seconds: float) -> None:
        now = time.time()
        until = 0.0 if seconds == FOREVER else now + seconds
        self._resting.add(host)
        self._worker.post(partial(note_rest, host=host, reason=reason, until=until, now=now))

    async def busy(self, lease: Lease, reason: str, seconds: float) -> FetchFailure:
        """The host asks crawlers to wait: it gets no request until then.

        Args:
            seconds: how long; 0 when the host does not say.
        """
        pause = await self._park_in_turn(lease, seconds, reason)
        until = datetime.fromtimestamp(time.time() + pause, UTC)
        return FetchFailure(
            FailureKind.BUSY,
            reason,
            pause,
            wait_reason=f"host asks to wait until {china_time(until)}: {reason}",
        )

    def count_decision(self, failure: FetchFailure, decision: Retry | Release | Close) -> None:
        """Count in the run's statistics what became of a blocked URL."""
        if failure.kind is FailureKind.BLOCKED and not isinstance(decision, Release):
            name = "returned" if isinstance(decision, Retry) else "given_up"
            self._access.counts[f"blocks/{name}"] += 1

    def _block_failure(self, lease: Lease, error: BlockedError) -> FetchFailure:
        reason = str(error)
        if error.pause_seconds is not None:
            self._rest(lease.host, error.pause_seconds, reason, give_up=error.give_up)
        return FetchFailure(
            FailureKind.LOGIN if error.wants_login else FailureKind.BLOCKED,
            reason,
            error.pause_seconds or 0.0,
            error.give_up,
            wait_reason=f"host given up for this run: {reason}",
        )

    def _without_proxy(self, lease: Lease, error: ProxiesRestError) -> FetchFailure:
        strike = self._access.unavailable(lease.host)
        self._access.counts["proxies/none_left"] += 1
        # By the next refresh there may be other proxies.
        pause = max(strike.pause_seconds, min(error.retry_seconds, self._proxy_refresh_seconds))
        self._rest(lease.host, pause, str(error), give_up=strike.give_up)
        return FetchFailure(FailureKind.CANNOT_ASK, str(error))

    def _without_session(self, lease: Lease, error: SessionRestError) -> FetchFailure:
        """No account may be used for the URL now."""
        # 0: this account rests, and the next try gets another one.
        if error.retry_seconds:
            self._worker.park_here(lease.host, error.retry_seconds)
            self._note_rest(lease.host, str(error), error.retry_seconds)
        self._count("session/put_back")
        return FetchFailure(FailureKind.CANNOT_ASK, str(error)[:_REASON_CHARS])

    async def _without_robots(self, lease: Lease, error: RobotsUnreachableError) -> FetchFailure:
        """The proxies' fault is not the URL's; a host that is not there rests as for any page."""
        if isinstance(error.cause, ProxyError):
            return self._without_proxy(lease, ProxiesRestError(str(error), error.retry_seconds))
        # An error of the server is an answer; redirects without end are none.
        is_answer = isinstance(error.cause, IgnoreRequest) and str(error.cause).startswith("HTTP")
        if not is_answer:
            self._apply(lease.host, self._access.silent(lease.host), str(error))
        failure = await self.busy(lease, str(error), error.retry_seconds)
        return replace(failure, is_refusal=error.is_refusal)

    async def _silent(self, lease: Lease, error: BaseException | None) -> None:
        """No answer came from the host of *lease*: after a few in a row it rests."""
        # A proxy that fails says nothing about the host behind it.
        if not isinstance(error, ProxyError):
            self._apply(lease.host, self._access.silent(lease.host), words_of(error))
        if isinstance(error, _NOBODY_THERE):
            # Its other URLs would fail as well: they wait, and other hosts get the slots.
            await self._park_in_turn(lease, 0.0, words_of(error))

    async def _park_in_turn(self, lease: Lease, seconds: float, reason: str) -> float:
        """Park the host for all crawls; returns for how many seconds."""
        pause = await self._pacing.park_for_all(host_name(lease), seconds)
        self._worker.park_here(lease.host, pause)
        # One that was given up stays so: that it is parked too says less.
        if not self._worker.has_given_up(lease.host):
            self._note_rest(lease.host, reason, pause)
        self._count("politeness/parked")
        return pause

    def _apply(self, host: str, strike: Strike | None, reason: str) -> None:
        if strike is not None:
            self._rest(host, strike.pause_seconds, reason, give_up=strike.give_up)

    def _rest(self, host: str, seconds: float, reason: str, *, give_up: bool) -> None:
        if give_up:
            logger.warning("%s is left until the next run: %s", host, reason)
            seconds = FOREVER
        else:
            logger.warning("%s rests for %.0f s: %s", host, seconds, reason)
        self._worker.park_here(host, seconds)
        self._note_rest(host, reason, seconds)
        self._count("politeness/parked")

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"qiaocrawl/{name}")


def host_name(lease: Lease) -> str:
    """The host of *lease* as its rate limiter knows it: without a port."""
    return urlsplit(lease.url).hostname or ""


# What a crawl order learns from, as from a page that is not on topic: a link led to nothing.
_WORTHLESS = frozenset({Outcome.DEAD, Outcome.BLOCKED, Outcome.NOT_HTML, Outcome.TOO_LARGE})
_UNANSWERED = frozenset({FailureKind.NO_PAGE, FailureKind.CANNOT_ASK})


class FetchOutcomes:
    """Closes, retries or returns leases whose fetch brought no page, and counts them."""

    def __init__(self, crawler: Crawler, crawl: CrawlContext) -> None:
        self._crawl = crawl
        self._stats = crawler.stats
        self._hosts = HostFailureHandler(crawler, crawl.worker)
        self._policy = FailurePolicy.of(crawl.runtime.options)
        self._waits: Counter[int] = Counter()

    async def record(self, lease: Lease, status: int, decision: FetchDecision) -> None:
        """Store the decision on the response of *status*."""
        if decision.outcome is Outcome.REDIRECT:
            await self._redirect(lease, status, decision)
        elif decision.outcome is not Outcome.RETRY:
            await self.close(lease, LeaseEnd(decision.outcome, decision.reason, status))
        elif decision.is_busy:
            pause = decision.park_seconds
            failure = await self._hosts.busy(lease, decision.reason, pause)
            await self._fail(lease, replace(failure, is_refusal=decision.is_refusal))
        else:
            await self._fail(
                lease,
                FetchFailure(FailureKind.NO_PAGE, decision.reason, is_refusal=decision.is_refusal),
            )

    def note_answer(self, host: str) -> None:
        """*host* gave an answer that is no refusal."""
        self._hosts.note_answer(host)

    async def record_error(self, lease: Lease, error: BaseException | None) -> None:
        """Store that *error* came instead of a response."""
        failure = await self._hosts.failure_of(lease, error)
        is_silence = failure.kind in _UNANSWERED or isinstance(error, RobotsUnreachableError)
        # An account that rests is no host's silence.
        if is_silence and not isinstance(error, SessionRestError):
            self._count("unanswered")
        await self._fail(lease, failure)

    async def record_fault(self, lease: Lease, reason: str) -> None:
        """Store that our own work on the page failed."""
        await self._fail(lease, FetchFailure(FailureKind.INTERNAL, reason))

    async def close(self, lease: Lease, end: LeaseEnd, target: Candidate | None = None) -> bool:
        """Close *lease* without a page.

        Args:
            target: what a redirect leads to.

        Returns:
            False when the lease was lost: nothing is written then.
        """
        now = time.time()
        ending = PagelessEnd(
            end.outcome,
            end.reason,
            end.http_status,
            now,
            target.url if target is not None else "",
        )
        lesson = worthless_visit(lease, end.outcome, now)

        def write(c: Connection) -> None:
            # In the transaction that closes the row: a kill in between would lose the target.
            if target is not None:
                self._crawl.runtime.enqueue(c, [target])
            self._crawl.journal.closes_without_page(c, lease, ending)
            if lesson is not None:
                visit_log.append_visit(c, lease, lesson, pack_links(()))

        is_mine = await self._crawl.worker.complete(CompleteLease(lease, end, write))
        if is_mine and lesson is not None:
            self._crawl.order.brought_nothing(lesson)
        self._count(f"outcome/{end.outcome}" if is_mine else "lease_lost")
        if is_mine and (name := self._crawl.journal.counts_pageless_as):
            self._count(name)
        return is_mine

    async def _redirect(self, lease: Lease, status: int, decision: FetchDecision) -> None:
        crawl = self._crawl
        target = crawl.follow_redirect(lease, decision.target, crawl.policy)
        if target is not None and target.key == lease.key:
            # A cookie wall: the cookie is in the jar now, so the next try may pass.
            itself = FetchFailure(FailureKind.NO_PAGE, f"{decision.reason} to itself")
            await self._fail(lease, itself)
            return
        if target is None and decision.may_be_login:
            # Nobody will see what is there, so it counts as what it looks like.
            place = decision.target.partition("?")[0]
            reason = f"{decision.reason}, sends to the login page {place}"
            await self.close(lease, LeaseEnd(Outcome.LOGIN, reason, status))
            return
        key = target.key if target is not None else None
        reason = decision.reason
        if target is None:
            # No row will tell where it leads.
            reason = f"{reason}, beyond the crawl: {decision.target}"
        end = LeaseEnd(decision.outcome, reason, status, key)
        # Lost: another worker decides now, and has written its own target.
        if not await self.close(lease, end, target):
            return
        for memory in (crawl.worker.aliases, crawl.discovery):
            if memory is not None:
                memory.note_redirect(lease.url, decision.target)
        if target is not None:
            # Only after the commit: a URL without a row cannot be leased.
            crawl.order.note_enqueued([target])

    async def _fail(self, lease: Lease, failure: FetchFailure) -> None:
        waits = self._waits[lease.url_id]
        # Kept in memory only: after a restart a busy host deserves the same patience again.
        if failure.kind is FailureKind.BUSY:
            self._waits[lease.url_id] += 1
        decision = self._policy.decide(failure, failures=lease.failures, waits=waits)
        self._hosts.count_decision(failure, decision)
        match decision:
            case Close():
                await self.close(lease, LeaseEnd(decision.outcome, decision.reason))
            case Release():
                self._crawl.worker.release(lease, decision.reason)
            case Retry():
                await self._retry(lease, decision)

    async def _retry(self, lease: Lease, decision: Retry) -> None:
        is_mine = await self._crawl.worker.retry(
            lease,
            reason=decision.reason,
            pause_seconds=decision.pause_seconds,
            write=lambda c: self._crawl.journal.try_fails(c, lease, decision.reason),
        )
        self._count(f"outcome/{Outcome.RETRY}" if is_mine else "lease_lost")

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"qiaocrawl/{name}")


def worthless_visit(lease: Lease, outcome: Outcome, now: float) -> Visit | None:
    """What a URL that ended without a page teaches the crawl order; None for nothing."""
    # Queries to engines are in no order; a host that is away says nothing of its links.
    if lease.queue is Queue.SEARCH or outcome not in _WORTHLESS:
        return None
    return Visit(lease.key, lease.url, lease.host, lease.depth, 0.0, False, now)
