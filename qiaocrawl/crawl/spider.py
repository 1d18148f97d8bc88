"""The spider all ours are built on: the edge where Scrapy's objects become our records."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest

from qiaocrawl.crawl.host_failures import HostCare, host_name
from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.network.pacing import turns_of
from qiaocrawl.crawl.responses import fetched_page
from qiaocrawl.crawl.slow_pages import AnalysedApart
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.errors import (
    AddressRefusedError,
    BlockedError,
    BrowserLostError,
    ConfigError,
    HostParkedError,
    LoginPageError,
    ProxiesRestError,
    QiaoError,
    RobotsUnreachableError,
    SessionRestError,
    StorageError,
    TrapError,
)
from qiaocrawl.fetch.backoff import backoff_seconds
from qiaocrawl.fetch.status import BUSY_STATUSES, FetchDecision, judge_fetch
from qiaocrawl.frontier import CrawlTopic, LearningStrategy, Strategy, make_strategy
from qiaocrawl.frontier.learning_order import LearnedOrdering
from qiaocrawl.frontier.limits import Limits
from qiaocrawl.frontier.ordering import CrawlOrdering
from qiaocrawl.items import Candidate, FetchedPage, Lease, Outcome, PageAnalysis, Queue
from qiaocrawl.runtime import CrawlScope, Runtime
from qiaocrawl.stages.follow_links import FollowPolicy, follow_redirect

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from sqlalchemy import Connection
    from twisted.python.failure import Failure

    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.runs.site import SiteDiscovery

# Times a URL waits for a busy host before it fails. With the default pauses (2, 8, 32 s, then three
# counted tries) a host that stays away is given up after two minutes.
_PATIENCE = 3
# What shows that the host is there, though it gave no page.
_ANSWERS = (BlockedError, DownloadCancelledError, IgnoreRequest, LoginPageError)


class FrontierSpider(Spider):
    """A spider whose URLs come from the frontier and whose every fetch ends in an outcome.

    Subclasses set ``queue`` and ``allowed_arguments``, build ``scope`` and ``policy`` in
    :meth:`prepare`, name their crawl order in :meth:`choose_strategy`, and propose start
    candidates in :meth:`seeds`.
    """

    queue: ClassVar[Queue]
    allowed_arguments: ClassVar[Mapping[str, str]] = {}

    runtime: Runtime
    worker: FrontierWorker
    topic: str
    scope: CrawlScope
    policy: FollowPolicy
    ordering: CrawlOrdering
    care: HostCare
    discovery: SiteDiscovery | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments and open what the run shares.

        Raises:
            SystemExit: a wrong argument or option, with one clear line (exit code 1).
        """
        spider = super().from_crawler(crawler, *args)
        spider.waited = {}
        spider.arguments = {name: str(value) for name, value in kwargs.items()}
        try:
            spider.check_arguments()
            spider.runtime = runtime_of(crawler)
            spider.care = HostCare(spider)
            spider.prepare()
            spider.prepare_order()
            spider.runtime.check_choices()
        except QiaoError as error:
            # Scrapy would bury the message under a traceback.
            sys.exit(f"qiaocrawl: {error}")
        return spider

    arguments: dict[str, str]
    asked: dict[str, str]
    """What the run's record says was asked: arguments and crawl order."""
    waited: dict[int, int]
    """How often a URL was put back because its host asked to wait."""

    def check_arguments(self) -> None:
        """Refuse unknown ``-a`` arguments and a missing topic, naming what is allowed."""
        known = {"topic": "name of an imported topic", **self.allowed_arguments}
        # scrapyd gives every job its number.
        for name in self.arguments.keys() - known.keys() - {"_job"}:
            allowed = ", ".join(f"{key}= ({help})" for key, help in known.items())
            raise ConfigError(f"spider {self.name!r} has no argument {name!r}; it takes {allowed}")
        self.topic = self.arguments.get("topic", "")
        if not self.topic:
            raise ConfigError(f"spider {self.name!r} needs -a topic=NAME")

    def prepare(self) -> None:
        """Set ``scope`` and ``policy`` from arguments and topic."""
        raise NotImplementedError(f"{type(self).__name__}.prepare")

    def choose_strategy(self) -> tuple[str, str]:
        """Name and options of the crawl order."""
        return "bfs", ""

    def prepare_order(self) -> None:
        """Make the crawl order, and have pages judged as it wants before the workers start.

        Raises:
            ConfigError: there is no such strategy, or one of its options is wrong.
        """
        name, options = self.choose_strategy()
        pack = self.runtime.catalogue.pack(self.topic)
        strategy: Strategy | LearningStrategy = make_strategy(name, CrawlTopic(pack), options)
        if self.queue is not Queue.SEARCH:
            self.runtime.judge_pages_for(self.topic, strategy.page_scorer)
        if isinstance(strategy, LearningStrategy):
            self.ordering = LearnedOrdering(strategy, self.runtime, self.scope)
        else:
            self.ordering = CrawlOrdering(strategy)
        self.asked = {**self.arguments, "strategy": name, "strategy_options": options}

    def seeds(self) -> list[Candidate]:
        """Candidates this run starts from, beside what already waits in the frontier."""
        return []

    def limits(self) -> Limits:
        """When this run stops on its own."""
        options = self.runtime.options
        return Limits(
            options["QIAO_MAX_PAGES"], options["QIAO_MAX_PAGES_PER_HOST"],
            options["QIAO_MAX_SECONDS"],
        )

    def refine(self, lease: Lease, analysis: PageAnalysis) -> PageAnalysis:
        """*analysis* with what this crawl knows beside its page."""
        return analysis

    def page_arrives(self, c: Connection, item: CrawlItem) -> None:
        """Write more in the transaction that stores a page, before anything is made of it."""

    def page_arrived(self, item: CrawlItem) -> None:
        """That is committed: memories may know of it."""

    def try_fails(self, c: Connection, lease: Lease, reason: str) -> None:
        """Write more in the transaction that puts *lease* back for another try."""

    def page_closes(self, c: Connection, item: CrawledPage) -> None:
        """Write more in the transaction that closes an analysed page, before all else."""

    def request_meta(self, lease: Lease) -> dict[str, Any]:
        """What the requests of this spider carry beside their lease."""
        return {}

    def request_headers(self, lease: Lease) -> Mapping[str, str]:
        """Headers the requests of this spider carry beside the usual ones."""
        return {}

    def request_parts(self, lease: Lease) -> Mapping[str, Any]:
        """What else is not as usual: ``url``, ``method``, ``body`` or ``headers`` (all of them)."""
        return {}

    def declines(self, lease: Lease) -> str:
        """Why *lease* is given back unasked after all; "" to ask it. It waits again then."""
        return ""

    def robots_read(self, url: str, body: bytes) -> None:
        """The robots.txt at *url* was read: what the host is to be asked for beside links."""
        if self.discovery is not None:
            found = self.discovery.robots_read(url, body, self.policy)
            if found:
                self.worker.offer(found)

    async def start(self) -> AsyncIterator[Request]:
        """Propose the seeds; everything else the frontier hands out itself."""
        for candidate in self.seeds():
            yield Request(candidate.url, meta={"candidate": candidate}, dont_filter=True)

    # --- the edge -----------------------------------------------------------------------

    async def parse(self, response: Response) -> AsyncIterator[CrawlItem]:
        """A response arrived: store it if it is a page, record what else it is.

        An error in here comes back through :meth:`on_spider_error`.
        """
        lease: Lease = response.meta["lease"]
        self.worker.left_downloader(lease, answered=True)
        self.count("pages")
        page = fetched_page(response)
        if page.status not in BUSY_STATUSES:
            await turns_of(self.crawler).answered(host_name(lease))
        decision = self.judge(page)
        if decision is None:
            yield self.page_item(lease, page)
        else:
            await self.record(lease, page, decision)

    def judge(self, page: FetchedPage) -> FetchDecision | None:
        """What the status says; None when the page is to be read."""
        longest: float = self.runtime.options["QIAO_MAX_RETRY_AFTER_SECONDS"]
        return judge_fetch(page, longest_park_seconds=longest)

    def page_item(self, lease: Lease, page: FetchedPage) -> CrawlItem:
        """The item a readable page becomes."""
        return CrawledPage(lease, page)

    def redirect_target(self, lease: Lease, target: str) -> Candidate | None:
        """The candidate a redirect of *lease* leads to; None when it is not followed."""
        return follow_redirect(lease, target, self.policy)

    async def record(self, lease: Lease, page: FetchedPage, decision: FetchDecision) -> None:
        """Store the outcome of a fetch that brought no page to read."""
        if decision.outcome is Outcome.RETRY:
            if page.status in BUSY_STATUSES:
                await self.leave_host_alone(lease, decision.reason, decision.park_seconds)
            else:
                await self.try_again(lease, decision.reason)
            return
        target = None
        if decision.outcome is Outcome.REDIRECT:
            target = self.redirect_target(lease, decision.target)
            if target is not None and target.key == lease.key:
                # A cookie wall: the cookie is in the jar now, so the next try may pass.
                await self.try_again(lease, f"{decision.reason} to itself")
                return
        mine = await self.finish(
            lease, decision.outcome, decision.reason, status=page.status,
            also=self.runtime.offering([target]) if target else None,
            redirect_key=target.key if target else None,
        )
        if mine and decision.outcome is Outcome.REDIRECT:
            for memory in (self.worker.aliases, self.discovery):
                if memory is not None:
                    memory.redirected(lease.url, decision.target)
        if mine and target is not None:
            self.ordering.offered([target])

    async def on_failure(self, failure: Failure) -> None:
        """No response came: refused, unreachable, too large, or the crawl is stopping."""
        lease: Lease = failure.request.meta["lease"]  # type: ignore[attr-defined]
        error = failure.value
        self.worker.left_downloader(lease, answered=isinstance(error, _ANSWERS))
        reason = f"{type(error).__name__}: {error}"[:300]
        if isinstance(error, AddressRefusedError):
            await self.finish(lease, Outcome.REFUSED, str(error))
        elif isinstance(error, BlockedError):
            await self.care.blocked(lease, error)
        elif isinstance(error, ProxiesRestError):
            self.care.without_proxy(lease, error)
        elif isinstance(error, TrapError):
            await self.finish(lease, Outcome.TRAP, str(error))
        elif isinstance(error, HostParkedError):
            self.worker.park(lease.host, error.seconds)
            self.worker.give_back(lease, str(error))
        elif isinstance(error, StorageError):
            self.worker.stop("storage_error", error)
        elif isinstance(error, RobotsUnreachableError):
            if self.care.silent_robots(lease, error):
                return
            await self.leave_host_alone(lease, str(error), error.retry_seconds)
        elif isinstance(error, SessionRestError):
            self.wait_for_session(lease, error)
        elif isinstance(error, LoginPageError):
            await self.finish(lease, Outcome.LOGIN, str(error))
        elif isinstance(error, IgnoreRequest):
            # Scrapy ignores what robots.txt forbids, and bodies that unpack without end.
            forbidden = "robots.txt" in str(error)
            await self.finish(
                lease, Outcome.ROBOTS if forbidden else Outcome.TOO_LARGE, str(error)
            )
        elif isinstance(error, DownloadCancelledError):
            if not self.runtime.stopping:
                await self.finish(lease, Outcome.TOO_LARGE, reason)
            # A stopping crawl gives the lease back when it closes.
        elif isinstance(error, BrowserLostError):
            await self._abandon(lease, failure)
        else:
            await self.care.silent(lease, error)
            await self.try_again(lease, reason)

    # --- what went wrong behind the edge ------------------------------------------------

    async def on_item_dropped(self, item: CrawlItem, exception: BaseException) -> None:
        """A stage dropped the page: its lease was lost, or the crawl is stopping."""
        if isinstance(exception, AnalysedApart):
            return
        if not self.runtime.stopping and self.worker.holds(item.lease):
            self.worker.forget(item.lease)

    async def on_item_error(self, item: CrawlItem, failure: Failure) -> None:
        """A stage failed: the page gets another try, and is set aside after too many."""
        await self._abandon(item.lease, failure)

    async def on_spider_error(self, failure: Failure, response: Response | None) -> None:
        """The spider itself failed on a response; nothing may wait for ever for its outcome.

        None when its ``start()`` failed: Scrapy closes the crawl with ``start_error`` then.
        """
        lease = response.meta.get("lease") if response is not None and response.request else None
        if lease is not None:
            await self._abandon(lease, failure)

    async def _abandon(self, lease: Lease, failure: Failure) -> None:
        if not self.worker.holds(lease):
            return
        error = failure.value
        self.count("errors")
        if isinstance(error, StorageError):
            # Not the page's fault; its lease is given back when the crawl stops.
            self.worker.stop("storage_error", error)
            return
        reason = f"{type(error).__name__}: {error}"[:300]
        if lease.failures + 1 >= self.runtime.options["QIAO_FRONTIER_MAX_FAILURES"]:
            await self.finish(lease, Outcome.POISON, reason)
        else:
            await self.try_again(lease, reason)

    # --- outcomes -------------------------------------------------------------------------

    async def finish(
        self, lease: Lease, outcome: Outcome, reason: str, *, status: int | None = None,
        also: Callable[[Connection], None] | None = None, redirect_key: bytes | None = None,
    ) -> bool:  # fmt: skip
        """Close *lease* without a page; *also* writes more in the same transaction.

        Returns:
            False when the lease was lost: nothing is written then.
        """
        mine = await self.worker.complete(
            lease, outcome, reason=reason, http_status=status, also=also,
            redirect_key=redirect_key,
        )
        self.count(f"outcome/{outcome}" if mine else "lease_lost")
        return mine

    async def leave_host_alone(self, lease: Lease, reason: str, seconds: float) -> None:
        """The host asks to wait: nothing of it is asked meanwhile, and no failure is counted.

        Each URL is patient a few times; a host that stays busy is a failing one then.
        """
        waited = self.waited[lease.url_id] = self.waited.get(lease.url_id, 0) + 1
        pause = await turns_of(self.crawler).park(host_name(lease), seconds)
        self.worker.park(lease.host, pause)
        self.count("politeness/parked")
        if waited <= _PATIENCE:
            until = datetime.fromtimestamp(time.time() + pause, UTC)
            self.worker.give_back(lease, f"host asks to wait until {until:%H:%M:%S}: {reason}")
        else:
            await self.try_again(lease, reason, at_least_seconds=pause)

    def wait_for_session(self, lease: Lease, error: SessionRestError) -> None:
        """No account may be used for *lease* now: it waits, and no failure is counted."""
        if error.retry_seconds:
            self.worker.park(lease.host, error.retry_seconds)
        self.worker.give_back(lease, str(error)[:300])
        self.count("session/put_back")

    async def try_again(
        self, lease: Lease, reason: str, *, at_least_seconds: float = 0.0
    ) -> None:
        """Put *lease* back with a growing pause, or give it up after too many failures."""
        options = self.runtime.options
        if lease.failures + 1 >= options["QIAO_FRONTIER_MAX_FAILURES"]:
            await self.finish(lease, Outcome.UNREACHABLE, reason)
            return
        pause = backoff_seconds(lease.failures + 1, options["QIAO_FRONTIER_RETRY_SECONDS"])
        mine = await self.worker.retry(
            lease, reason=reason, pause_seconds=max(pause, at_least_seconds),
            also=lambda c: self.try_fails(c, lease, reason),
        )
        self.count(f"outcome/{Outcome.RETRY}" if mine else "lease_lost")

    def count(self, name: str, by: int = 1) -> None:
        """Count under ``qiaocrawl/``."""
        self.crawler.stats.inc_value(f"qiaocrawl/{name}", by)
