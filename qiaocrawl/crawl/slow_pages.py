"""Pages that are analysed apart: those too slow for an ordinary slot, and suspects.

They leave Scrapy's pipelines, where a large waiting page would hold up all others, and return
to them with their analysis. Meanwhile only their lease is kept: the page itself is stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from scrapy.exceptions import DropItem

from qiaocrawl.crawl.context import AnalysedPage, crawl_of, frontier_closing, runtime_of
from qiaocrawl.errors import ConfigError, ExtractionError, StorageError
from qiaocrawl.fetch.failure_policy import FailurePolicy
from qiaocrawl.items import Outcome, PageAnalysis
from qiaocrawl.runtime.analysis_slots import QUICK_BYTES
from qiaocrawl.storage import frontier
from qiaocrawl.storage.pages.raw_pages import load_page_if_readable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.items import FetchedPage, Lease
    from qiaocrawl.runtime.runtime import Runtime

# --- Pages that may have killed a worker are tried alone, with a mark in the database meanwhile
# See :mod:`qiaocrawl.storage.frontier.lifecycle` for what becomes of the mark.

T = TypeVar("T")

CALM_SECONDS = 5.0
"""How long a run must have lived before it tries a page again that a worker died with alone.

So what kills runs shortly after they begin is not blamed on that page.
"""

_suspects: WeakKeyDictionary[Crawler, Suspects] = WeakKeyDictionary()


def suspects_of(crawler: Crawler) -> Suspects:
    """The suspects of *crawler*'s run, made at the first call."""
    if crawler not in _suspects:
        _suspects[crawler] = Suspects(runtime_of(crawler))
    return _suspects[crawler]


class Suspects:
    """Lets one suspect be tried at a time."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._alone = asyncio.Lock()
        self._began_at = time.monotonic()

    def calm_seconds(self, lease: Lease) -> float:
        """How long *lease* still has to wait: longer with each death it is suspected of."""
        # A stored page has died with n workers for crashes = 1 + n; one that was never stored
        # counts the first death too.
        wanted = CALM_SECONDS * (lease.crashes - lease.stored)
        return max(0.0, self._began_at + wanted - time.monotonic())

    @asynccontextmanager
    async def alone(
        self, lease: Lease | None, first: Callable[[], Awaitable[T]] | None = None
    ) -> AsyncIterator[T | None]:
        """If this process dies within the block, the death counts against *lease*.

        Only where *lease* is a suspect; for all others nothing is written.

        Args:
            first: awaited before the block begins; the block gets its result.
        """
        if lease is None or not lease.crashes:
            yield await first() if first is not None else None
            return
        await asyncio.sleep(self.calm_seconds(lease))
        # One at a time: with two marked suspects a death would not say which one did it.
        async with self._alone:
            entered = await first() if first is not None else None
            await self._runtime.write(lambda c: frontier.mark(c, lease))
            try:
                yield entered
            finally:
                await self._runtime.write(lambda c: frontier.unmark(c, lease))


# From two slow pages on a host gets no more time in ordinary slots, until its quick pages make up
# for them: four for each, or a host with a slow page between two quick ones would go on for ever.
_SLOW_PAGE = 4
_MOST_SLOWNESS = 2 * _SLOW_PAGE
# With more pages of one host than this waiting here, the host is asked for nothing.
_MOST_OF_HOST = 4

logger = logging.getLogger(__name__)

_all: WeakKeyDictionary[Crawler, SlowPages] = WeakKeyDictionary()


class AnalysedApart(DropItem):
    """The page is analysed apart, and comes back."""


def slow_pages_of(crawler: Crawler) -> SlowPages:
    """The slow pages of *crawler*'s run, made at the first call."""
    if crawler not in _all:
        _all[crawler] = SlowPages(crawler)
    return _all[crawler]


def set_aside(reason: str) -> PageAnalysis:
    """The analysis that is stored for a page that cannot be analysed."""
    return PageAnalysis(
        Outcome.POISON, None, (), charset="", charset_source="unread", reason=reason
    )


class SlowPages:
    """Analyses pages one at a time in the separate slot, the hosts in turn."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._runtime = runtime_of(crawler)
        self._suspects = suspects_of(crawler)
        self._waiting: deque[Lease] = deque()
        self._waiting_of: Counter[str] = Counter()
        self._slowness: Counter[str] = Counter()
        # One page more than there are workers, so that none of them waits for the next page: what
        # has entered an ordinary slot's queue is tried there, whatever is learnt of its host.
        self.ordinary_places = asyncio.Semaphore(self._runtime.options["QIAO_EXTRACT_WORKERS"] + 1)
        self._last_host = ""
        self._task: asyncio.Task[None] | None = None
        crawler.signals.connect(self._close, signal=frontier_closing)

    def is_for(self, lease: Lease, page: FetchedPage) -> bool:
        """Whether *page* must not be tried in an ordinary slot."""
        is_large = len(page.body) > QUICK_BYTES
        # A page that may have killed a worker is never analysed beside others.
        return bool(lease.crashes) or is_large or self._slowness[lease.host] >= _MOST_SLOWNESS

    def note_outlasted(self, lease: Lease) -> None:
        """Note that *lease* used up an ordinary slot's time."""
        self._slowness[lease.host] += _SLOW_PAGE

    def was_quick(self, host: str) -> None:
        """Note that a page of *host* needed little time."""
        if host in self._slowness:
            self._slowness[host] -= 1
            if self._slowness[host] <= 0:
                del self._slowness[host]

    def take(self, lease: Lease) -> None:
        """Analyse the stored page of *lease* when its turn comes."""
        self._crawler.stats.inc_value("qiaocrawl/extract/apart")
        self._waiting_of[lease.host] += 1
        if self._waiting_of[lease.host] > _MOST_OF_HOST:
            self._ask_no_more(lease.host)
        # Suspects wait until the run has lived for a while; slow pages come at once.
        wait = self._suspects.calm_seconds(lease) if lease.crashes else 0.0
        asyncio.get_running_loop().call_later(wait, self._enter, lease)

    def _ask_no_more(self, host: str) -> None:
        seconds = self._runtime.options["QIAO_EXTRACT_SECONDS"] * self._waiting_of[host]
        logger.info(
            "%s: %d pages wait to be analysed apart, since its pages are slow; it is asked"
            " for nothing for %.0f s",
            host,
            self._waiting_of[host],
            seconds,
        )
        self._crawler.stats.inc_value("qiaocrawl/extract/hosts_waiting")
        self._worker.park_here(host, seconds)

    def _enter(self, lease: Lease) -> None:
        self._waiting.append(lease)
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
            self._task.add_done_callback(self._worker.ending.pump_ended)

    async def _run(self) -> None:
        try:
            while self._waiting and not self._runtime.stopping:
                lease = self._next()
                # The lease was lost meanwhile: another worker analyses the page.
                if self._worker.holds(lease):
                    await self._pass_on(lease)
        except CancelledError:
            return  # the crawl is stopping; the next run has the stored pages
        except StorageError as error:
            self._worker.stop("storage_error", error)
        except ConfigError as error:
            # No worker process could be started at all: no page is at fault.
            self._worker.stop("config_error", error)
        except ExtractionError as error:
            self._worker.stop("internal_error", error)

    async def _pass_on(self, lease: Lease) -> None:
        """Analyse *lease*, and send it through the pipelines as if it came from the spider."""
        # Read again from the database: only leases wait here, since pages may be large.
        page = await self._runtime.read(partial(load_page_if_readable, url_id=lease.url_id))
        if page is None:
            self._worker.forget(lease)
            return
        analysis = await self._analysis(lease, page)
        engine = self._crawler.engine
        assert engine is not None
        await engine.scraper.start_itemproc_async(
            AnalysedPage(lease, page, analysis), response=None
        )

    def _next(self) -> Lease:
        """The page that came first; if possible of another host than the last one."""
        others = (lease for lease in self._waiting if lease.host != self._last_host)
        lease = next(others, self._waiting[0])
        self._waiting.remove(lease)
        self._last_host = lease.host
        self._waiting_of[lease.host] -= 1
        if not self._waiting_of[lease.host]:
            del self._waiting_of[lease.host]
        return lease

    async def _analysis(self, lease: Lease, page: FetchedPage) -> PageAnalysis:
        # The first of its crashes only made it a suspect (see storage.frontier.deaths).
        deaths = lease.crashes - 1
        if FailurePolicy.of(self._runtime.options).is_poison(deaths):
            return set_aside(f"{deaths} workers died while this page was tried alone")
        # Started before the mark is set: if the worker process cannot start, the page is
        # not to blame.
        await self._runtime.analysis.slots.make_ready()
        try:
            async with self._suspects.alone(lease):
                analysis = await self._runtime.analysis.analyse(page, alone=True)
        except ExtractionError as error:
            self._crawler.stats.inc_value("qiaocrawl/extract/set_aside")
            return set_aside(str(error))
        self.was_quick(lease.host)
        return analysis

    async def _close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    @property
    def _worker(self) -> FrontierWorker:
        return crawl_of(self._crawler).worker
