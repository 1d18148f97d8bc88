"""What raw pages of a recorded web cost in a database, with dictionaries of sites and without."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Connection

from benchmarks.coverage import graph_rows
from qiaocrawl.errors import QiaoError
from qiaocrawl.fetch.replay.page_folder import find_graph
from qiaocrawl.fetch.replay.web import open_recording
from qiaocrawl.items import Candidate, FetchedPage, Lease, Queue
from qiaocrawl.storage import Database, frontier
from qiaocrawl.storage.engine import ConnectionCache
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.packed_text import compress
from qiaocrawl.storage.pages.raw_pages import load_page, store_page
from qiaocrawl.storage.pages.site_dictionaries import SiteDictionaries
from qiaocrawl.storage.topics.topics import save_pack
from qiaocrawl.storage.upkeep import table_bytes
from qiaocrawl.topic.pack import Term, TopicPack
from qiaocrawl.urls import url_key

_TOPIC = "pages"
_AT_A_TIME = 64
_TABLES = ("page_source", "page_dictionary")


class StoredPagesError(QiaoError):
    """Pages that cannot be measured."""


@dataclass(frozen=True, slots=True)
class StoredPages:
    """One way of storing the pages of one web.

    Attributes:
        bytes_a_page: of the tables and their indexes, after VACUUM.
        store_us: processor time a page, of all that storing it takes.
        load_us: of reading it back.
    """

    method: str
    pages: int
    bytes_a_page: float
    store_us: float
    load_us: float


class _Plain(SiteDictionaries):
    """No dictionary ever."""

    def pack(self, _c: Connection, _host_id: int, body: bytes) -> bytes:
        return compress(body)

    def stored(
        self, _c: Connection, _host_id: int, _row_id: int, *, url_id: int, now: float
    ) -> None:
        pass


def stored_pages(web: Path) -> Iterator[StoredPages]:
    """The pages recorded in *web*, in the order of its graph.

    Raises:
        StoredPagesError: nothing is recorded there, or a page does not come back as it was.
    """
    pages = _pages(web)
    if not pages:
        raise StoredPagesError(f"{web}: no recorded pages there")
    for method, kind in (("ours", SiteDictionaries), ("zstd 3", _Plain)):
        with (
            tempfile.TemporaryDirectory(prefix="qiao-pages-") as folder,
            Database.open(f"sqlite:///{folder}/q.db") as database,
        ):
            yield _stored(database, method, kind(), pages)


def _pages(web: Path) -> list[FetchedPage]:
    graph = find_graph(web)
    if graph is None:
        return []
    now = datetime.now(UTC)
    with open_recording(web) as recorded:
        answers = {row["url"]: recorded.get(row["url"]) for row in graph_rows(graph)}
    return [
        FetchedPage(url, answer.url, answer.status, tuple(answer.headers), answer.body, now)
        for url, answer in answers.items() if answer is not None and answer.status == 200
    ]  # fmt: skip


def _stored(
    database: Database, method: str, dictionaries: SiteDictionaries, pages: list[FetchedPage]
) -> StoredPages:
    database.upgrade()
    with database.engine.connect() as c:
        with c.begin():
            terms = (Term("侨", "core"),)
            save_pack(c, TopicPack(_TOPIC, _TOPIC, "", 0.1, terms, (), ()), now=time.time())
        ConnectionCache.of(c).dictionaries = dictionaries
        leases, store_seconds = [], 0.0
        for start in range(0, len(pages), _AT_A_TIME):
            some = pages[start : start + _AT_A_TIME]
            with c.begin():
                leased = _leases(c, some)
                began = time.process_time()
                for lease, page in zip(leased, some, strict=True):
                    store_page(c, lease, page, now=time.time())
                store_seconds += time.process_time() - began
            leases += leased
    with database.engine.connect() as c:
        began = time.process_time()
        for lease, page in zip(leases, pages, strict=True):
            loaded = load_page(c, lease.url_id)
            if loaded is None or loaded.body != page.body:
                raise StoredPagesError(f"{method}: {page.url} does not come back as it was")
        load_seconds = time.process_time() - began
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.connection.cursor().execute("VACUUM")
        sizes = table_bytes(c) or {}
    size = sum(sizes.get(name, 0) for name in _TABLES)
    count = len(pages)
    return StoredPages(method, count, size / count, 1e6 * store_seconds / count,
                       1e6 * load_seconds / count)  # fmt: skip


def _leases(c: Connection, pages: list[FetchedPage]) -> list[Lease]:
    """A lease for each page, by its URL as it is recorded."""
    candidates = [
        Candidate(page.url, url_key(page.url), urlsplit(page.url).netloc, Queue.SITE, _TOPIC)
        for page in pages
    ]
    now = time.time()
    frontier.enqueue(c, candidates, run_id=None, now=now)
    leased = frontier.lease(
        c, Scope(Queue.SITE, _TOPIC), token=1, limit=len(pages), per_host=len(pages),
        lease_seconds=600.0, now=now,
    )  # fmt: skip
    by_url = {lease.url: lease for lease in leased}
    return [by_url[page.url] for page in pages]
