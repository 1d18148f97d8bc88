"""A page whose close is refused or fails is worked through again, and brings all it brought."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl
from crawling import (
    Answer,
    article,
    failing_spider,
    import_pack,
    local_server,
    outcomes,
    pack,
    rows,
)
from qiaocrawl.items import Queue
from qiaocrawl.storage import Database, frontier

HOST = "www.qiao.test"
PAGES = 20
LEASE_SECONDS = 2.0


def site(host: str, path: str) -> Answer | None:
    """A home page that links to all others."""
    if path == "/":
        return Answer(article("首页", links=tuple(f"/{n}" for n in range(PAGES))))
    return Answer(article(f"侨务新闻{path}")) if path[1:].isdigit() else None


def test_a_worker_stopped_past_its_lease_brings_its_links_again(
    database_url: str, tmp_path: Path
) -> None:
    """F-Q2: another worker takes the page back meanwhile, and the stopped one gets it again."""
    import_pack(database_url, pack(HOST))
    # Stored scores with one kind of database, an order that learns with the other.
    strategy = "bfs" if database_url.startswith("sqlite") else "hits"
    with local_server(site) as server, failing_spider(
        "before the close", "1:stop", "site", database_url, "topic=qiaoqing",
        f"strategy={strategy}", folder=tmp_path, QIAO_DEMO=server.origin,
        QIAO_FRONTIER_LEASE_SECONDS=str(LEASE_SECONDS),
    ) as process:
        wait_until_stopped(process)
        time.sleep(LEASE_SECONDS)
        assert recovered(database_url).resumed == 1
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=240)
    assert "'qiaocrawl/lease_lost': 1" in said
    assert "(finished)" in said
    assert len(server.paths()) == PAGES + 1, "the stored page is not asked for again"
    assert_all_is_there(database_url)


def test_a_page_whose_storing_fails_brings_its_links_with_the_next_try(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'q.db'}"
    import_pack(url, pack(HOST))
    with local_server(site) as server, failing_spider(
        "before the close", "1:fail", "site", url, "topic=qiaoqing", folder=tmp_path,
        QIAO_DEMO=server.origin, QIAO_FRONTIER_RETRY_SECONDS="0.1",
    ) as process:
        said, _ = process.communicate(timeout=240)
    assert "'qiaocrawl/outcome/retry': 1" in said
    assert "(finished)" in said
    assert_all_is_there(url)


def assert_all_is_there(url: str) -> None:
    found = outcomes(url)
    assert set(found) == {f"http://{HOST}/", *(f"http://{HOST}/{n}" for n in range(PAGES))}
    assert set(found.values()) <= {"article", "list"}
    pages = PAGES + 1
    assert rows(url, "SELECT COUNT(*), COUNT(DISTINCT url_id) FROM visit") == [(pages, pages)]


def recovered(url: str) -> frontier.Recovery:
    """Take back what ran out, as another worker does."""
    with Database.open(url) as database, database.engine.begin() as c:
        scope = frontier.Scope(Queue.SITE, "qiaoqing", None)
        return frontier.recover(c, scope, now=time.time(), all_dead=False)


def wait_until_stopped(process: StartedCrawl, seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    status = Path(f"/proc/{process.pid}/stat")
    while status.read_text().rpartition(") ")[2][0] != "T":
        assert process.poll() is None, "it ended"
        assert time.monotonic() < until, "it did not stop"
        time.sleep(0.02)


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
