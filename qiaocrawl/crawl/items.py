"""What spiders hand to the pipelines: a leased URL and what came back for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.frontier.ordering import FollowedPage
from qiaocrawl.items import Candidate, FetchedPage, Lease, Link, PageAnalysis
from qiaocrawl.search.query import Hit, Query, SearchAnswer


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page on its way through the pipelines; each stage fills in its part.

    Attributes:
        writes: what is written beside, in the transaction that closes the page.
        then: called when that is committed: what memories are to know of the page.
    """

    lease: Lease
    page: FetchedPage
    analysis: PageAnalysis | None = None
    candidates: tuple[Candidate, ...] = ()
    followed: FollowedPage | None = None
    writes: tuple[Callable[[Connection], object], ...] = ()
    then: tuple[Callable[[], object], ...] = ()

    def __repr__(self) -> str:
        return f"<CrawledPage {self.page.url}>"


@dataclass(frozen=True, slots=True)
class SearchedPage:
    """An engine's answer, read and classified; ``hits`` are its results and their links."""

    lease: Lease
    page: FetchedPage
    query: Query
    answer: SearchAnswer
    hits: tuple[tuple[Hit, Link], ...] = ()

    def __repr__(self) -> str:
        return f"<SearchedPage {self.query.engine} {self.query.term}>"


CrawlItem = CrawledPage | SearchedPage
