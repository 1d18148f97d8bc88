"""How a job ended is what it wrote itself: without a record nothing says that it was finished."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl
from crawling import import_pack, pack
from job_desks import SITE, WAIT_SECONDS, desk_over, job_of, wait_for
from qiaocrawl.jobs import COMMAND_VARIABLE
from qiaocrawl.jobs.local import ending, exit_noted
from qiaocrawl.jobs.requests import COMMANDS, HOST, JUDGE, REREAD, ROUND, SPIDERS
from qiaocrawl.storage import Database, jobs
from qiaocrawl.storage.jobs import Job, JobRequest, JobState
from storage_samples import add_article

OVER = (JobState.FINISHED, JobState.FAILED, JobState.STOPPED)
# What looks after jobs in `qiaocrawl console`, as a process that can be killed.
CONSOLE = (
    "import sys, threading\n"
    "from qiaocrawl.console.keepers import JobKeeper\n"
    "from qiaocrawl.storage import Database\n"
    "JobKeeper(Database.open(sys.argv[1])).start()\n"
    "threading.Event().wait()\n"
)


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """SQLite alone: what is tested is processes."""
    return f"sqlite:///{tmp_path / 'jobs.db'}"


@contextmanager
def _console(database: Database, folder: Path) -> Iterator[StartedCrawl]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    console = StartedCrawl(("-c", CONSOLE, database.url), environment, folder)
    try:
        yield console
    finally:
        console.kill()
        console.wait()
        console.close()


def _seen(database: Database, job_id: int, *states: JobState) -> Job:
    """The job once a console has brought it into one of *states*."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (job := job_of(database, job_id)).state not in states and time.monotonic() < deadline:
        time.sleep(0.05)
    assert job.state in states, job
    return job


@pytest.mark.parametrize("spider", SPIDERS)
def test_a_job_killed_with_its_console_is_not_finished_for_the_next(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spider: str
) -> None:
    """As when a machine goes down, whatever kind of job it is."""
    import_pack(database.url, pack("a.test"))
    monkeypatch.setenv("QIAO_DEMO", "127.0.0.1:9")
    wanted = JobRequest(
        spider, "qiaoqing", arguments={HOST: "a.test"} if spider == REREAD else None
    )
    job_id = desk_over(database, tmp_path).request(wanted, "admin")
    with _console(database, tmp_path):
        running = _seen(database, job_id, JobState.RUNNING, *OVER)
        assert running.state is JobState.RUNNING
        assert running.pid is not None
        os.kill(running.pid, signal.SIGKILL)
    assert job_of(database, job_id).state is JobState.RUNNING
    job = wait_for(desk_over(database, tmp_path), database, job_id, *OVER)
    assert job.state is JobState.FAILED
    assert "left no record" in job.message or "killed" in job.message
    assert "server" not in job.message


@pytest.mark.parametrize(("words", "state"), [
    (JobRequest(JUDGE, "qiaoqing"), JobState.FINISHED),
    # There is no such topic: the command says so, and ends with 1.
    (JobRequest(ROUND, "nowhere"), JobState.FAILED),
])  # fmt: skip
def test_what_a_command_came_to_without_its_console_is_known_to_the_next(
    database: Database, tmp_path: Path, words: JobRequest, state: JobState
) -> None:
    import_pack(database.url, pack("a.test"))
    with database.engine.begin() as c:
        add_article(c, "1", title="华侨农场", body="各地侨胞参加侨务工作会议。")
    job_id = desk_over(database, tmp_path).request(words, "admin")
    with _console(database, tmp_path):
        running = _seen(database, job_id, JobState.RUNNING, *OVER)
        assert running.state is JobState.RUNNING
    job = wait_for(desk_over(database, tmp_path), database, job_id, *OVER)
    assert (job.state, job.exit_code) == (state, int(state is JobState.FAILED)), job.message
    assert ("nowhere" in job.message) == (state is JobState.FAILED)


def test_a_job_of_this_machine_that_is_killed_says_so(database: Database, tmp_path: Path) -> None:
    import_pack(database.url, pack("a.test"))
    desk = desk_over(database, tmp_path)
    for request in (JobRequest(JUDGE, "qiaoqing"), SITE):
        running = wait_for(desk, database, desk.request(request, "admin"), JobState.RUNNING)
        assert running.pid is not None
        os.kill(running.pid, signal.SIGKILL)
        job = wait_for(desk, database, running.id, *OVER)
        assert (job.state, job.message) == (JobState.FAILED, "it was killed (SIGKILL)")


@pytest.fixture
def noted(database: Database, monkeypatch: pytest.MonkeyPatch) -> int:
    """A job whose command this process is."""
    monkeypatch.setenv("QIAO_DATABASE_URL", database.url)
    with database.engine.begin() as c:
        number = jobs.add_job(c, JobRequest(JUDGE, "qiaoqing"), by="admin", machine="here",
                              now=datetime.now(UTC))  # fmt: skip
        waiting = jobs.find_job(c, number)
        assert waiting is not None
        token = jobs.claim(c, waiting, datetime.now(UTC))
    assert token
    monkeypatch.setenv(COMMAND_VARIABLE, token)
    return number


@pytest.mark.parametrize(("end", "code"), [
    (None, 0), (SystemExit(), 0), (SystemExit(0), 0), (SystemExit(3), 3), (SystemExit("no"), 1),
    (KeyboardInterrupt(), 130), (RuntimeError(), 1),
])  # fmt: skip
def test_a_command_writes_how_it_ends(
    database: Database, noted: int, end: BaseException | None, code: int
) -> None:
    def work() -> None:
        with exit_noted():
            # What it starts is not the job.
            assert COMMAND_VARIABLE not in os.environ
            if end is not None:
                raise end

    if end is None:
        work()
    else:
        with pytest.raises(type(end)):
            work()
    job = job_of(database, noted)
    assert job.exit_code == code
    # The next attempt has written nothing yet.
    with database.engine.begin() as c:
        jobs.change(c, noted, JobState.WAITING, {JobState.STARTING})
        assert jobs.claim(c, job, datetime.now(UTC))
    assert job_of(database, noted).exit_code is None


@pytest.mark.parametrize("spider", COMMANDS)
@pytest.mark.parametrize("log", ["", "2026-03-05 INFO: 3 pages\n"])
def test_no_record_is_no_success(database: Database, noted: int, spider: str, log: str) -> None:
    job = job_of(database, noted)
    state, message = ending(job, None, None, lambda _job: log)
    assert state is JobState.FAILED
    assert "how it ended is not known" in message
    assert ("3 pages" in message) == bool(log)
