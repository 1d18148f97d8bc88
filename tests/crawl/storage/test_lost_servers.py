"""Crawls whose database server dies, whose worker ends early, or whose database is a copy."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl
from crawling import (
    Answer,
    LocalServer,
    article,
    crawl,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
    running_spider,
)
from held_site import HeldSite
from mariadb_fixtures import MariaDB
from qiaocrawl.storage import Database
from qiaocrawl.storage.backup import backup

HOSTS = ("www.qiao.test", "www.bao.test")
PAGES = 24
ALL = {f"http://{host}/{path}" for host in HOSTS for path in ("", *map(str, range(PAGES)))}


def hosts(host: str, path: str) -> Answer | None:
    """Two hosts with as many pages."""
    if path == "/":
        return Answer(article("首页", links=tuple(f"/{n}" for n in range(PAGES))))
    page = Answer(article(f"侨务新闻{host}{path}"))
    return page if path[1:].isdigit() else None


@pytest.fixture
def server_url(mariadb: MariaDB) -> Iterator[tuple[MariaDB, str]]:
    """A server of its own, which may be killed, and a database in it."""
    with tempfile.TemporaryDirectory(prefix="qiao-", dir=mariadb.folder.parent) as name:
        server = MariaDB(Path(name))
        server.install()
        server.start()
        server.execute("CREATE DATABASE q CHARACTER SET utf8mb4")
        try:
            yield server, server.url("q")
        finally:
            server.kill()


@pytest.mark.mariadb
@pytest.mark.parametrize("is_killed", [False, True])
def test_a_crawl_outlasts_its_killed_server(
    is_killed: bool, server_url: tuple[MariaDB, str], tmp_path: Path
) -> None:
    """F-Q3, F-D8: kill -9 of the server; the crawl waits for it, or is killed meanwhile too."""
    database, url = server_url
    import_pack(url, pack(*HOSTS))
    options = {"QIAO_FRONTIER_LEASE_SECONDS": "2"}
    site = HeldSite(hosts, 12)
    with local_server(site) as server:
        with running_spider("site", url, "topic=qiaoqing", folder=tmp_path,
                            QIAO_DEMO=server.origin, **options) as process:  # fmt: skip
            wait_for_requests(server, process, 12)
            database.kill()
            site.let_go()
            wait_until_told(process, "does not answer")
            if is_killed:
                process.kill()
            database.start()
            said, _ = process.communicate(timeout=600)
        if is_killed:
            said = crawl("site", url, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin,
                         **options).log  # fmt: skip
        else:
            assert "answers again" in said
            assert process.returncode == 0
    assert "(finished)" in said
    found = outcomes(url)
    assert set(found) == ALL
    assert set(found.values()) <= {"article", "list"}
    count = len(ALL)
    assert rows(url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == [(count, count)]


@pytest.mark.mariadb
def test_one_of_three_workers_stops_and_the_others_finish(mariadb_url: str, tmp_path: Path) -> None:
    """F-Q4: SIGTERM to one; nothing is wiped, and no page is fetched twice."""
    import_pack(mariadb_url, pack(*HOSTS))
    site = HeldSite(hosts, 20)
    with local_server(site) as server:
        options = {"folder": tmp_path, "QIAO_DEMO": server.origin}
        with (
            running_spider("site", mariadb_url, "topic=qiaoqing", **options) as one,
            running_spider("site", mariadb_url, "topic=qiaoqing", **options) as two,
            running_spider("site", mariadb_url, "topic=qiaoqing", **options) as three,
        ):
            for process in (one, two, three):
                # Before it is under way a process knows of no end in order.
                wait_until_told(process, "Spider opened")
            wait_for_requests(server, one, 10)
            one.send_signal(signal.SIGTERM)
            site.let_go()
            ends = [process.communicate(timeout=600)[0] for process in (one, two, three)]
            assert [process.returncode for process in (one, two, three)] == [0, 0, 0]
    assert "(shutdown)" in ends[0] or "(finished)" in ends[0]
    assert all("(finished)" in said for said in ends[1:])
    found = outcomes(mariadb_url)
    assert set(found) == ALL
    assert set(found.values()) <= {"article", "list"}
    assert rows(mariadb_url, "SELECT COUNT(*) FROM page_source") == [(len(ALL),)]


def test_a_crawl_goes_on_from_a_copy_made_while_it_ran(tmp_path: Path) -> None:
    """F-F7: what was stored when the copy was made is not fetched again, and nothing is lost."""
    url, copy = (f"sqlite:///{tmp_path / name}" for name in ("q.db", "copy.db"))
    import_pack(url, pack(*HOSTS))
    site = HeldSite(hosts, 12)
    with local_server(site) as server:
        with running_spider("site", url, "topic=qiaoqing", folder=tmp_path,
                            QIAO_DEMO=server.origin) as process:  # fmt: skip
            wait_for_requests(server, process, 12)
            with Database.open(url) as database:
                backup(database, tmp_path / "copy.db")
            process.kill()
            process.communicate(timeout=60)
            site.let_go()
        stored = {str(one) for (one,) in rows(
            copy, "SELECT u.url FROM url u JOIN page_source p ON p.url_id = u.id"
        )}  # fmt: skip
        assert stored
        server.log.clear()
        done = crawl("site", copy, "topic=qiaoqing", folder=tmp_path, QIAO_DEMO=server.origin)
    assert "(finished)" in done.log
    asked = {f"http://{hit.host}{hit.path}" for hit in server.log if hit.path != "/robots.txt"}
    assert asked == ALL - stored
    assert set(outcomes(copy)) == ALL
    assert set(outcomes(copy).values()) <= {"article", "list"}


def wait_for_requests(server: LocalServer, process: StartedCrawl, count: int) -> None:
    wait_for(lambda: len(server.paths()) >= count, process)


def wait_until_told(process: StartedCrawl, word: str) -> None:
    wait_for(lambda: word in process._said.read_text("utf-8", "replace"), process)


def wait_for(condition: object, process: StartedCrawl, seconds: float = 600.0) -> None:
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.05)
