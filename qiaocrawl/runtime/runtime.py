"""The shared objects of one run, built from the options: store, topics, titles, analysis.

Spiders, pipelines and the scheduler of one crawl hold the same ``Runtime``. It knows the
library, not Scrapy.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from sqlalchemy import Connection

from qiaocrawl.extract.base import extractor_for, extractor_options
from qiaocrawl.items import (
    Candidate,
    FetchedPage,
    PageAnalysis,
    Queue,
    Verdict,
)
from qiaocrawl.options import Options
from qiaocrawl.relevance import page_scorers
from qiaocrawl.replay import RecordedWeb, open_archive
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.stages.analyse_page import AnalysisSetup, JoinedText
from qiaocrawl.stages.analysis_slots import AnalysisSlots
from qiaocrawl.stages.follow_links import FollowPolicy
from qiaocrawl.stages.shared_titles import SharedTitles, index_maker
from qiaocrawl.stages.site_learning import SiteLearning
from qiaocrawl.storage import Database, Reader, Writer, frontier
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.reports import run_log
from qiaocrawl.storage.sites.hosts import host_names
from qiaocrawl.storage.titles.term_weights import rebuild_term_weights

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CrawlScope:
    """The frontier rows of one crawl: a queue of a topic, within the sites of *within*.

    Subdomains come to light during a crawl, so the exact hosts are looked up anew by
    :meth:`Runtime.rows_of`.
    """

    queue: Queue
    topic: str
    within: FollowPolicy | None


class Runtime:
    """Opens the store at once; everything else when it is first needed.

    Args:
        options: the checked options of this run.
        crawling: hold the crawl lock (SQLite runs one crawl at a time).

    Raises:
        SchemaError: the database is not there or of another version; the message says
            which command helps.
        CrawlLockedError: another crawl runs on this SQLite file.
    """

    def __init__(self, options: Options, *, crawling: bool = True) -> None:
        self.options = options
        self.database = Database.open(options["QIAO_DATABASE_URL"])
        self.database.require_current()
        if crawling:
            self.database.lock_crawl(options["QIAO_LOCK_WAIT_SECONDS"])
        outage_seconds: float = options["QIAO_STORAGE_OUTAGE_SECONDS"]
        self.writer = Writer(self.database, outage_seconds=outage_seconds)
        self.reader = Reader(self.database, outage_seconds=outage_seconds)
        self.catalogue = Catalogue(self.reader, options)
        self.stopping = False
        self.downloaders: list[Callable[[], int]] = []
        """What cuts running downloads short and says how many, one for every handler."""
        self._order_topic = self._order_method = ""
        self._run_id: int | None = None
        self._stored_articles = False
        self._titles_loaded = False
        self._closed = False

    def check_choices(self) -> None:
        """Look up every method the options name, and start the workers, before any fetch.

        Raises:
            ConfigError: an extractor, page scorer or deduper that does not exist, or a file
                that an option of theirs names cannot be used.
            ReplayError: a recorded web that cannot be read.
        """
        extractor_for(self.options["QIAO_EXTRACT_METHOD"], self.options)
        page_scorers.get(self.options["QIAO_RELEVANCE_METHOD"])
        _ = self.titles, self.recorded_web, self.slots

    @cached_property
    def recorded_web(self) -> RecordedWeb | None:
        """The recorded web this run crawls instead of the network (QIAO_REPLAY)."""
        path: str = self.options["QIAO_REPLAY"]
        return open_archive(path) if path else None

    # --- reading and writing ------------------------------------------------------------

    async def write(
        self, operation: Callable[[Connection], T],
        first: Callable[[Connection], object] | None = None,
    ) -> T:
        """Run *operation* in the writer's next transaction, off the event loop.

        Args:
            first: what this transaction has to begin with (see :meth:`Writer.submit`).
        """
        return await asyncio.wrap_future(self.writer.submit(operation, first))

    async def read(self, operation: Callable[[Connection], T]) -> T:
        """Run a read-only *operation* off the event loop."""
        return await asyncio.wrap_future(self.reader.submit(operation))

    def write_now(self, operation: Callable[[Connection], T]) -> T:
        """Run *operation* and wait for its commit (start and end of a run, tools)."""
        return self.writer.submit(operation).result()

    # --- the frontier ---------------------------------------------------------------------------

    def scope(self, queue: Queue, topic: str, within: FollowPolicy | None) -> CrawlScope:
        """The rows of *queue* for an imported topic, on the sites of *within* (None = all).

        Raises:
            ConfigError: the topic was never imported.
        """
        return CrawlScope(queue, self.catalogue.pack(topic).name, within)

    def rows_of(self, scope: CrawlScope) -> Callable[[Connection], frontier.Scope]:
        """An operation that finds the exact hosts of *scope* as the database knows them."""

        def operation(c: Connection) -> frontier.Scope:
            if scope.within is None:
                return frontier.Scope(scope.queue, scope.topic, None)
            known = (host for host in host_names(c) if scope.within.covers(host))
            return frontier.Scope(
                scope.queue, scope.topic, frozenset(known) | scope.within.sites
            )

        return operation

    def reschedule_lists(self, scope: CrawlScope) -> bool:
        """Whether this run starts anew: nothing of the last one waits.

        List pages that were read more than QIAO_REVISIT_HOURS ago wait again then.
        """
        hours: float = self.options["QIAO_REVISIT_HOURS"]

        def operation(c: Connection) -> bool:
            rows, now = find_rows(c), time.time()
            left = frontier.remaining(c, rows, now=now)
            if left.pending or left.leased:
                return False
            frontier.reschedule_lists(c, rows, read_before=now - hours * 3600, now=now)
            return True

        find_rows = self.rows_of(scope)
        return self.write_now(operation)

    def enqueue(self, c: Connection, candidates: Sequence[Candidate]) -> int:
        """Propose *candidates* within the caller's transaction; returns how many are new."""
        return frontier.enqueue(c, candidates, run_id=self._run_id, now=time.time())

    # --- outcomes ---------------------------------------------------------------------------------

    def save_article(
        self, c: Connection, url_id: int, analysis: PageAnalysis, *, anchor: str
    ) -> Verdict:
        """Write the article of *analysis* with all topics' judgements and its verdict."""
        assert analysis.article is not None, "there is no article to save"
        self._stored_articles = True
        saved = articles.save_article(
            c, url_id, analysis.article, analysis, anchor=anchor, now=time.time()
        )
        articles.save_relevance(c, saved.id, self.catalogue.topic_ids, analysis.relevance)
        articles.save_title_terms(c, saved.id, analysis.title_tokens)
        return self.titles.judge(c, saved)

    # --- analysis and titles ----------------------------------------------------------------------

    def judge_pages_for(self, topic: str, method: str) -> None:
        """Have every page judged for *topic*, as a crawl order wants; before workers start.

        Args:
            method: name of the page scorer; "" for QIAO_RELEVANCE_METHOD.

        Raises:
            ConfigError: no such page scorer.
        """
        page_scorers.get(method or self.options["QIAO_RELEVANCE_METHOD"])
        self._order_topic, self._order_method = topic, method

    @cached_property
    def setup(self) -> AnalysisSetup:
        """What an analysis worker needs to know."""
        return AnalysisSetup(
            method=self.options["QIAO_EXTRACT_METHOD"],
            max_links=self.options["QIAO_MAX_LINKS_PER_PAGE"],
            topics=tuple(self.catalogue.packs.values()),
            relevance_method=self.options["QIAO_RELEVANCE_METHOD"],
            threshold=self.options["QIAO_RELEVANCE_THRESHOLD"],
            extractor_options=extractor_options(self.options),
            learn_sites=self.options["QIAO_SITE_LEARNING"],
            order_topic=self._order_topic, order_method=self._order_method,
            ontology_dir=self.options["QIAO_ONTOLOGY_DIR"],
        )  # fmt: skip

    @cached_property
    def learning(self) -> SiteLearning | None:
        """What this run learns of sites; None when it is to learn nothing."""
        return SiteLearning(self.reader) if self.options["QIAO_SITE_LEARNING"] else None

    @cached_property
    def slots(self) -> AnalysisSlots:
        """The analysis workers."""
        return AnalysisSlots(
            self.setup,
            workers=self.options["QIAO_EXTRACT_WORKERS"],
            seconds=self.options["QIAO_EXTRACT_SECONDS"],
        )

    async def analyse(self, page: FetchedPage, *, alone: bool = False) -> PageAnalysis:
        """Analyse *page* in a worker process, in the separate slot if it is to be *alone*.

        Raises:
            PoisonPageError: the page killed or outlasted its worker.
            ExtractionError: the analysis failed in another way.
            CancelledError: the crawl is stopping.
        """
        template = await self.learning.template(page) if self.learning else None
        return await self.slots.analyse(page, template, alone=alone)

    async def join(self, title: str, texts: Sequence[str]) -> JoinedText:
        """Join the texts of an article's parts, and judge the whole, in a worker process.

        Raises:
            PoisonPageError, ExtractionError, CancelledError: as :meth:`analyse`.
        """
        return await self.slots.join(title, texts)

    def cancel_analyses(self) -> int:
        """Give up running analyses (a stopping crawl); their pages are stored."""
        return self.slots.stop() if "slots" in self.__dict__ else 0

    def cancel_downloads(self) -> int:
        """Cut running downloads short (a stopping crawl); returns how many."""
        return sum(cancel() for cancel in self.downloaders)

    @cached_property
    def titles(self) -> SharedTitles:
        """The titles of all workers. What is stored is read when the first one is judged, or
        by :meth:`load_titles`.
        """
        make_index = index_maker(self.options, self.title_terms)
        return SharedTitles(make_index, self.options["QIAO_DEDUP_METHOD"])

    @property
    def title_terms(self) -> tuple[str, ...]:
        """Words of titles that stay whole: the terms of all topics."""
        packs = self.catalogue.packs.values()
        return tuple(term.text for pack in packs for term in pack.terms)

    async def load_titles(self) -> None:
        """Read the stored titles before the first one is judged, so that no worker waits."""
        if not self._titles_loaded:
            await self.read(self.titles.load)
            self._titles_loaded = True

    # --- the run's record -----------------------------------------------------------------------

    async def start_run(self, spider: str, topic: str, arguments: Mapping[str, str]) -> int:
        """Open the record of this run; its number marks what it discovers."""
        topic_id = self.catalogue.topic_ids.get(topic)
        run_id = await self.write(
            lambda c: run_log.start_run(c, spider, topic_id, dict(arguments), now=time.time())
        )
        self._run_id = run_id
        return run_id

    async def finish_run(self, reason: str, stats: Mapping[str, Any], remaining: int) -> None:
        """Close the record with its numbers; a finished run also weighs the title terms (Q6)."""
        run_id = self._run_id
        if run_id is None:
            return
        if reason == "finished" and self._stored_articles:
            # Linear in all titles, so not for a run that must stop within seconds.
            await self.write(rebuild_term_weights)
        numbers = {k: v for k, v in stats.items() if isinstance(v, int | float | str)}
        if self.learning is not None:
            await self.write(self.learning.saving())
            numbers |= self.learning.numbers()
        await self.write(
            lambda c: run_log.finish_run(c, run_id, reason, numbers, remaining, now=time.time())
        )

    def close(self) -> None:
        """Stop the workers, write what is queued, let the lock go."""
        if self._closed:
            return
        self._closed = True
        if "slots" in self.__dict__:
            self.slots.close()
        if (recorded := self.__dict__.get("recorded_web")) is not None:
            recorded.close()
        self.writer.close()
        self.reader.close()
        self.database.close()
