"""What a kind of crawl writes beside the frontier, in the same transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.items import FetchedPage, Lease, Link, Outcome, PageAnalysis


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
