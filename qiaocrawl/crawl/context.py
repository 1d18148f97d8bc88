"""What spider, scheduler, pipelines and middlewares of one crawl share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from qiaocrawl.discovery.soft_404 import MissingPage
from qiaocrawl.fetch.rendering import RenderModel
from qiaocrawl.frontier.crawl_order import FollowedPage
from qiaocrawl.frontier.host_slots import Limits
from qiaocrawl.frontier.journal import CrawlJournal
from qiaocrawl.items import Candidate, FetchedPage, Lease, Link, PageAnalysis, PagePicture
from qiaocrawl.options import PREFIX, Options, given_in_environment
from qiaocrawl.runtime.follow_links import FollowPolicy, follow_redirect
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.query import Hit, Query, SearchAnswer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.frontier.crawl_order import CrawlOrder
    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.runs.site import SiteDiscovery
    from qiaocrawl.runtime.crawl_rows import CrawlScope


def _as_it_is(lease: Lease, analysis: PageAnalysis) -> PageAnalysis:
    return analysis


@dataclass
class CrawlContext:
    """A crawl, put together by its spider.

    Attributes:
        asked: what the run's record says was asked: arguments and crawl order.
        follow_redirect: the candidate a redirect leads to; None when it is not followed.
        refine: an analysis with what this crawl knows beside its page.
        worker: the frontier's, once the scheduler is open.
    """

    runtime: Runtime
    scope: CrawlScope
    policy: FollowPolicy
    order: CrawlOrder
    asked: Mapping[str, str]
    limits: Limits
    journal: CrawlJournal = field(default_factory=CrawlJournal)
    discovery: SiteDiscovery | None = None
    follow_redirect: Callable[[Lease, str, FollowPolicy], Candidate | None] = follow_redirect
    refine: Callable[[Lease, PageAnalysis], PageAnalysis] = _as_it_is
    worker: FrontierWorker = field(init=False)

    def robots_read(self, url: str, body: bytes) -> None:
        """The robots.txt at *url* was read: it names what to ask the host for beside links."""
        if self.discovery is not None:
            candidates = self.discovery.robots_read(url, body, self.policy)
            if candidates:
                self.worker.enqueue(candidates)


def usual_limits(options: Options) -> Limits:
    """When a run stops on its own, by its options."""
    return Limits(
        options["QIAO_MAX_PAGES"], options["QIAO_MAX_PAGES_PER_HOST"], options["QIAO_MAX_SECONDS"]
    )


# Weak keys: a process may run several crawls one after the other.
_crawls: WeakKeyDictionary[Crawler, CrawlContext] = WeakKeyDictionary()


def share_crawl(crawler: Crawler, crawl: CrawlContext) -> None:
    """Make *crawl* the crawl of *crawler*."""
    _crawls[crawler] = crawl


def find_crawl(crawler: Crawler) -> CrawlContext | None:
    """The crawl of *crawler*; None where the frontier is not used, as for a single page."""
    return _crawls.get(crawler)


def crawl_of(crawler: Crawler) -> CrawlContext:
    """The crawl of *crawler*, which uses the frontier."""
    return _crawls[crawler]


# --- One `Runtime` a crawler, and options out of settings ----------------------------------------

frontier_closing = object()
"""Sent when all fetches of a run are over, while the store is still open."""

_runtimes: WeakKeyDictionary[Crawler, Runtime] = WeakKeyDictionary()


def options_from_settings(settings: BaseSettings) -> Options:
    """The run's options: ``-s`` over the environment over ``settings.py``.

    Raises:
        ConfigError: a wrong value or an unknown ``QIAO_*`` name, wherever it was given.
    """
    # -s on the command line and custom_settings of a spider win over the environment.
    strong = SETTINGS_PRIORITIES["spider"]
    names = [name for name in settings if isinstance(name, str) and name.startswith(PREFIX)]
    in_file = {n: settings[n] for n in names if (settings.getpriority(n) or 0) < strong}
    on_command_line = {n: settings[n] for n in names if (settings.getpriority(n) or 0) >= strong}
    # Later entries win.
    return Options({**in_file, **given_in_environment(), **on_command_line})


def runtime_of(crawler: Crawler) -> Runtime:
    """The shared objects of *crawler*'s run, built at the first call.

    Scrapy opens and closes pipelines at the same time, so none of them can own what
    another needs; the runtime is closed after all of them, on ``spider_closed``.
    """
    if crawler not in _runtimes:
        runtime = Runtime(options_from_settings(crawler.settings))
        _runtimes[crawler] = runtime
        crawler.signals.connect(runtime.close, signal=signals.spider_closed, weak=False)
    return _runtimes[crawler]


def find_runtime(crawler: Crawler) -> Runtime | None:
    """The shared objects of *crawler*'s run; None while there are none."""
    return _runtimes.get(crawler)


# --- What spiders hand to the pipelines: a leased URL and what came back for it -------------------

LOGIN_STEP = "qiaocrawl_login_step"
"""Request meta key: a step of a login, whose address may hold a ticket."""


@dataclass(frozen=True, slots=True)
class RenderLesson:
    """What *learning* is to learn from a page, as it was extracted, once it is stored."""

    learning: RenderModel
    extracted: PageAnalysis


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page as it was fetched; *picture* of it in the browser, until it is stored."""

    lease: Lease
    page: FetchedPage
    picture: PagePicture | None = None

    def __repr__(self) -> str:
        return f"<CrawledPage {self.page.url}>"


@dataclass(frozen=True, slots=True)
class AnalysedPage:
    """A page from its extraction on; each further stage fills in its part.

    Attributes:
        rendering: what it teaches about pages that need a browser.
        missing_page: what it shows of pages that do not exist on its host.
        followed: its links, as the crawl's order chose among them.
        article_url_id: of the URL whose article was committed with the page; None for none.
    """

    lease: Lease
    page: FetchedPage
    analysis: PageAnalysis
    rendering: RenderLesson | None = None
    missing_page: MissingPage | None = None
    followed: FollowedPage | None = None
    article_url_id: int | None = None

    def __repr__(self) -> str:
        return f"<AnalysedPage {self.page.url}>"


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


CrawlItem = CrawledPage | AnalysedPage | SearchedPage
