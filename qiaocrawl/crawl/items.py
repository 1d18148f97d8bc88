"""What spiders hand to the pipelines: a leased URL and what came back for it."""

from __future__ import annotations

from dataclasses import dataclass

from qiaocrawl.discovery.soft_404 import MissingPage
from qiaocrawl.fetch.rendering import RenderModel
from qiaocrawl.frontier.ordering import FollowedPage
from qiaocrawl.items import Candidate, FetchedPage, Lease, Link, PageAnalysis, PagePicture
from qiaocrawl.search.query import Hit, Query, SearchAnswer


@dataclass(frozen=True, slots=True)
class RenderLesson:
    """What *learning* is to learn from a page, as it was extracted, once it is stored."""

    learning: RenderModel
    extracted: PageAnalysis


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page on its way through the pipelines; each stage fills in its part.

    Attributes:
        missing_page: what the page shows of pages that do not exist on its host.
        rendering: what it teaches about pages that need a browser.
        picture: of the page in the browser, until it is stored.
        article_url_id: of the URL whose article was committed with the page; None for none.
    """

    lease: Lease
    page: FetchedPage
    analysis: PageAnalysis | None = None
    candidates: tuple[Candidate, ...] = ()
    followed: FollowedPage | None = None
    missing_page: MissingPage | None = None
    rendering: RenderLesson | None = None
    picture: PagePicture | None = None
    article_url_id: int | None = None

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
