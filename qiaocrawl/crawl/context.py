"""What spider, scheduler, pipelines and middlewares of one crawl share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from qiaocrawl.frontier.completion import CrawlJournal
from qiaocrawl.frontier.host_slots import Limits
from qiaocrawl.items import Candidate, Lease, PageAnalysis
from qiaocrawl.runtime.follow_links import FollowPolicy, follow_redirect

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.frontier.ordering import FrontierOrder
    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.options import Options
    from qiaocrawl.runs.site import SiteDiscovery
    from qiaocrawl.runtime.runtime import CrawlScope, Runtime


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
    ordering: FrontierOrder
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
