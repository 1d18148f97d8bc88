"""Jobs on a real scrapyd that is killed: they run on, or are found and run again."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawling import Answer, import_pack, local_server, pack
from forking_python import forked_process
from qiaocrawl.errors import ServerAwayError
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, jobs
from qiaocrawl.storage.jobs import Job, JobRequest, JobState
from scrapyd_server import WAIT_SECONDS, Scrapyd, new_forking_scrapyd

pytestmark = pytest.mark.timeout(1_500)
OVER = (JobState.FINISHED, JobState.FAILED, JobState.STOPPED)


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    """One that has the project; the topic is in its database."""
    folder = tmp_path / "scrapyd"
    folder.mkdir()
    started = new_forking_scrapyd(folder)
    started.hold_version()
    started.start()
    try:
        import_pack(started.environment["QIAO_DATABASE_URL"], pack("news.example.cn"))
        yield started
    finally:
        started.stop()


@pytest.fixture
def database(scrapyd: Scrapyd) -> Iterator[Database]:
    """The database of the scrapyd's jobs, which is the console's too."""
    with Database.open(scrapyd.environment["QIAO_DATABASE_URL"]) as opened:
        yield opened


@pytest.fixture
def desk(
    scrapyd: Scrapyd, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobDesk]:
    # A server that was away is asked again at once.
    monkeypatch.setattr("qiaocrawl.jobs.nodes._AGAIN_SECONDS", 0.0)
    password = scrapyd.password.replace(" ", "%20")
    url = scrapyd.url.replace("//", f"//{scrapyd.user}:{password}@", 1)
    opened = JobDesk(
        database, Options({"QIAO_SCRAPYD_SERVERS": url}), tmp_path, lost_after_seconds=1
    )
    yield opened
    opened.close()


def _until(
    desk: JobDesk, database: Database, job_id: int, *states: JobState, attempts: int = 1
) -> Job:
    """The job once it is in one of *states*, in its *attempts*-th attempt or a later one."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        desk.tick()
        with database.engine.connect() as c:
            job = jobs.find_job(c, job_id)
        assert job is not None
        if job.state in states and job.attempts >= attempts:
            return job
        time.sleep(0.2)
    pytest.fail(f"{job}\n{desk.log_end(job)}")


def _wait_until_handed_over(scrapyd: Scrapyd, job: Job) -> None:
    """A busy server may have been too slow to say that it took *job*."""
    deadline = time.monotonic() + WAIT_SECONDS
    while job.token not in scrapyd.jobs("pending"):
        assert time.monotonic() < deadline, scrapyd.output()
        time.sleep(0.2)


def test_jobs_a_killed_scrapyd_lost_are_found_and_run_again(
    scrapyd: Scrapyd, desk: JobDesk, database: Database
) -> None:
    """F-W13. One runs, one waits in its queue; the queue's row goes before the process starts."""
    (server,) = desk.nodes.refresh()
    assert "@" not in server
    asked, go_on = threading.Event(), threading.Event()

    def respond(host: str, path: str) -> Answer | None:
        if path == "/slow.html" and not go_on.is_set():
            asked.set()
            go_on.wait(WAIT_SECONDS)
        is_page = path in ("/", "/slow.html")
        return (
            Answer(f'<title>{path}</title><a href="/slow.html">页</a>'.encode())
            if is_page
            else None
        )

    with local_server(respond) as web:
        settings = {"QIAO_DEMO": web.origin}
        start = {"start": "http://held.test/", "strategy": "bfs"}
        held = desk.request(JobRequest("site", "qiaoqing", server, start, settings), "admin")
        queued = desk.request(JobRequest("pages", "qiaoqing", server, None, settings), "admin")
        running = _until(desk, database, held, JobState.RUNNING)
        assert asked.wait(WAIT_SECONDS), desk.log_end(running)
        _wait_until_handed_over(scrapyd, _until(desk, database, queued, JobState.STARTING))
        orphan = int(scrapyd.jobs("running")[running.token]["pid"])
        scrapyd.kill()
        # A server that does not answer loses nothing.
        desk.tick()
        with pytest.raises(ServerAwayError):
            desk.nodes.server(server).jobs()
        (queue,) = (scrapyd.folder / "dbs").rglob("qiaocrawl.db")
        with closing(sqlite3.connect(queue)) as pending, pending:
            assert pending.execute("DELETE FROM spider_queue").rowcount == 1
        scrapyd.start()
        # What runs on by itself is no lost job.
        _until(desk, database, queued, JobState.STARTING, JobState.RUNNING, *OVER, attempts=2)
        with database.engine.connect() as c:
            left = jobs.find_job(c, held)
        assert left is not None
        assert (left.state, left.attempts) == (JobState.RUNNING, 1)
        os.kill(forked_process(orphan), signal.SIGKILL)
        go_on.set()
        again = _until(desk, database, held, *OVER)
        other = _until(desk, database, queued, *OVER)
    assert (again.state, again.attempts) == (JobState.FINISHED, 2), desk.log_end(again)
    assert "'finish_reason': 'finished'" in desk.log_end(again)
    # SQLite takes one crawl at a time: beside the orphan this one was refused, and said so.
    assert other.attempts == 2
    assert other.state is JobState.FINISHED or "before it began" in other.message


def test_kill_9_of_scrapyd_loses_no_page(scrapyd: Scrapyd) -> None:
    """F-W13. Rows are in the database: the same command goes on with them."""
    held, asked = threading.Event(), threading.Event()
    paths = [f"/{number}.html" for number in range(4)]
    home = "".join(f'<a href="{path}">第{path}页</a>' for path in paths)

    def respond(host: str, path: str) -> Answer | None:
        if path == "/2.html" and not held.is_set():
            asked.set()
            held.wait(WAIT_SECONDS)
        known = path == "/" or path in paths
        return Answer(f"<title>{path}</title>{home}".encode()) if known else None

    with local_server(respond) as server:
        given: dict[str, str | list[str]] = {
            "spider": "site", "topic": "qiaoqing", "start": "http://slow.test/",
            "strategy": "bfs", "setting": f"QIAO_DEMO={server.origin}",
        }  # fmt: skip
        first = scrapyd.schedule(**given)
        waiting = scrapyd.schedule(**given)
        assert asked.wait(WAIT_SECONDS), scrapyd.log(first)
        orphan = forked_process(int(scrapyd.jobs("running")[first]["pid"]))
        scrapyd.kill()
        scrapyd.start()
        # Its queue is a table: what waited is started. The orphan's lock refuses it.
        entry, said = scrapyd.finished(waiting)
        assert f"another crawl (process {orphan})" in said + scrapyd.output()
        assert first not in {*scrapyd.jobs("running"), *scrapyd.jobs("finished")}
        os.kill(orphan, signal.SIGKILL)
        held.set()
        _, log = scrapyd.run(**given)
    assert "'finish_reason': 'finished'" in log, log
    with closing(sqlite3.connect(scrapyd.database)) as database:
        rows = database.execute(
            "SELECT url, http_status FROM url WHERE url LIKE 'http://slow.test/_.html' ORDER BY url"
        ).fetchall()
    assert rows == [(f"http://slow.test{path}", 200) for path in paths], log
