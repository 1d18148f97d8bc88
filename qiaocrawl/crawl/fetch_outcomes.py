"""Carries out the decision on a lease whose fetch brought no page to read."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from qiaocrawl.crawl.host_failures import HostFailureHandler
from qiaocrawl.errors import RobotsUnreachableError, SessionRestError
from qiaocrawl.fetch.failure_policy import (
    Close,
    FailureKind,
    FailurePolicy,
    FetchDecision,
    FetchFailure,
    Release,
    Retry,
)
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd, PagelessEnd
from qiaocrawl.items import Candidate, Lease, Outcome, Queue, Visit
from qiaocrawl.storage.frontier import orders
from qiaocrawl.storage.frontier.orders import pack_links

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.crawl.context import CrawlContext

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
            await self._fail(lease, FetchFailure(
                FailureKind.NO_PAGE, decision.reason, is_refusal=decision.is_refusal
            ))  # fmt: skip

    def answered(self, host: str) -> None:
        """*host* gave an answer that is no refusal."""
        self._hosts.answered(host)

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
                orders.append_visit(c, lease, lesson, pack_links(()))

        is_mine = await self._crawl.worker.complete(CompleteLease(lease, end, write))
        if is_mine and lesson is not None:
            self._crawl.ordering.brought_nothing(lesson)
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
                memory.redirected(lease.url, decision.target)
        if target is not None:
            # Only after the commit: a URL without a row cannot be leased.
            crawl.ordering.enqueued([target])

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
