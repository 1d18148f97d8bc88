"""The base of all spiders: here Scrapy's objects become the library's records."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.exceptions import DownloadCancelledError

from qiaocrawl.crawl.context import CrawlContext, CrawledPage, CrawlItem, runtime_of, share_crawl
from qiaocrawl.crawl.fetch_outcomes import FetchOutcomes, host_name, is_answer, words_of
from qiaocrawl.crawl.network.access import access_of
from qiaocrawl.crawl.network.pacing import rate_limiter_of
from qiaocrawl.crawl.slow_pages import AnalysedApart
from qiaocrawl.errors import ConfigError, QiaoError, StorageError
from qiaocrawl.fetch.failure_policy import BUSY_STATUSES, FetchDecision, judge_fetch, judge_type
from qiaocrawl.items import Candidate, FetchedPage, Lease, Outcome, Queue
from qiaocrawl.kernels import check_loops
from qiaocrawl.language import _
from qiaocrawl.runs.watch.round import LOOK
from qiaocrawl.urls import looks_like_document

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from qiaocrawl.frontier.worker import FrontierWorker
    from qiaocrawl.runtime.runtime import Runtime

# --- Scrapy's responses as our records ------------------------------------------------------------

MAY_BE_BLOCK = "qiaocrawl_may_be_block"
"""Key of a request's meta: its answer has the sign of a block, and is taken as it is."""
PICTURE = "qiaocrawl_picture"
"""In a request's meta: the picture of its page, None where the browser took none."""

CONNECTION_LOST = "dataloss"
"""Scrapy's flag of a response whose body broke off before its end."""

# Session cookies would let a reader in as the account that fetched the page.
# Set-Cookie2: RFC 2965, long gone, but sent by old servers.
_NOT_KEPT = frozenset({"set-cookie", "set-cookie2"})


# Weak keys: a record goes with its response.
_records: WeakKeyDictionary[Response, FetchedPage] = WeakKeyDictionary()


def fetched_page(response: Response) -> FetchedPage:
    """*response* as a record, the same at each call; no other place reads Scrapy's responses."""
    page = _records.get(response)
    if page is None:
        page = _records[response] = _record(response)
    return page


def _record(response: Response) -> FetchedPage:
    headers = tuple(
        (lower, value.decode("latin-1"))
        for name, values in response.headers.items()
        if (lower := name.decode("latin-1").lower()) not in _NOT_KEPT
        for value in values
    )
    return FetchedPage(
        url=response.url,
        final_url=response.url,
        # A hostile status line may hold any number.
        status=response.status if 0 <= response.status <= 999 else 0,
        headers=headers,
        body=response.body,
        fetched_at=datetime.fromtimestamp(time.time(), UTC),
        truncated=CONNECTION_LOST in response.flags,
        connection_lost=CONNECTION_LOST in response.flags,
    )


# PDF; the ZIP of Word and Excel files; their older form.
_OF_FILES = (b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class FrontierSpider(Spider):
    """A spider whose URLs come from the frontier and whose every fetch ends in an outcome.

    Subclasses set ``queue`` and ``allowed_arguments``, put their crawl together in :meth:`plan`,
    propose start candidates in :meth:`seeds`, and say in :meth:`request_options` and :meth:`read`
    how their pages are requested and read.
    """

    queue: ClassVar[Queue]
    start_pages: tuple[str, ...] = ()
    """Where none of them may be fetched, the run has not done its task."""
    named_urls: tuple[str, ...] = ()
    """Those the operator named for this run: it takes only one of them."""
    allowed_arguments: ClassVar[Mapping[str, str]] = {}

    arguments: dict[str, str]
    topic: str
    runtime: Runtime
    crawl: CrawlContext
    outcomes: FetchOutcomes

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Check the arguments and open what the run shares.

        Raises:
            SystemExit: a wrong argument or option, with one clear line (exit code 1).
        """
        # Without keyword arguments: Scrapy would make attributes of them, topic above all.
        spider = super().from_crawler(crawler, *args)
        spider.arguments = {name: str(value) for name, value in kwargs.items()}
        try:
            check_loops()
            spider.check_arguments()
            spider.runtime = runtime_of(crawler)
            access_of(crawler)  # Its options are checked before anything starts.
            spider.crawl = spider.plan()
            spider.runtime.check_choices()
            spider.runtime.page_packer.start()
        except QiaoError as error:
            # Scrapy would bury the message under a traceback.
            sys.exit(f"qiaocrawl: {error}")
        share_crawl(crawler, spider.crawl)
        return spider

    def check_arguments(self) -> None:
        """Refuse unknown ``-a`` arguments and a missing topic, naming what is allowed."""
        arguments = {"topic": "name of an imported topic", **self.allowed_arguments}
        # scrapyd adds _job to every job, and _version where an egg was chosen.
        for name in self.arguments.keys() - arguments.keys() - {"_job", "_version"}:
            allowed = ", ".join(f"{key}= ({help})" for key, help in arguments.items())
            raise ConfigError(
                _(
                    "spider {name!r} has no argument {argument!r}; it takes {allowed}",
                    name=self.name,
                    argument=name,
                    allowed=allowed,
                )
            )
        self.topic = self.arguments.get("topic", "")
        if not self.topic:
            raise ConfigError(_("spider {name!r} needs -a topic=NAME", name=self.name))

    # --- what a kind of crawl decides -------------------------------------------------------

    def plan(self) -> CrawlContext:
        """The crawl these arguments ask for.

        Raises:
            ConfigError: they, or the options, name something that does not exist.
        """
        raise NotImplementedError(f"{type(self).__name__}.plan")

    def seeds(self) -> list[Candidate]:
        """Candidates this run starts from, beside what already waits in the frontier."""
        return []

    async def lay_out(self) -> None:
        """What this run writes into the frontier by itself, while leases are handed out."""

    def declines(self, lease: Lease) -> str:
        """Why *lease* is put back without a request after all; "" to fetch it."""
        return ""

    def request_options(self, lease: Lease) -> dict[str, Any]:
        """Arguments of Scrapy's Request that differ from the usual ones for *lease*."""
        return {}

    def read(self, lease: Lease, page: FetchedPage) -> CrawlItem | FetchDecision:
        """The item a response becomes, or the decision on it if there is nothing to read."""
        options = self.runtime.options
        longest: float = options["QIAO_MAX_RETRY_AFTER_SECONDS"]
        decision = judge_fetch(page, longest_park_seconds=longest)
        # Answers of engines and sitemaps are no pages that are kept.
        if lease.queue is not Queue.SEARCH and lease.payload.sitemap is None:
            decision = decision or judge_type(page, options["QIAO_CONTENT_TYPES"])
        return decision or CrawledPage(lease, page)

    def incomplete(self, lease: Lease, page: FetchedPage) -> FetchDecision | None:
        """Ask again for an answer whose connection was lost; None to read what there is.

        The last try is kept as far as it came, unless a part is worth nothing: of a PDF or Word
        file, or in place of an article that is stored whole.
        """
        if not page.connection_lost or lease.stored or not 200 <= page.status < 300:
            return None
        is_last = lease.failures + 1 >= self.runtime.options["QIAO_FRONTIER_MAX_FAILURES"]
        in_vain = page.body.startswith(_OF_FILES) or lease.payload.watch == LOOK
        if is_last and not in_vain and page.body:
            return None
        self.count("connections_lost")
        reason = f"the connection was lost after {len(page.body)} bytes"
        return FetchDecision(Outcome.RETRY, reason)

    # --- the edge -----------------------------------------------------------------------

    def open(self, worker: FrontierWorker) -> None:
        """Called when the frontier is open: leases will come."""
        self.crawl.worker = worker
        self.outcomes = FetchOutcomes(self.crawler, self.crawl)

    async def start(self) -> AsyncIterator[Request]:
        """Propose the seeds; everything else the frontier hands out itself."""
        await self.lay_out()
        for candidate in self.seeds():
            # dont_filter: the frontier's unique key is the filter.
            yield Request(candidate.url, meta={"candidate": candidate}, dont_filter=True)

    def request(self, lease: Lease) -> Request:
        """The request for *lease*: redirects and errors come back as they are."""
        if lease.queue is not Queue.SEARCH:
            # While the page is on its way; a run that asks for none needs no workers.
            self.runtime.analysis.slots.begin()
        options = self.request_options(lease)
        meta = {
            "lease": lease,
            "dont_redirect": True,
            "handle_httpstatus_all": True,
            **options.pop("meta", {}),
        }
        # A PDF may be larger than a page.
        if looks_like_document(lease.url):
            most_bytes = int(self.runtime.options["QIAO_DOCUMENT_MAX_MB"] * 2**20)
            meta.setdefault("download_maxsize", most_bytes)
        return Request(
            **{"url": lease.url, **options},
            meta=meta,
            dont_filter=True,
            callback=self.parse,
            errback=self.on_failure,
        )

    async def parse(self, response: Response) -> AsyncIterator[CrawlItem]:
        """Read a response, or record what it is instead of a page.

        An error in here comes back through :meth:`on_spider_error`.
        """
        lease: Lease = response.meta["lease"]
        # Before anything can fail: the host's slot is free whatever becomes of the page.
        seconds: float = response.meta.get("download_latency", 0.0)
        self.crawl.worker.left_downloader(lease, answered=True, seconds=seconds)
        self.count("pages")
        page = fetched_page(response)
        result = self.incomplete(lease, page) or self.read(lease, page)
        is_busy = isinstance(result, FetchDecision) and result.is_busy
        if not is_busy and page.status not in BUSY_STATUSES:
            # Any answer but "busy" ends the series of refusals that lengthens the host's pauses.
            await rate_limiter_of(self.crawler).note_answer(host_name(lease))
            is_refusal = isinstance(result, FetchDecision) and result.is_refusal
            if not is_refusal and not _may_be_refusal(response):
                self.outcomes.note_answer(lease.host)
        if isinstance(result, FetchDecision):
            await self.outcomes.record(lease, page.status, result)
        elif isinstance(result, CrawledPage):
            yield replace(result, picture=response.meta.get(PICTURE))
        else:
            yield result

    async def on_failure(self, failure: Failure) -> None:
        """No response came: refused, unreachable, too large, or the crawl is stopping."""
        lease: Lease = failure.request.meta["lease"]  # type: ignore[attr-defined]
        error = failure.value
        self.crawl.worker.left_downloader(lease, answered=is_answer(error))
        if isinstance(error, StorageError):
            self.crawl.worker.stop("storage_error", error)
        elif isinstance(error, DownloadCancelledError) and self.runtime.stopping:
            return  # The lease is put back when the crawl closes.
        else:
            await self.outcomes.record_error(lease, error)

    # --- what went wrong behind the edge ------------------------------------------------

    async def on_item_dropped(self, item: CrawlItem, exception: BaseException) -> None:
        """A stage dropped the page: its lease was lost, or the crawl is stopping."""
        if isinstance(exception, AnalysedApart):
            return
        # When the crawl stops, all leases are put back together.
        if not self.runtime.stopping and self.crawl.worker.holds(item.lease):
            self.crawl.worker.forget(item.lease)

    async def on_item_error(self, item: CrawlItem, failure: Failure) -> None:
        """A stage failed: the page gets another try, and is set aside after too many."""
        await self._abandon(item.lease, failure.value)

    async def on_spider_error(self, failure: Failure, response: Response | None) -> None:
        """The spider itself failed on a response; its lease still needs an outcome.

        None when its ``start()`` failed: Scrapy closes the crawl with ``start_error`` then.
        """
        lease = response.meta.get("lease") if response is not None and response.request else None
        if lease is not None:
            await self._abandon(lease, failure.value)

    async def _abandon(self, lease: Lease, error: BaseException | None) -> None:
        if not self.crawl.worker.holds(lease):
            return
        self.count("errors")
        if isinstance(error, StorageError):
            # Not the page's fault; its lease is put back when the crawl stops.
            self.crawl.worker.stop("storage_error", error)
            return
        await self.outcomes.record_fault(lease, words_of(error))

    def count(self, name: str, by: int = 1) -> None:
        """Count under ``qiaocrawl/``."""
        self.crawler.stats.inc_value(f"qiaocrawl/{name}", by)


def _may_be_refusal(response: Response) -> bool:
    """Whether *response* does not show that its host serves us: an error of it, perhaps a block."""
    status = response.status
    is_error = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _REFUSALS
    return is_error or bool(response.meta.get(MAY_BE_BLOCK))
