"""Scrapy's scheduler over the frontier table: leases become requests.

``has_pending_requests`` turns False only when no row of the scope is pending or leased, by
this process or another, so a crawl never says "finished" while work remains.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from qiaocrawl.crawl.context import crawl_of, frontier_closing, runtime_of
from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.crawl.retry import DelayedRequests
from qiaocrawl.crawl.spider import FrontierSpider
from qiaocrawl.errors import SchemaError, StorageError
from qiaocrawl.frontier.completion import LeaseEnd
from qiaocrawl.frontier.host_slots import Fetches
from qiaocrawl.frontier.worker import FrontierWorker
from qiaocrawl.items import Outcome
from qiaocrawl.reading.summary import refused_pages
from qiaocrawl.runs.run_summary import article_numbers
from qiaocrawl.runtime.crawl_rows import rows_of
from qiaocrawl.runtime.run_end import (
    END_REASON,
    NOBODY_ANSWERED,
    SEED_SET_ASIDE,
    START_REFUSED,
)
from qiaocrawl.storage import frontier
from qiaocrawl.storage.frontier.lifecycle import seeds_set_aside

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

# A polite stop lets running fetches end for this long; container and scrapyd kill after 10 s.
_GRACE_SECONDS = 4.0
# Scrapy has no signal for the moment at which a crawl begins to close.
_WATCH_SECONDS = 0.25
# Beyond the grace period a database that is away or hangs is waited for this long.
_STORE_SECONDS = 4.0


class FrontierScheduler(BaseScheduler):
    """Hands out the frontier's leases as requests and accounts for them."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)
        self._worker: FrontierWorker | None = None
        self._watch_task: asyncio.Task[None] | None = None
        first_seconds = self._runtime.options["QIAO_FRONTIER_RETRY_SECONDS"]
        self._delayed = DelayedRequests(first_seconds, self._wake)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor.

        Raises:
            SystemExit: the settings left our add-on out, which checks the options.
        """
        if not any("QiaoAddon" in str(name) for name in crawler.settings.getdict("ADDONS")):
            sys.exit("qiaocrawl: ADDONS lacks 'qiaocrawl.crawl.addon.QiaoAddon': add it, with 0")
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Connect the spider to the frontier and reclaim the leases of dead workers."""
        if not isinstance(spider, FrontierSpider):
            raise TypeError(f"spider {spider.name!r} is no FrontierSpider")
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: FrontierSpider) -> None:
        settings = self._crawler.settings
        access, crawl = access_of(self._crawler), spider.crawl
        self._worker = FrontierWorker(
            self._runtime,
            crawl.scope,
            limits=crawl.limits,
            order=crawl.order,
            fetches=Fetches(
                # As many as Scrapy fetches at once, per host and in all: more leases
                # would only wait.
                settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
                settings.getint("CONCURRENT_REQUESTS"),
                access.rest_seconds,
                access.is_on_trial,
            ),
            run_id=await self._runtime.start_run(spider.name, spider.topic, crawl.asked),
            wake=self._wake,
        )
        spider.open(self._worker)
        connect = self._crawler.signals.connect
        connect(spider.on_item_dropped, signal=signals.item_dropped)
        connect(spider.on_item_error, signal=signals.item_error)
        connect(spider.on_spider_error, signal=signals.spider_error)
        await self._worker.open()
        self._watch_task = asyncio.ensure_future(self._watch_closing())

    def close(self, reason: str) -> Deferred[None] | None:
        """Give leases back, close the run's record and say what remains."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._watch_task is not None:
            self._watch_task.cancel()
        # Before the leases are returned: a database that hangs must not keep the process
        # beyond its time.
        self._hurry_after_signal()
        if self._worker is None:
            return
        try:
            await self._release_leases(reason)
        except StorageError as error:
            self._worker.stop("storage_error", error)
        # A failure while closing is how the run really ended, whatever reason Scrapy has.
        if failure := self._worker.ending.failure:
            self._crawler.stats.set_value(END_REASON, failure)

    async def _release_leases(self, reason: str) -> None:
        """Return the leases and close the run's record.

        Raises:
            StorageError: the database does not take it.
        """
        assert self._worker is not None
        # Before the leases are returned: pages analysed apart still hold theirs.
        await self._crawler.signals.send_catch_log_async(frontier_closing)
        remaining = await self._worker.close()
        await self._check_schema()
        await self._check_seeds()
        if reason != "shutdown":
            self._check_answers()
        await self._close_login_redirects()
        access = access_of(self._crawler)
        await access.close()
        stats = self._crawler.stats
        stats.set_value("qiaocrawl/frontier/remaining", remaining)
        crawl = crawl_of(self._crawler)
        discovery = crawl.discovery
        numbers = {
            **self._worker.numbers(),
            **access.numbers(),
            **(discovery.numbers() if discovery is not None else {}),
            **article_numbers(self._runtime.articles.stored.values(), crawl.scope.topic),
        }
        for name, number in numbers.items():
            stats.set_value(name, number)
        await self._runtime.finish_run(
            self._worker.ending.failure or reason, stats.get_stats(), remaining
        )
        if remaining:
            logger.warning(
                "incomplete (%s): %d URLs still wait; the same command goes on with them",
                reason,
                remaining,
            )

    async def _close_login_redirects(self) -> None:
        """Which redirects lead to a login is known once their targets have been read."""
        stats = self._crawler.stats
        names = ("qiaocrawl/outcome/login", "qiaocrawl/outcome/redirect")
        # A run that met neither has nothing to look for among all rows.
        if any(stats.get_value(name) for name in names) and await self._runtime.read(
            frontier.any_leads_to_login
        ):
            number = await self._runtime.write(frontier.close_redirects_as_login)
            stats.inc_value("qiaocrawl/redirects_to_login", number)

    async def _check_schema(self) -> None:
        """Fail a run whose last pages were written into tables of another version."""
        assert self._worker is not None
        try:
            await self._runtime.look_at_schema(at_once=True)
        except SchemaError as error:
            self._worker.stop("storage_error", error)

    async def _check_seeds(self) -> None:
        """Fail a run whose start pages could not be read: it has not done its task."""
        assert self._worker is not None
        ending = self._worker.ending
        scope = crawl_of(self._crawler).scope
        rows = await self._runtime.write(rows_of(scope))
        seeds = await self._runtime.read(partial(seeds_set_aside, scope=rows))
        for url, why in seeds:
            logger.error("start page set aside: %s (%s)", url, why)
        if seeds:
            logger.error(
                "what these pages lead to was not crawled; `qiaocrawl reprocess --stage "
                "extract` tries them again, with more time by QIAO_EXTRACT_SECONDS"
            )
            ending.failure = ending.failure or SEED_SET_ASIDE
        await self._check_start_pages()

    async def _check_start_pages(self) -> None:
        """Fail a run that may not fetch a start page which was named for it, or none at all."""
        assert self._worker is not None
        spider = self._crawler.spider
        assert isinstance(spider, FrontierSpider)
        pages = spider.start_pages
        refused = await self._runtime.read(partial(refused_pages, urls=pages)) if pages else []
        for url, why in refused:
            logger.error("start page not fetched: %s (%s)", url, why)
        is_named = any(url in spider.named_urls for url, _why in refused)
        if is_named or (refused and len(refused) == len(set(pages))):
            ending = self._worker.ending
            ending.failure = ending.failure or START_REFUSED

    def _check_answers(self) -> None:
        """Fail a run that asked and got no answer at all: all may be well but for the network."""
        assert self._worker is not None
        stats = self._crawler.stats
        unanswered = stats.get_value("qiaocrawl/unanswered", 0)
        if unanswered and not stats.get_value("qiaocrawl/pages", 0):
            logger.error(
                "no host answered a request for a page, %d failed: is the network there (names,"
                " proxy, firewall)? `qiaocrawl report missed` names the hosts",
                unanswered,
            )
            ending = self._worker.ending
            ending.failure = ending.failure or NOBODY_ANSWERED

    # --- Scrapy's questions ---------------------------------------------------------

    def has_pending_requests(self) -> bool:
        """True while any row of the scope is pending or leased, or a write is under way."""
        return self._worker is not None and not self._worker.drained

    def enqueue_request(self, request: Request) -> bool:
        """Store the candidate a spider's ``start()`` proposes; others belong in the items.

        The frontier's unique key is the duplicate filter.

        Another try of a request comes here too: its lease is still out.
        """
        # A lease that is out has a row already; proposing it would count it twice.
        if "lease" in request.meta:
            self._delayed.delay(request)
            return True
        candidate = request.meta.get("candidate")
        if candidate is None or self._worker is None:
            raise ValueError(f"request {request.url!r} carries no frontier candidate")
        self._worker.enqueue([candidate])
        return True

    def next_request(self) -> Request | None:
        """The best lease whose host may be asked now."""
        assert self._worker is not None
        # These first: their leases have waited longest.
        if (request := self._delayed.next()) is not None:
            return request
        lease = self._worker.next_lease()
        if self._worker.stop_reason:
            self._stop_crawl(self._worker.stop_reason)
        if lease is None:
            return None
        spider = self._crawler.spider
        assert isinstance(spider, FrontierSpider)
        if why := spider.declines(lease):
            # It never went to the downloader, but its host was counted as asked.
            self._worker.left_downloader(lease)
            self._worker.release(lease, why)
            return self.next_request()
        try:
            return spider.request(lease)
        except (KeyError, ValueError, TypeError) as error:
            # A row that makes no valid request must not hold up the others.
            self._worker.left_downloader(lease)
            reason = f"no request: {type(error).__name__}: {error}"
            end = LeaseEnd(Outcome.DEAD, reason)
            # In the background: this method may not wait.
            asyncio.ensure_future(spider.outcomes.close(lease, end))
            return self.next_request()

    # --- waking and stopping ----------------------------------------------------------

    def _slot(self) -> Any:
        engine = self._crawler.engine
        # _slot is private, but Scrapy offers no other way to see that it is closing.
        return None if engine is None else engine._slot

    def _wake(self) -> None:
        # The engine has no public call for "the scheduler has work again"; without it,
        # leases would wait for its heartbeat of five seconds.
        slot = self._slot()
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    def _stop_crawl(self, reason: str) -> None:
        slot = self._slot()
        if slot is not None and slot.closing is None:
            engine = self._crawler.engine
            assert engine is not None
            asyncio.ensure_future(engine.close_spider_async(reason=reason))

    async def _watch_closing(self) -> None:
        """Once the crawl is closing, cut what would outlast the grace period."""
        while (slot := self._slot()) is None or slot.closing is None:
            await asyncio.sleep(_WATCH_SECONDS)
        await asyncio.sleep(_GRACE_SECONDS)
        self._runtime.stopping = True
        cut = self._runtime.cancel_work()
        logger.info("stopping: %d fetches and analyses cut short; they will be resumed", cut)
        self._hurry_after_signal()

    def _hurry_after_signal(self) -> None:
        """After a signal wait only briefly for storage: its sender kills slow processes."""
        engine = self._crawler.engine
        # engine.running turns false on a signal, but not when a crawl finishes by itself.
        if engine is not None and not engine.running:
            self._runtime.database.limit_wait(_STORE_SECONDS)
