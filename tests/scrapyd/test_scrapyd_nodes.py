"""Two real scrapyds as nodes: code sent, a crawl whose node dies goes on on the other, drained."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from crawling import Answer, article, import_pack, local_server, pack
from forking_python import forked_process
from qiaocrawl.cli import nodes as command
from qiaocrawl.cli import nodes_running as running
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.processes import process_of
from qiaocrawl.jobs.scrapyd import server_address
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, jobs
from qiaocrawl.storage.jobs import Job, JobState
from qiaocrawl.storage.schedules import AWAY_AFTER_SECONDS
from scrapyd_server import WAIT_SECONDS, Scrapyd, copy_project, new_forking_scrapyd

pytestmark = [pytest.mark.mariadb, pytest.mark.timeout(1_500)]
PAGES = ("/1.html", "/2.html", "/held.html")


@pytest.fixture
def nodes(tmp_path: Path, mariadb_url: str) -> Iterator[dict[str, Scrapyd]]:
    """Two nodes on one database, by name."""
    with ExitStack() as stack:
        started = {}
        for name in ("east", "west"):
            folder = tmp_path / name
            folder.mkdir()
            scrapyd = new_forking_scrapyd(folder)
            scrapyd.environment["QIAO_DATABASE_URL"] = mariadb_url
            scrapyd.start()
            stack.callback(scrapyd.stop)
            started[server_address(scrapyd.url)[0]] = scrapyd
        yield started


@pytest.fixture
def desk(
    nodes: dict[str, Scrapyd], mariadb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobDesk]:
    import_pack(mariadb_url, pack("held.test"))
    monkeypatch.setenv("QIAO_DATABASE_URL", mariadb_url)
    for scrapyd in nodes.values():
        monkeypatch.setenv("NODE_LOGIN", f"{scrapyd.user}:{scrapyd.password}")
        command.add(scrapyd.url, login_env="NODE_LOGIN")
    with Database.open(mariadb_url) as database:
        opened = JobDesk(database, Options({}), tmp_path, lost_after_seconds=1, is_remote_only=True)
        yield opened
        opened.close()


def _active(desk: JobDesk) -> list[Job]:
    with desk._database.engine.connect() as c:
        return jobs.active_jobs(c)


def _until(desk: JobDesk, *states: JobState, but: str = "") -> Job:
    """Look after the jobs until the newest is in one of *states*, on another node than *but*."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        desk.tick()
        with desk._database.engine.connect() as c:
            (newest,) = jobs.newest_jobs(c, 1)
        if newest.state in states and newest.request.server != but:
            return newest
        time.sleep(0.2)
    pytest.fail(f"{newest}\n{desk.log_end(newest)}")


def test_a_crawl_outlives_its_node_and_an_update(
    nodes: dict[str, Scrapyd], desk: JobDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    project = tmp_path / "project"
    project.mkdir()
    copy_project(project, "http://127.0.0.1:1")
    monkeypatch.chdir(project)
    command.deploy()
    assert not (project / "build").exists(), "a clone stays as it is"
    command.check()
    asked, go_on = threading.Semaphore(0), threading.Event()

    def respond(host: str, path: str) -> Answer | None:
        if path == "/":
            links = "".join(f'<li><a href="{page}">{page}</a></li>' for page in PAGES)
            return Answer(f"<title>首页</title><ul>{links}</ul>".encode())
        if path == "/held.html" and not go_on.is_set():
            asked.release()
            go_on.wait(WAIT_SECONDS)
        return Answer(article(f"侨胞回乡 {path}")) if path in PAGES else None

    with local_server(respond) as web:
        settings = [f"QIAO_DEMO={web.origin}", "QIAO_HOST_POLICY=least_load"]
        running.start(
            "site", "qiaoqing", argument=["start=http://held.test/", "strategy=bfs"],
            setting=settings,
        )  # fmt: skip
        first = _until(desk, JobState.RUNNING)
        assert asked.acquire(timeout=WAIT_SECONDS), desk.log_end(first)
        dead = first.request.server
        second = _kill_node(nodes[dead], first, desk)
        assert second.id == first.id
        assert asked.acquire(timeout=WAIT_SECONDS), desk.log_end(second)
        # It is back, and the other is updated.
        nodes[dead].start()
        desk.tick(time.time() + 60)
        running.drain(second.request.server)
        third = _until(desk, JobState.RUNNING, but=second.request.server)
        assert (third.request.server, third.id > second.id) == (dead, True)
        go_on.set()
        last = _until(desk, JobState.FINISHED, JobState.FAILED)
        assert last.state is JobState.FINISHED, desk.log_end(last)
    assert "goes on as" in capsys.readouterr().out
    with desk._database.engine.connect() as c:
        assert c.scalar(text("SELECT COUNT(*) FROM article")) == len(PAGES)
        assert c.scalar(text("SELECT COUNT(*) FROM url WHERE state < 3")) == 0


def _kill_node(node: Scrapyd, job: Job, desk: JobDesk) -> Job:
    """Kill scrapyd and its job, as a power cut does; returns the job where it goes on."""
    worker = int(node.jobs("running")[job.token]["pid"])
    node.kill()
    os.kill(forked_process(worker), signal.SIGKILL)
    until = time.monotonic() + WAIT_SECONDS
    while process_of(job.token) is not None:
        assert time.monotonic() < until, "it outlives SIGKILL"
        time.sleep(0.05)
    with desk._database.engine.begin() as c:
        # Half a minute ago, by the clock of the database.
        c.execute(text("UPDATE collector SET seen_at = seen_at - 40"))
    now = time.time()
    desk.tick(now)
    assert [one.request.server for one in _active(desk)] == [job.request.server], "not so soon"
    desk.tick(now + AWAY_AFTER_SECONDS)
    return _until(desk, JobState.RUNNING, but=job.request.server)
