"""The shared objects of one run, built from the options.

Spiders, pipelines and the scheduler of one crawl hold the same ``Runtime``. It knows the
library, not Scrapy.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection

from qiaocrawl.extract.base import extractor_for, link_reader
from qiaocrawl.items import Candidate, Queue
from qiaocrawl.options import Options
from qiaocrawl.runtime.analysis_slots import RunAnalysis
from qiaocrawl.runtime.articles import RunArticles
from qiaocrawl.runtime.catalogue import Catalogue
from qiaocrawl.runtime.crawl_rows import CrawlScope, rows_of
from qiaocrawl.runtime.follow_links import FollowPolicy
from qiaocrawl.runtime.page_packer import PagePacker
from qiaocrawl.storage import Database, Reader, Writer, frontier, run_log
from qiaocrawl.storage.migrate import require_current
from qiaocrawl.storage.titles.title_log import rebuild_term_weights
from qiaocrawl.storage.writer import in_loop
from qiaocrawl.text.segment import use_segmenter
from qiaocrawl.text.visible import note_context

if TYPE_CHECKING:
    from qiaocrawl.fetch.replay.web import RecordedWeb

# How long old code may go on after somebody upgraded the database all the same.
_SCHEMA_SECONDS = 3.0

T = TypeVar("T")


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
        use_segmenter(options["QIAO_SEGMENTER"])
        self.database = Database.open(
            options["QIAO_DATABASE_URL"], cache_mb=options["QIAO_SQLITE_CACHE_MB"]
        )
        self.database.require_current()
        if crawling:
            self.database.lock_crawl(options["QIAO_LOCK_WAIT_SECONDS"])
        outage_seconds: float = options["QIAO_STORAGE_OUTAGE_SECONDS"]
        self.writer = Writer(self.database, outage_seconds=outage_seconds)
        self.reader = Reader(self.database, outage_seconds=outage_seconds)
        self.catalogue = Catalogue(self.reader, options)
        self.analysis = RunAnalysis(options, self.catalogue, self.reader)
        self.articles = RunArticles(options, self.catalogue, self.reader, self.writer)
        self.page_packer = PagePacker(options, self.database, self.reader, self.writer)
        self.stopping = False
        self.downloaders: list[Callable[[], int]] = []
        """What cuts running downloads short and says how many, one for every handler."""
        self._run_id: int | None = None
        self._schema_seen_at = time.monotonic()
        self._closed = False

    def check_choices(self, *, workers: bool = True) -> None:
        """Look up every method the options name, before any fetch.

        Args:
            workers: make their slots ready, too; False where others' analyse the pages.

        Raises:
            ConfigError: an extractor, page scorer or deduper that does not exist, or a file
                that an option of theirs names cannot be used.
            ReplayError: a recorded web that cannot be read.
        """
        extractor_for(self.options["QIAO_EXTRACT_METHOD"], self.options)
        # Templates count for links with any method.
        link_reader(self.options)
        self.analysis.check_scorer()
        self.analysis.check_learning()
        # Named, so that each is built now: a wrong option ends the command before
        # the first request.
        _ = self.articles.titles, self.recorded_web
        if workers:
            _ = self.analysis.slots

    @cached_property
    def recorded_web(self) -> RecordedWeb | None:
        """The recorded web this run crawls instead of the network (QIAO_REPLAY)."""
        path: str = self.options["QIAO_REPLAY"]
        if not path:
            return None
        # What reads WARC files takes longer to import than all that reads options.
        from qiaocrawl.fetch.replay.web import open_recording

        return open_recording(path)

    # --- reading and writing ------------------------------------------------------------

    async def write(
        self,
        operation: Callable[[Connection], T],
        first: Callable[[Connection], object] | None = None,
    ) -> T:
        """Run *operation* in the writer's next transaction, off the event loop.

        Args:
            first: what this transaction has to begin with (see :meth:`Writer.submit`).
        """
        return await in_loop(self.writer.submit(operation, first))

    async def read(self, operation: Callable[[Connection], T]) -> T:
        """Run a read-only *operation* off the event loop."""
        return await in_loop(self.reader.submit(operation))

    def write_now(self, operation: Callable[[Connection], T]) -> T:
        """Run *operation* and wait for its commit (start and end of a run, tools)."""
        return self.writer.submit(operation).result()

    async def look_at_schema(self, *, at_once: bool = False) -> None:
        """See that the tables are still those of this version.

        Args:
            at_once: also when that was seen a few seconds ago.

        Raises:
            SchemaError: another version has upgraded them.
        """
        now = time.monotonic()
        if not at_once and now - self._schema_seen_at < _SCHEMA_SECONDS:
            return
        self._schema_seen_at = now
        shown_url = self.database.shown_url
        await self.read(lambda c: require_current(c, shown_url))

    async def renew_topics(self) -> bool:
        """Take over topics that were changed since they were read; whether there were any.

        Pages are judged by them from now on. Titles are cut as before until the next start: all
        that are compared must be cut alike.
        """
        if not self.catalogue.starts_looking():
            return False
        changed = await self.read(self.catalogue.changed_topics)
        if changed is None:
            return False
        self.catalogue.renew(changed)
        self.analysis.renew()
        return True

    # --- the frontier ---------------------------------------------------------------------------

    def scope(self, queue: Queue, topic: str, within: FollowPolicy | None) -> CrawlScope:
        """The rows of *queue* for an imported topic, on the sites of *within* (None = all).

        Raises:
            ConfigError: the topic was never imported.
        """
        return CrawlScope(queue, self.catalogue.pack(topic).name, within)

    def reschedule_lists(self, scope: CrawlScope) -> bool:
        """Whether this run starts from scratch: nothing of the last one waits.

        List pages that were read more than QIAO_REVISIT_HOURS ago wait again then.
        """
        hours: float = self.options["QIAO_REVISIT_HOURS"]

        def operation(c: Connection) -> bool:
            rows, now = find_rows(c), time.time()
            # Read in the same transaction that reschedules: another worker may have added rows.
            left = frontier.remaining(c, rows, now=now)
            if left.pending or left.leased:
                return False
            frontier.reschedule_lists(c, rows, read_before=now - hours * 3600, now=now)
            return True

        find_rows = rows_of(scope)
        return self.write_now(operation)

    def enqueue(self, c: Connection, candidates: Sequence[Candidate]) -> int:
        """Propose *candidates* within the caller's transaction; returns how many are new."""
        return frontier.enqueue(c, candidates, run_id=self._run_id, now=time.time())

    def cancel_work(self) -> int:
        """Give up running fetches and analyses (a stopping crawl); returns how many."""
        return self.analysis.cancel() + sum(cancel() for cancel in self.downloaders)

    # --- the run's record -----------------------------------------------------------------------

    async def start_run(self, spider: str, topic: str, arguments: Mapping[str, str]) -> int:
        """Open the record of this run; its number marks what it discovers."""
        topic_id = self.catalogue.topic_ids.get(topic)
        run_id = await self.write(
            lambda c: run_log.start_run(c, spider, topic_id, dict(arguments), now=time.time())
        )
        self._run_id = run_id
        note_context(spider=spider, topic=topic, run=run_id)
        return run_id

    async def finish_run(self, reason: str, stats: Mapping[str, Any], remaining: int) -> None:
        """Close the record with its numbers; a finished run also weighs the title terms (Q6)."""
        run_id = self._run_id
        if run_id is None:
            return
        if reason == "finished" and self.articles.has_stored:
            # Linear in all titles, so only after a finished run; a stopped one must end in seconds.
            await self.write(rebuild_term_weights)
            await asyncio.to_thread(self.articles.keep_titles)
        # Scrapy keeps objects among its statistics, such as dates.
        numbers = {k: v for k, v in stats.items() if isinstance(v, int | float | str)}
        if (learning := self.analysis.learning) is not None:
            await self.write(learning.saving())
            numbers |= learning.numbers()
        if (nodes := self.analysis.nodes) is not None:
            await self.write(nodes.saving())
            numbers |= nodes.numbers()
        await self.write(
            lambda c: run_log.finish_run(c, run_id, reason, numbers, remaining, now=time.time())
        )

    def close(self) -> None:
        """Stop the workers, write what is queued, release the lock."""
        if self._closed:
            return
        self._closed = True
        # The workers first, whose results still need the writer; the database, which holds the
        # crawl lock, last.
        self.page_packer.close()
        self.analysis.close()
        if (recorded := self.__dict__.get("recorded_web")) is not None:
            recorded.close()
        self.writer.close()
        self.reader.close()
        self.database.close()
