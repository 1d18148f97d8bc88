"""Analysis in worker processes: a bad page is named, the next one is served."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from datetime import UTC, datetime

import pytest

from crawling import article, pack
from qiaocrawl.errors import ExtractionError, PoisonPageError
from qiaocrawl.items import FetchedPage, Outcome, PageAnalysis
from qiaocrawl.runtime.analysis_setup import AnalysisSetup
from qiaocrawl.runtime.workers import AnalysisPool, is_pool_error, page_error

SECONDS = 0.3
# Of processor time it takes three times that.
MONSTER = b"<p>x" * 400_000
# Workers are started anew meanwhile, which takes long where others want the processor too.
WAIT_SECONDS = 240


def page(body: bytes) -> FetchedPage:
    url = "http://www.qiao.test/a"
    return FetchedPage(url, url, 200, (("content-type", "text/html"),), body, datetime.now(UTC))


@pytest.fixture
def pool() -> Iterator[AnalysisPool]:
    setup = AnalysisSetup("density", 100, (pack("www.qiao.test"),), "vsm_breadth")
    made = AnalysisPool(setup, workers=1, seconds=SECONDS)
    yield made
    made.close()


def analysed(pool: AnalysisPool, body: bytes) -> PageAnalysis:
    return pool.submit(page(body)).result(WAIT_SECONDS)


def test_a_page_is_analysed_for_every_topic(pool: AnalysisPool) -> None:
    found = analysed(pool, article("侨胞回乡寻根", links=("/b",)))
    assert found.outcome is Outcome.ARTICLE
    assert found.article is not None
    assert found.article.title == "侨胞回乡寻根"
    assert [one.topic for one in found.relevance] == ["qiaoqing"]
    assert found.relevance[0].relevant
    assert "http://www.qiao.test/b" in [link.url for link in found.links]
    assert found.title_tokens


def test_a_page_that_outlasts_its_time_is_named(pool: AnalysisPool) -> None:
    analysed(pool, article("先热身"))
    with pytest.raises(Exception, match=r".*") as caught:
        pool.submit(page(MONSTER)).result(WAIT_SECONDS)
    error = page_error(caught.value, SECONDS)
    assert isinstance(error, PoisonPageError)
    assert "longer than 0.3 s" in str(error)
    assert analysed(pool, article("下一个照常")).outcome is Outcome.ARTICLE


def test_time_that_passes_without_the_processor_makes_no_page_slow(pool: AnalysisPool) -> None:
    """A laptop that sleeps, a busy machine, a clock that is set: the page is not at fault."""
    analysed(pool, article("先热身"))
    workers = _workers()
    for pid in workers:
        os.kill(pid, signal.SIGSTOP)
    future = pool.submit(page(article("醒来照常")))
    time.sleep(4 * SECONDS)
    for pid in workers:
        os.kill(pid, signal.SIGCONT)
    assert future.result(WAIT_SECONDS).outcome is Outcome.ARTICLE


def test_a_worker_that_dies_is_replaced(pool: AnalysisPool) -> None:
    analysed(pool, article("先热身"))
    # In a page's place what neither ends nor uses up its time before the worker is killed.
    future = pool._submit(time.sleep, 10 * WAIT_SECONDS)
    while not future.running():
        time.sleep(0.01)
    for pid in _workers():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(Exception, match=r".*") as caught:
        future.result(WAIT_SECONDS)
    error = page_error(caught.value, SECONDS)
    assert isinstance(error, PoisonPageError)
    assert "killed its worker" in str(error)
    assert analysed(pool, article("下一个照常")).outcome is Outcome.ARTICLE


def test_workers_killed_while_idle_are_replaced(pool: AnalysisPool) -> None:
    analysed(pool, article("先热身"))
    for pid in _workers():
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + WAIT_SECONDS
    while pool.generation == 0 and time.monotonic() < deadline:
        # What is handed over before the loss is noticed says so; the caller tries it again.
        error = pool.submit(page(article("照常"))).exception(WAIT_SECONDS)
        assert error is None or is_pool_error(error) or "killed" in str(page_error(error, SECONDS))
        time.sleep(0.1)
    assert pool.generation == 1
    assert analysed(pool, article("照常")).outcome is Outcome.ARTICLE


def test_a_stopping_crawl_gives_up_what_runs(pool: AnalysisPool) -> None:
    analysed(pool, article("先热身"))
    futures = [pool.submit(page(MONSTER)) for _ in range(3)]
    assert pool.cancel_all() == 3
    for future in futures:
        with pytest.raises(CancelledError):
            future.result(WAIT_SECONDS)


def test_other_errors_are_the_pages_too() -> None:
    error = page_error(ValueError("bad\nnews"), SECONDS)
    assert isinstance(error, ExtractionError)
    assert not isinstance(error, PoisonPageError)
    assert str(error) == "ValueError: bad"


def _workers() -> list[int]:
    """Children of this process's fork server; without ``-ww`` COLUMNS cuts its name away."""
    listed = subprocess.run(
        ["ps", "-eww", "-o", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[1:]
    rows = [line.split(None, 2) for line in listed]
    servers = {
        pid for pid, parent, args in rows if int(parent) == os.getpid() and "forkserver" in args
    }
    workers = [int(pid) for pid, parent, _ in rows if parent in servers]
    assert workers, "no worker process was found"
    return workers
