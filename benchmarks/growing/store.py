"""A store that grows by what a crawl calls: the writer, the frontier, pages, articles, visits."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Iterator, Sequence
from functools import partial

from sqlalchemy import Connection

from benchmarks.consoles.collection import TOPIC
from benchmarks.growing.behind import stand_behind
from benchmarks.growing.candidates import candidate
from benchmarks.growing.made_pages import MadePage, PageMaker
from benchmarks.growing.meter import Growth, Meter, file_bytes
from qiaocrawl.frontier.completion import CompleteLease, LeaseEnd
from qiaocrawl.items import Candidate, Lease, Outcome, Queue
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.frontier import Scope, visit_log
from qiaocrawl.storage.frontier.lease import Decision, save_decisions
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.storage.upkeep import table_bytes
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack

# As a page of a news site has them: of its links most are known.
_NEW, _KNOWN = 300, 200
_PAGES_AT_A_TIME = 8
_LEASED, _PER_HOST = 64, 8
_TABLES = "url, page_source, article, title_entry, title_term, visit, decision"


class GrowingStore:
    """The database at *url*, empty at first. All is written by its runtime's writer, as in a crawl.

    Its connection lives as long as the store: another one for every transaction would have read
    nothing yet, and titles that were judged on one that is gone are read again.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        with Database.open(url) as database:
            database.upgrade()
            with database.engine.begin() as c:
                save_pack(c, load_pack(SHIPPED_PACKS / TOPIC), now=time.time())
        self._runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}))
        self._rng = random.Random(5)
        self._urls = self._articles = 0
        self._token = 1
        self._scope = Scope(Queue.SITE, TOPIC)

    def close(self) -> None:
        """Close the database."""
        self._runtime.close()

    def stand_behind(self, urls: int) -> Iterator[int]:
        """Begin with so many URLs that wait, written in bulk; gives how many there are so far."""
        for written in stand_behind(self._runtime.database.engine, urls):
            self._urls = written
            yield written

    # --- URLs ---------------------------------------------------------------------------------

    def grow_urls(self, sizes: Sequence[int], most_minutes: float = math.inf) -> Iterator[Growth]:
        """Offer URLs until there are so many, and measure at each of *sizes*.

        Args:
            most_minutes: what is there then is the last size.
        """
        end = time.monotonic() + 60 * most_minutes
        for size in sizes:
            meter = Meter(self._urls)
            while self._urls < size and time.monotonic() < end:
                self._offer(meter)
            step = meter.growth(self._urls)
            step.lease_ms, step.close_us = self._lease_and_close()
            is_last = size == sizes[-1] or time.monotonic() >= end
            yield self._sized(step, is_last=is_last)
            if is_last:
                return

    def _offer(self, meter: Meter) -> None:
        pages = [self._links() for _ in range(_PAGES_AT_A_TIME)]
        with meter.storing():
            now = time.time()
            done = [
                self._runtime.writer.submit(
                    partial(frontier.enqueue, candidates=links, run_id=None, now=now)
                )
                for links in pages
            ]
            for future in done:
                future.result()

    def _links(self) -> list[Candidate]:
        known = [self._rng.randrange(self._urls) for _ in range(_KNOWN)] if self._urls else []
        self._urls += _NEW
        return [candidate(number) for number in (*range(self._urls - _NEW, self._urls), *known)]

    def _lease(self, c: Connection) -> list[Lease]:
        return frontier.lease(
            c, self._scope, token=self._token, lease_seconds=600.0, now=time.time(),
            limit=_LEASED, per_host=_PER_HOST,
        )  # fmt: skip

    def _timed_lease(self, c: Connection) -> tuple[list[Lease], float]:
        # Within the transaction: the writer waits a little for others to share it.
        begun = time.monotonic()
        return self._lease(c), time.monotonic() - begun

    def _lease_and_close(self) -> tuple[float, float]:
        leasing, closing, closed = [], 0.0, 0
        for _ in range(10):
            self._token += 1
            leases, seconds = self._runtime.writer.run(self._timed_lease)
            leasing.append(seconds)
            begun = time.monotonic()
            self._end([CompleteLease(lease, LeaseEnd(Outcome.DEAD)) for lease in leases])
            closing += time.monotonic() - begun
            closed += len(leases)
        return sorted(leasing)[5] * 1e3, closing / max(1, closed) * 1e6

    # --- pages and articles -------------------------------------------------------------------

    def grow_articles(
        self, sizes: Sequence[int], most_minutes: float = math.inf, titles: Sequence[str] = ()
    ) -> Iterator[Growth]:
        """Fetch pages, nine in ten with an article, until there are so many articles.

        Args:
            most_minutes: what is there then is the last size.
            titles: of the first articles; further ones are made.
        """
        asyncio.run(self._runtime.articles.load_titles())
        end = time.monotonic() + 60 * most_minutes
        maker = PageMaker(titles)
        try:
            for size in sizes:
                meter = Meter(self._articles)
                while self._articles < size and time.monotonic() < end:
                    self._store_batch(maker, meter)
                is_last = size == sizes[-1] or time.monotonic() >= end
                yield self._sized(meter.growth(self._articles), is_last=is_last)
                if is_last:
                    return
        finally:
            maker.close()

    def _store_batch(self, maker: PageMaker, meter: Meter) -> None:
        self._token += 1
        with meter.storing():
            leases = self._runtime.writer.run(self._lease_with_reason)
        if not leases:
            self._offer(Meter(0))
            return
        made = [*zip(leases, maker.take(len(leases)), strict=True)]
        with meter.storing():
            fetched = [self._runtime.writer.submit(
                partial(store_page, lease=lease, page=page.fetched(lease), now=time.time())
            ) for lease, page in made]  # fmt: skip
            for stored in fetched:
                stored.result()
            ended = [CompleteLease(lease, LeaseEnd(page.analysis.outcome, "", 200),
                                   partial(self._write, lease=lease, page=page))
                     for lease, page in made]  # fmt: skip
            self._end(ended)
        self._articles += sum(bool(one.written) for one in ended)

    def _lease_with_reason(self, c: Connection) -> list[Lease]:
        leases, now = self._lease(c), time.time()
        parts = {name: self._rng.gauss(0, 1) for name in ("region", "folder", "form of URL")}
        save_decisions(c, [
            (lease.url_id, Decision("adaptive", lease.score, now, 1, self._urls, parts))
            for lease in leases
        ])  # fmt: skip
        return leases

    def _write(self, c: Connection, lease: Lease, page: MadePage) -> bool:
        """What the store pipeline writes of a page; whether there is an article now."""
        is_article, analysis = False, page.analysed(lease)
        if analysis.article is not None:
            articles = self._runtime.articles
            is_article = articles.save(c, lease.url_id, analysis, anchor=lease.anchor) is not None
        visit_log.append_visit(c, lease, page.visit(lease, time.time()), page.links)
        return is_article

    def _end(self, ends: Sequence[CompleteLease[bool]]) -> None:
        lock = self._runtime.articles.titles.lock
        for done in [self._runtime.writer.submit(end, lock) for end in ends]:
            done.result()

    # --- both ---------------------------------------------------------------------------------

    def _sized(self, step: Growth, *, is_last: bool) -> Growth:
        step.file_bytes = file_bytes(self._url)
        if is_last:
            with self._runtime.database.engine.connect() as c:
                if c.dialect.name != "sqlite":
                    # Its estimates are as old as its last look.
                    c.exec_driver_sql(f"ANALYZE TABLE {_TABLES}")
                step.sizes = table_bytes(c) or {}
        return step
