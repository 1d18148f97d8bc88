"""Stopping and dying: nothing is lost, nothing is finished that is not."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawling import (
    PROJECT,
    Answer,
    article,
    crawl,
    crawl_until,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
    running_spider,
)

if TYPE_CHECKING:
    from typing import Self

HOST = "www.qiao.test"


class Site:
    """Twelve pages; one may hang, as its host does, until it is freed, one be long to analyse."""

    def __init__(self, *, hanging: str = "", slow_to_analyse: str = "") -> None:
        self._hanging, self._slow_to_analyse = hanging, slow_to_analyse
        self._is_free = threading.Event()

    def __call__(self, host: str, path: str) -> Answer | None:
        """The answer to one request."""
        if path == "/":
            return Answer(article("首页", links=tuple(f"/{n}" for n in range(12))))
        if path == "/robots.txt":
            return None
        if path == self._slow_to_analyse:
            return Answer(article("侨乡") + b"<p><a href=/>x</a>" * 80_000)
        if path == self._hanging:
            self._is_free.wait(300)
        return Answer(article(f"侨务新闻{path}"))

    def free(self) -> None:
        """From now on it is a site like any other."""
        self._slow_to_analyse = ""
        self._is_free.set()


class Slowness:
    """How many times as long work takes within the block as where nothing else is to be done."""

    def __enter__(self) -> Self:
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        while not self._is_over.is_set():
            pass
        worked = max(time.thread_time() - cpu, 0.001)
        self.factor = max((time.perf_counter() - wall) / worked, 1.0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_without_waiting_for_hosts_and_the_crawl_resumes(
    number: signal.Signals, tmp_path: Path
) -> None:
    """F-F6: within the ten seconds that scrapyd and containers give, and nothing is lost."""
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    site = Site(hanging="/3", slow_to_analyse="/2")
    with local_server(site) as server:
        with running_spider(
            "site",
            url,
            "topic=qiaoqing",
            "-s",
            "QIAO_EXTRACT_SECONDS=60",
            "-s",
            "DOWNLOAD_WARNSIZE=0",
            "-s",
            "DOWNLOAD_TIMEOUT=150",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        ) as process:
            wait_until(lambda: "/3" in server.paths() and is_stored(url, "/2"))
            time.sleep(0.5)  # its analysis begins
            with Slowness() as slowness:
                began = time.monotonic()
                process.send_signal(number)
                said, _ = process.communicate(timeout=140)
                took = time.monotonic() - began
        assert took < 10 * slowness.factor, said
        assert process.returncode == 0, said  # the operator asked for it
        assert "still wait; the same command goes on" in said
        assert "(finished)" not in said
        site.free()
        done = crawl(
            "site",
            url,
            "topic=qiaoqing",
            "-s",
            "QIAO_EXTRACT_SECONDS=60",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
    assert "(finished)" in done.log
    found = outcomes(url)
    assert len(found) == 13
    del found[f"http://{HOST}/2"]  # is whatever its analysis makes of it
    assert set(found.values()) <= {"article", "list"}
    assert rows(url, "SELECT MAX(failures) FROM url") == [(0,)], "a stop is no failure"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("spider", ["site", "search"])
def test_a_signal_while_the_spider_is_being_opened_ends_it_in_order(
    spider: str, number: signal.Signals, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    engines = {"QIAO_DEMO": "http://127.0.0.1:9", "QIAO_ENGINES": "demo_sou"}
    with running_spider(spider, url, "topic=qiaoqing", folder=tmp_path, **engines) as process:
        end = time.monotonic() + 150
        while "Spider opened" not in process.said:
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.002)
        process.send_signal(number)
        said, _ = process.communicate(timeout=100)
    assert process.returncode == 0, said
    assert "Summary: " in said
    assert rows(url, "SELECT reason, finished_at IS NULL FROM run") == [("shutdown", 0)]


def is_stored(url: str, path: str) -> bool:
    """Whether the page at *path* is in the database."""
    found = rows(
        url, "SELECT 1 FROM url u JOIN page_source s ON s.url_id = u.id WHERE u.url = :where",
        where=f"http://{HOST}{path}",
    )  # fmt: skip
    return bool(found)


def test_a_page_stored_before_a_kill_is_not_fetched_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(Site()) as server:
        crawl_until(
            "page committed",
            3,
            "site",
            url,
            "topic=qiaoqing",
            folder=tmp_path,
            QIAO_DEMO=server.origin,
        )
        stored = {
            str(u)
            for (u,) in rows(
                url,
                "SELECT u.url FROM url u JOIN page_source s ON s.url_id = u.id WHERE u.state <> 3",
            )
        }
        assert stored
        done = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "(finished)" in done.log
    assert "qiaocrawl/evidence/resumed" in done.log
    for address in stored:
        assert server.paths().count(address.removeprefix(f"http://{HOST}")) == 1
    assert len(outcomes(url)) == 13


def test_a_second_crawl_on_one_sqlite_file_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    site = Site(hanging="/5")
    with local_server(site) as server:
        with running_spider(
            "site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin
        ) as first:
            wait_until(lambda: "/5" in server.paths())
            second = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
        assert second.returncode == 1, second.log
        assert str(first.pid) in second.log
        site.free()
        third = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "(finished)" in third.log


@pytest.mark.timeout(1_500)
@pytest.mark.parametrize(
    ("spider", "pages"),
    [
        ("site", "120"),
        pytest.param("watch", "80", marks=pytest.mark.thorough),
        pytest.param("login", "80", marks=pytest.mark.thorough),
    ],
)
def test_a_short_campaign_loses_nothing(
    spider: str, pages: str, database_url: str, tmp_path: Path
) -> None:
    # Stored scores with one worker, an order that learns with several.
    workers, strategy = ("1", "bfs") if database_url.startswith("sqlite") else ("3", "hits")
    if (spider != "site") == (workers == "3"):
        pytest.skip("each spider on one kind of database, for time's sake")
    done = subprocess.run(
        [
            sys.executable,
            str(PROJECT / "benchmarks" / "durability.py"),
            "--spider",
            spider,
            "--pages",
            pages,
            "--disturbances",
            "6",
            "--disturb",
            "kill,stop,refuse",
            "--workers",
            workers,
            "--strategy",
            strategy,
            "--database",
            database_url,
            "--no-peer",
            "--json",
            str(tmp_path / "rows.jsonl"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=1_200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r'"pages_lost": 0, "false_finishes": 0', (tmp_path / "rows.jsonl").read_text())


def wait_until(condition: object, seconds: float = 150.0) -> None:
    """Poll *condition*; fail when it does not come true."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
