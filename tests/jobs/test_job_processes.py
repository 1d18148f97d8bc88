"""Jobs as real processes: started, found again by another console, stopped, killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawling import Answer, import_pack, local_server, pack
from job_desks import SITE, WAIT_SECONDS, desk_over, job_of, wait_for
from qiaocrawl.errors import JobError
from qiaocrawl.jobs.requests import JUDGE
from qiaocrawl.storage import Database, jobs
from qiaocrawl.storage.jobs import JobRequest, JobState
from storage_samples import add_article


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """SQLite alone: what is tested is processes."""
    return f"sqlite:///{tmp_path / 'jobs.db'}"


def test_jobs_outlive_a_console_and_are_stopped_by_the_next(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_pack(database_url, pack("a.test"))
    asked, go_on = threading.Event(), threading.Event()

    def respond(host: str, path: str) -> Answer | None:
        if path == "/1.html":
            asked.set()
            go_on.wait(WAIT_SECONDS)
        links = "".join(f'<a href="/{n}.html">第{n}页</a>' for n in range(3))
        return None if path == "/robots.txt" else Answer(f"<title>{path}</title>{links}".encode())

    with local_server(respond) as server:
        monkeypatch.setenv("QIAO_DEMO", server.origin)
        first = desk_over(database, tmp_path)
        job_id = first.request(SITE, "admin")
        running = wait_for(first, database, job_id, JobState.RUNNING)
        with pytest.raises(JobError, match=f"job {job_id}"):
            first.request(SITE, "admin")
        assert asked.wait(WAIT_SECONDS), first.log_end(running)
        # Another console, after a restart: the process is no child of it.
        second = desk_over(database, tmp_path)
        second.tick()
        assert job_of(database, job_id).state is JobState.RUNNING
        second.stop(job_id)
        go_on.set()
        stopped = wait_for(second, database, job_id, JobState.STOPPED, JobState.FINISHED)
        assert (stopped.state, stopped.attempts) == (JobState.STOPPED, 1)
        assert "shutdown" in stopped.message
        # Its last threads may outlive what others can see of it.
        deadline = time.monotonic() + WAIT_SECONDS
        while (code := first.local.exit_code(running)) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert code == 0
        # What is left is crawled by the next one, which this console watches as its child.
        assert wait_for(second, database, second.request(SITE, "admin"), JobState.FINISHED,
                      JobState.FAILED).message == "finished"  # fmt: skip


def test_a_process_that_is_killed_has_failed_and_one_never_begun_starts_again(
    database: Database, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_pack(database_url, pack("a.test"))
    monkeypatch.setenv("QIAO_DEMO", "127.0.0.1:9")
    desk = desk_over(database, tmp_path)
    job_id = desk.request(JobRequest("pages", "qiaoqing", "", {"site": "b.test,"}), "admin")
    # As when the console dies between taking the job in hand and starting it.
    waiting = job_of(database, job_id)
    with database.engine.begin() as c:
        assert jobs.claim(c, waiting, datetime.now(UTC))
    job = wait_for(desk, database, job_id, JobState.RUNNING)
    assert job.attempts == 2
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    assert wait_for(desk, database, job_id, JobState.FAILED).state is JobState.FAILED


def test_stored_articles_are_judged_anew_by_a_job(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    import_pack(database_url, pack("a.test"))
    with database.engine.begin() as c:
        add_article(c, "1", title="华侨农场", body="各地侨胞参加侨务工作会议。")
    desk = desk_over(database, tmp_path)
    job_id = desk.request(JobRequest(JUDGE, "qiaoqing"), "admin")
    job = wait_for(desk, database, job_id, JobState.FINISHED, JobState.FAILED)
    assert job.state is JobState.FINISHED, desk.log_end(job)
    with database.engine.connect() as c:
        assert c.exec_driver_sql("SELECT method FROM relevance").scalars().all() == ["blend"]
