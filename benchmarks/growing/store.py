"""A store that grows by what a crawl calls: the frontier, raw pages, articles, their titles."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection

from benchmarks.consoles.collection import TOPIC, words
from qiaocrawl.items import Candidate, FetchedPage, Lease, Outcome, PageAnalysis, Queue, Relevance
from qiaocrawl.items.article import Article
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.converters import digest16
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.frontier.decisions import Decision, save_decisions
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.table_sizes import table_bytes
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.topic.folder import SHIPPED_PACKS, load_pack
from qiaocrawl.urls import url_key

_HOSTS = 3_000
# As a page of a news site has them: of its links most are known.
_NEW, _KNOWN = 300, 200
_LEASED, _PER_HOST = 64, 8
_SECTIONS = ("gn", "gj", "hr", "qiaowu", "zgqj", "wenhua", "jingji")
_FURNITURE = "".join(
    f'<li class="nav-item"><a href="/{name}/list_{n}.shtml" target="_blank">{name} {n}</a></li>'
    for n in range(12)
    for name in _SECTIONS
)


@dataclass
class Growth:
    """What one size of the store cost.

    Attributes:
        wall_us, cpu_us: of this process for one more row, a mean of the step before; the database
            server's own processor time is not in ``cpu_us``.
        lease_ms: of 64 URLs, the median of ten.
        close_us: a URL that brought nothing, when its lease is closed.
    """

    rows: int
    wall_us: float
    cpu_us: float
    lease_ms: float = 0.0
    close_us: float = 0.0
    memory_mib: float = 0.0
    sizes: dict[str, int] = field(default_factory=dict)


def memory_mib() -> float:
    """Resident memory of this process now."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii", "replace"))
    return int(found[1]) / 1024 if found else 0.0


class GrowingStore:
    """The database at *url*, empty at first."""

    def __init__(self, url: str) -> None:
        self.url = url
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

    # --- URLs ---------------------------------------------------------------------------------

    def grow_urls(self, sizes: Sequence[int]) -> Iterator[Growth]:
        """Offer URLs until there are so many, and measure at each of *sizes*."""
        for size in sizes:
            before = self._urls
            wall, cpu = time.monotonic(), time.process_time()
            while self._urls < size:
                self._offer()
            added = max(1, self._urls - before)
            step = Growth(
                self._urls, (time.monotonic() - wall) / added * 1e6,
                (time.process_time() - cpu) / added * 1e6,
            )  # fmt: skip
            step.lease_ms, step.close_us = self._lease_and_close()
            yield self._with_sizes(step)

    def _offer(self) -> None:
        new = [self._candidate(self._urls + n) for n in range(_NEW)]
        known = [self._candidate(self._rng.randrange(self._urls)) for _ in range(_KNOWN)
                 if self._urls]  # fmt: skip
        with self._runtime.database.engine.begin() as c:
            frontier.enqueue(c, [*new, *known], run_id=None, now=time.time())
        self._urls += _NEW

    def _candidate(self, number: int) -> Candidate:
        # Drawn from its number alone, so that a known URL is the same again.
        rng = random.Random(number)
        host = f"www.site{int(_HOSTS * rng.random() ** 3)}.example.cn"
        day = f"2026/{rng.randrange(12) + 1:02d}/{rng.randrange(28) + 1:02d}"
        url = f"http://{host}/{rng.choice(_SECTIONS)}/{day}/content_{number}.shtml"
        return Candidate(
            url, url_key(url), host, Queue.SITE, TOPIC, rng.random(), rng.randrange(6),
            anchor=rng.choice(words().titles[number % 5 < 3]),
        )  # fmt: skip

    def _lease(self) -> list[Lease]:
        self._token += 1
        with self._runtime.database.engine.begin() as c:
            return frontier.lease(
                c, self._scope, token=self._token, lease_seconds=600.0, now=time.time(),
                limit=_LEASED, per_host=_PER_HOST,
            )  # fmt: skip

    def _lease_and_close(self) -> tuple[float, float]:
        leasing, closing, closed = [], 0.0, 0
        for _ in range(10):
            begun = time.monotonic()
            leases = self._lease()
            leasing.append(time.monotonic() - begun)
            begun = time.monotonic()
            with self._runtime.database.engine.begin() as c:
                for lease in leases:
                    _close(c, lease, Outcome.DEAD)
            closing += time.monotonic() - begun
            closed += len(leases)
        return sorted(leasing)[5] * 1e3, closing / max(1, closed) * 1e6

    # --- pages and articles -------------------------------------------------------------------

    def grow_articles(self, sizes: Sequence[int]) -> Iterator[Growth]:
        """Fetch pages, nine in ten with an article, until there are so many articles."""
        asyncio.run(self._runtime.articles.load_titles())
        for size in sizes:
            before = self._articles
            wall, cpu = time.monotonic(), time.process_time()
            while self._articles < size:
                self._store_batch()
            added = max(1, self._articles - before)
            step = Growth(
                self._articles, (time.monotonic() - wall) / added * 1e6,
                (time.process_time() - cpu) / added * 1e6,
            )  # fmt: skip
            yield self._with_sizes(step)

    def _store_batch(self) -> None:
        leases = self._lease()
        if not leases:
            self._offer()
            return
        pages = [self._page(lease) for lease in leases]
        engine = self._runtime.database.engine
        with engine.begin() as c:
            for lease, (page, _) in zip(leases, pages, strict=True):
                store_page(c, lease, page, now=time.time())
        with engine.begin() as c:
            self._runtime.articles.titles.lock(c)
            for lease, (_, analysis) in zip(leases, pages, strict=True):
                if _close(c, lease, analysis.outcome) and analysis.article is not None:
                    self._runtime.articles.save(c, lease.url_id, analysis, anchor=lease.anchor)
                    self._articles += 1
            save_decisions(c, [(lease.url_id, self._decision()) for lease in leases])

    def _decision(self) -> Decision:
        parts = {name: self._rng.gauss(0, 1) for name in ("region", "folder", "form of URL")}
        return Decision("adaptive", self._rng.random(), time.time(), 1, self._urls, parts)

    def _page(self, lease: Lease) -> tuple[FetchedPage, PageAnalysis]:
        rng = self._rng
        on_topic = rng.random() < 0.6
        lines = rng.choices(words().lines[on_topic], k=rng.randint(4, 40))
        title = f"{rng.choice(words().titles[on_topic])}（{lease.url_id}）"
        markup = "\n".join(f"<p>{line}</p>" for line in lines)
        body = (
            f'<!DOCTYPE html><html lang="zh-CN"><head><meta charset="utf-8"><title>{title}</title>'
            f"</head><body><ul>{_FURNITURE}</ul><h1>{title}</h1><div>{markup}</div></body></html>"
        ).encode()
        now = datetime.now(UTC)
        page = FetchedPage(
            lease.url, lease.url, 200, (("content-type", "text/html; charset=utf-8"),), body, now
        )
        if rng.random() < 0.1:
            return page, PageAnalysis(Outcome.LIST, None, (), "utf-8")
        text = "\n".join(lines)
        article = Article(
            lease.url, title, text, html=markup, language="zh", source="侨网", method="blend",
            published_at=now - timedelta(hours=rng.random() * 8_000),
        )  # fmt: skip
        tokens = tuple(title[at : at + 2] for at in range(0, len(title) - 1, 2))
        judged = Relevance(TOPIC, rng.random(), on_topic, "blend", (("侨务", 0.4), ("华侨", 0.2)))
        return page, PageAnalysis(
            Outcome.ARTICLE, article, (), "utf-8", title_tokens=tokens,
            body_digest=digest16(text.encode()), relevance=(judged,),
        )  # fmt: skip

    # --- both ---------------------------------------------------------------------------------

    def _with_sizes(self, step: Growth) -> Growth:
        step.memory_mib = memory_mib()
        with self._runtime.database.engine.connect() as c:
            if c.dialect.name != "sqlite":
                # Its estimates are as old as its last look.
                c.exec_driver_sql(
                    "ANALYZE TABLE url, page_source, article, title_entry, title_term"
                )
            step.sizes = table_bytes(c) or {}
        return step


def _close(c: Connection, lease: Lease, outcome: Outcome) -> bool:
    return bool(
        frontier.complete(
            c, lease, outcome=outcome, reason="", http_status=200, redirect_key=None,
            now=time.time(),
        )
    )  # fmt: skip


def file_bytes(url: str) -> int:
    """Bytes of a SQLite file and its log; 0 for a server's database."""
    path = url.removeprefix("sqlite:///")
    return sum(os.path.getsize(f) for f in (path, f"{path}-wal") if os.path.exists(f))
