"""Queries under fire: workers killed and stopped past their lease, the database gone."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawl_starter import StartedCrawl
from crawling import Answer, crawl, import_pack, local_server, pack, rows, running_spider
from qiaocrawl.topic.pack import Term
from searxng_stand_in import HOST, Found, Searxng

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.mariadb_server import MariaDB

TERMS = [f"侨报{n}" for n in range(30)]
LEASE_SECONDS = 5.0


class _Fire:
    """A search run of some workers on one database, and what is done to them."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.searxng = Searxng({term: Found([f"http://{n}.test/"]) for n, term in enumerate(TERMS)})
        self.workers: list[StartedCrawl] = []
        self._stack = ExitStack()
        self.server = self._stack.enter_context(local_server(self._respond))
        import_pack(url, pack(terms=tuple(Term(term, "core") for term in TERMS)))

    def _respond(self, host: str, path: str) -> Answer | None:
        answer = self.searxng.respond(host, path)
        # Slow enough to be struck while queries are under way.
        return answer and Answer(answer.body, answer.status, answer.headers, before_seconds=0.15)

    @property
    def options(self) -> dict[str, str]:
        return {
            "QIAO_DEMO": self.server.origin, "QIAO_ENGINES": "searxng",
            "QIAO_SEARXNG_URL": f"http://{HOST}", "QIAO_SEARCH_MAX_PAGES": "1",
            "QIAO_FRONTIER_LEASE_SECONDS": str(LEASE_SECONDS),
            "QIAO_FRONTIER_RETRY_SECONDS": "0.1", "QIAO_LOCK_WAIT_SECONDS": "60",
        }  # fmt: skip

    def start(self) -> StartedCrawl:
        one = self._stack.enter_context(running_spider(
            "search", self.url, "topic=qiaoqing", folder=self.folder, **self.options
        ))  # fmt: skip
        self.workers.append(one)
        return one

    def wait_for_more(self, number: int) -> None:
        """Until *number* more queries were asked, or all are."""
        wanted = min(len(self.searxng.asked) + number, len(TERMS))
        end = time.monotonic() + 300
        while len(self.searxng.asked) < wanted:
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.02)

    def stop_past_the_lease(self, one: StartedCrawl) -> None:
        one.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + 1)
        one.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """All workers to their end, then the same command again, and what must hold."""
        for one in self.workers:
            one.communicate(timeout=400)
        done = crawl("search", self.url, "topic=qiaoqing", folder=self.folder, **self.options)
        assert done.returncode == 0, done.log
        assert "(finished)" in done.log, done.log
        ledger = rows(self.url, "SELECT term, state FROM `query` WHERE engine = 'searxng'")
        assert dict(ledger) == dict.fromkeys(TERMS, "hit")
        found = rows(self.url, "SELECT COUNT(*) FROM url WHERE queue = 'pages'")
        assert found == [(len(TERMS),)], "a hit of each, none lost and none twice"

    def twice(self) -> int:
        """How many requests were one too many."""
        counts = Counter(self.searxng.asked)
        assert set(counts) == {(term, 1) for term in TERMS}
        return sum(count - 1 for count in counts.values())

    def close(self) -> None:
        self._stack.close()


@contextmanager
def _fire(url: str, folder: Path) -> Iterator[_Fire]:
    fire = _Fire(url, folder)
    try:
        yield fire
    finally:
        fire.close()


def test_one_worker_on_sqlite(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    with _fire(url, tmp_path) as fire:
        first = fire.start()
        fire.wait_for_more(4)
        first.kill()
        second = fire.start()
        fire.wait_for_more(6)
        fire.stop_past_the_lease(second)
        fire.wait_for_more(4)
        _away_for(tmp_path / "q.db", LEASE_SECONDS + 1)
        fire.end()
        # One query is under way at a time, so one for each of the three strikes; on a busy
        # machine a lease may end by itself besides.
        assert fire.twice() <= 6


def _away_for(file: Path, seconds: float) -> None:
    """Nobody else can write meanwhile."""
    with closing(sqlite3.connect(file, timeout=200, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        holder.execute("ROLLBACK")


@pytest.mark.mariadb
def test_three_workers_on_mariadb(mariadb: MariaDB, mariadb_url: str, tmp_path: Path) -> None:
    with _fire(mariadb_url, tmp_path) as fire:
        for _ in range(3):
            fire.start()
        fire.wait_for_more(4)
        fire.workers[0].kill()
        fire.wait_for_more(3)
        fire.stop_past_the_lease(fire.workers[1])
        fire.wait_for_more(2)
        _restarted(mariadb, lambda: time.sleep(LEASE_SECONDS + 1))
        fire.end()
        # One of the killed, one of the stopped, three whose answers the server did not take:
        # five. On a busy machine a lease may end by itself besides.
        assert fire.twice() <= 10


def _restarted(mariadb: MariaDB, meanwhile: Callable[[], None]) -> None:
    mariadb.kill()
    try:
        meanwhile()
    finally:
        mariadb.start()


@pytest.mark.parametrize("strike", [signal.SIGINT, signal.SIGKILL])
def test_a_plan_that_is_cut_short_has_asked_its_first_queries_and_the_next_run_completes_it(
    strike: signal.Signals, database_url: str, tmp_path: Path
) -> None:
    terms = [f"侨报{n}" for n in range(600)]
    sites = [f"s{n}.test" for n in range(20)]
    import_pack(database_url, pack(*sites, terms=tuple(Term(term, "core") for term in terms)))
    searxng = Searxng()
    with local_server(searxng.respond) as server:
        given = {
            "QIAO_DEMO": server.origin, "QIAO_ENGINES": "searxng", "QIAO_LOCK_WAIT_SECONDS": "60",
            "QIAO_SEARXNG_URL": f"http://{HOST}", "QIAO_SEARCH_PARK_AFTER": "0",
            "QIAO_SEARCH_DAILY_BUDGET": "searxng=12000",
        }  # fmt: skip
        with running_spider(
            "search", database_url, "topic=qiaoqing", folder=tmp_path, **given
        ) as one:
            end = time.monotonic() + 300
            while not searxng.asked:
                assert time.monotonic() < end, "waited too long"
                time.sleep(0.01)
            one.send_signal(strike)
            said, _ = one.communicate(timeout=400)
        whole = len(terms) * (len(sites) + 1)
        planned = rows(database_url, "SELECT COUNT(*) FROM `query`")
        assert 0 < int(str(planned[0][0])) < whole, "it was asked before the plan was laid out"
        # The heaviest words, without a site, come first.
        assert all("site:" not in words for words, _ in searxng.asked)
        if strike is signal.SIGINT:
            assert one.returncode == 0, said
            assert "the next run completes it" in said
            assert rows(database_url, "SELECT COUNT(*) FROM run WHERE finished_at IS NULL") == [
                (0,)
            ]
        with running_spider(
            "search", database_url, "topic=qiaoqing", folder=tmp_path, **given
        ) as one:
            while rows(database_url, "SELECT COUNT(*) FROM `query`") != [(whole,)]:
                assert one.poll() is None, one.communicate(timeout=60)
                time.sleep(0.1)
    assert rows(database_url, "SELECT COUNT(DISTINCT `key`) FROM `query`") == [(whole,)]
