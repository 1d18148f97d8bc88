"""The spider all ours are built on: the edge where Scrapy's objects become our records."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider
from scrapy.exceptions import DownloadCancelledError

from qiaocrawl.crawl.host_failures import (
    HostFailureHandler,
    host_name,
    is_answer,
    words_of,
)
from qiaocrawl.crawl.items import CrawledPage, CrawlItem
from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.crawl.network.pacing import turns_of
from qiaocrawl.crawl.responses import fetched_page
from qiaocrawl.crawl.slow_pages import AnalysedApart
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.errors import (
    ConfigError,
    QiaoError,
    StorageError,
)
from qiaocrawl.fetch.failure_policy import (
    Close,
    FailureKind,
    FailurePolicy,
    FetchFailure,
    Release,
    Retry,
)
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
    failure_policy: FailurePolicy
    host_failures: HostFailureHandler
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
            access_of(crawler)  # Its options are checked before anything starts.
            spider.failure_policy = FailurePolicy.of(spider.runtime.options)
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
                failure = await self.host_failures.busy(
                    lease, decision.reason, decision.park_seconds
                )
            else:
                failure = FetchFailure(FailureKind.NO_PAGE, decision.reason)
            await self.fail(lease, failure)
            return
        target = None
        if decision.outcome is Outcome.REDIRECT:
            target = self.redirect_target(lease, decision.target)
            if target is not None and target.key == lease.key:
                # A cookie wall: the cookie is in the jar now, so the next try may pass.
                reason = f"{decision.reason} to itself"
                await self.fail(lease, FetchFailure(FailureKind.NO_PAGE, reason))
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
        self.worker.left_downloader(lease, answered=is_answer(error))
        if isinstance(error, StorageError):
            self.worker.stop("storage_error", error)
        elif isinstance(error, DownloadCancelledError) and self.runtime.stopping:
            return  # The lease is given back when the crawl closes.
        else:
            await self.fail(lease, await self.host_failures.failure_of(lease, error))

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
        await self.fail(lease, FetchFailure(FailureKind.INTERNAL, words_of(error)))

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

    async def fail(self, lease: Lease, failure: FetchFailure) -> None:
        """Do with *lease* what the failure policy decides."""
        waits = self.waited.get(lease.url_id, 0)
        if failure.kind is FailureKind.BUSY:
            self.waited[lease.url_id] = waits + 1
        decision = self.failure_policy.decide(failure, failures=lease.failures, waits=waits)
        self.host_failures.count_decision(failure, decision)
        match decision:
            case Close():
                await self.finish(lease, decision.outcome, decision.reason)
            case Release():
                self.worker.release(lease, decision.reason)
            case Retry():
                await self._retry(lease, decision)

    async def _retry(self, lease: Lease, decision: Retry) -> None:
        mine = await self.worker.retry(
            lease, reason=decision.reason, pause_seconds=decision.pause_seconds,
            also=lambda c: self.try_fails(c, lease, decision.reason),
        )
        self.count(f"outcome/{Outcome.RETRY}" if mine else "lease_lost")

    def count(self, name: str, by: int = 1) -> None:
        """Count under ``qiaocrawl/``."""
        self.crawler.stats.inc_value(f"qiaocrawl/{name}", by)
