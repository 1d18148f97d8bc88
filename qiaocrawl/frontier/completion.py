"""The one transaction that ends a lease: its outcome or its next try, and all that it brought."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy import Connection

from qiaocrawl.items import PRUNED, FetchedPage, Lease, Link, Outcome, PageAnalysis
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier import url_aliases

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LeaseEnd:
    """What the row of a closed lease says; ``redirect_key`` is of the URL it redirects to."""

    outcome: Outcome
    reason: str = ""
    http_status: int | None = None
    redirect_key: bytes | None = None


class CompleteLease(Generic[T]):
    """An operation of the writer that closes a lease and writes what it brought.

    Played again after a commit whose answer got lost, it writes nothing and gives True.

    Args:
        write: all else the transaction writes, once the row is closed.
        guard: asked first; False leaves everything as it is.

    Attributes:
        written: what *write* gave; None if it was not called.
    """

    def __init__(
        self,
        lease: Lease,
        end: LeaseEnd,
        write: Callable[[Connection], T] | None = None,
        guard: Callable[[Connection], bool] | None = None,
    ) -> None:
        self.lease = lease
        self.end = end
        self.written: T | None = None
        self._write = write
        self._guard = guard

    def __call__(self, c: Connection) -> bool | None:
        """False when the lease was lost, None when the guard said no: nothing is written then."""
        # The guard runs inside the transaction: outside, another part of the article could be
        # stored between its answer and the write.
        if self._guard is not None and not self._guard(c):
            return None
        end = self.end
        ended = frontier.complete(
            c,
            self.lease,
            outcome=end.outcome,
            reason=end.reason,
            http_status=end.http_status,
            redirect_key=end.redirect_key,
            now=time.time(),
        )
        # BEFORE means that an earlier try was committed together with its writes.
        if ended is frontier.Ended.NOW and self._write is not None:
            self.written = self._write(c)
        # In the same transaction: no kill may leave an alias waiting for a page that never comes.
        if end.outcome not in url_aliases.READABLE:
            url_aliases.settle(c, [self.lease.key])
        return bool(ended)


def retry_lease(
    lease: Lease,
    reason: str,
    pause_seconds: float,
    max_failures: int,
    write: Callable[[Connection], object] | None = None,
) -> Callable[[Connection], bool]:
    """An operation that lets *lease* wait for another try; then *write* writes more.

    It gives False when the lease was lost; nothing is written then.
    """

    def operation(c: Connection) -> bool:
        # not_before is compared with the database's clock, so it is computed from that clock.
        now = frontier.clock(c)
        ended = frontier.retry(
            c,
            lease,
            reason=reason,
            not_before=now + pause_seconds,
            max_failures=max_failures,
            now=now,
        )
        if ended is frontier.Ended.NOW and write is not None:
            write(c)
        return bool(ended)

    return operation


# --- What a kind of crawl writes beside the frontier, in the same transactions --------------------


@dataclass(frozen=True, slots=True)
class PagelessEnd:
    """The end of a URL that brought no page to read; ``target`` is where a redirect leads."""

    outcome: Outcome
    reason: str
    status: int | None
    at: float
    target: str = ""


# A base class rather than a protocol: a deep crawl uses it as it is.
class CrawlJournal:
    """Writes nothing; crawls that keep records of their own override what they need.

    Every method with a connection is called by the writer within a transaction, which may be
    played again.
    """

    counts_pageless_as = ""
    """The name of a further figure of the run that counts leases closed without a page."""

    def page_arrives(self, c: Connection, lease: Lease, page: FetchedPage) -> None:
        """The page of *lease* is stored; nothing has been derived from it yet."""

    def page_arrived(self, lease: Lease) -> None:
        """What :meth:`page_arrives` wrote is committed: caches may learn of it."""

    def page_closes(
        self,
        c: Connection,
        lease: Lease,
        page: FetchedPage,
        analysis: PageAnalysis,
        links: Sequence[Link],
    ) -> None:
        """The analysed page of *lease* is closed, before what it brought is written.

        Args:
            links: those that are followed.
        """

    def closes_without_page(self, c: Connection, lease: Lease, end: PagelessEnd) -> None:
        """*lease* is closed, and no page came."""

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        """*lease* waits for another try."""


# --- URLs that pages of this process have brought: a cache in front of the frontier's unique
# key

# About 100 bytes each: 50 MB at the most.
_REMEMBERED = 500_000


class ProposedUrls:
    """Saves a crawl from writing links it has stored; the frontier's unique key decides.

    It learns of links once they are committed, never before: a page whose transaction was
    refused brings all of them again. The oldest are forgotten first; that only costs a write.

    Args:
        by_score: a known URL is news with a higher score; else only after it had been left out.
    """

    def __init__(self, remembered: int = _REMEMBERED, *, by_score: bool = True) -> None:
        self._remembered = remembered
        self._by_score = by_score
        self._scores: dict[bytes, float] = {}

    def is_news(self, key: bytes, score: float) -> bool:
        """Whether *key* is unknown or known with a lower score. Any thread may ask."""
        best = self._scores.get(key)
        # Asked of every link of every page, most of which are known.
        return best is None or (score > best and (self._by_score or best == PRUNED))

    def remember(self, stored: Iterable[tuple[bytes, float]]) -> list[bytes]:
        """Keys and scores of links that are committed now; the keys that were unknown."""
        new = []
        for key, score in stored:
            best = self._scores.get(key)
            if best is None:
                new.append(key)
            # A higher score keeps the key's place in the dict: age counts from the first sighting.
            if best is None or score > best:
                self._scores[key] = score
        # A dict keeps insertion order, so its first key is the oldest.
        while len(self._scores) > self._remembered:
            del self._scores[next(iter(self._scores))]
        return new
