"""The desk of jobs: who starts one, and what becomes of times that come."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from job_desks import SITE, WAIT_SECONDS, desk_over, job_of
from qiaocrawl.jobs import JOB_VARIABLE
from qiaocrawl.jobs.desk import MISSED_AFTER_SECONDS, JobDesk
from qiaocrawl.jobs.processes import process_of
from qiaocrawl.jobs.requests import JUDGE
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.storage import Database, jobs, schedules
from qiaocrawl.storage.jobs import Job, JobRequest, JobState
from qiaocrawl.storage.schedules import FiringResult, Schedule, Timing, WhenMissed


def test_of_two_consoles_one_starts_a_job(database: Database, tmp_path: Path) -> None:
    desk = desk_over(database, tmp_path)
    job = job_of(database, desk.request(SITE, "admin"))
    with database.engine.begin() as c:
        assert jobs.claim(c, job, datetime.now(UTC))
        assert jobs.claim(c, job, datetime.now(UTC)) is None


def _schedule(database: Database, when: WhenMissed, due: float) -> Callable[[], Schedule]:
    # Its server is none of ours, so that nothing is started here.
    request = JobRequest("site", "qiaoqing", "far:6800")
    with database.engine.begin() as c:
        schedule_id = schedules.add_schedule(
            c, request, Timing("06:00", "Asia/Shanghai", due, when), by="admin",
            now=datetime.now(UTC),
        )  # fmt: skip

    def read() -> Schedule:
        with database.engine.connect() as c:
            stored = schedules.find_schedule(c, schedule_id)
        assert stored is not None
        return stored

    return read


@pytest.mark.parametrize(("when", "late_seconds", "result"), [
    (WhenMissed.SKIP, 1, FiringResult.STARTED),
    (WhenMissed.SKIP, MISSED_AFTER_SECONDS + 1, FiringResult.MISSED),
    # Five days of missed times are one run.
    (WhenMissed.RUN, 5 * 86_400, FiringResult.STARTED),
])  # fmt: skip
def test_a_time_is_kept_once_and_a_missed_one_by_choice(
    database: Database, tmp_path: Path, when: WhenMissed, late_seconds: float, result: FiringResult
) -> None:
    """F-W14."""
    due = Timetable("06:00", "Asia/Shanghai").next_after(time.time())
    read, desk, now = (
        _schedule(database, when, due),
        desk_over(database, tmp_path),
        due + late_seconds,
    )
    desk.tick(due - 1)
    assert read().last_result is None
    for moment in (now, now + 1, now - 3_600):  # the clock may be put back
        desk.tick(moment)
    assert read().last_result is result
    assert read().next_at == Timetable("06:00", "Asia/Shanghai").next_after(now)
    with database.engine.connect() as c:
        entered = jobs.active_jobs(c)
    assert len(entered) == (result is FiringResult.STARTED)


def test_a_run_that_takes_longer_than_its_interval_is_alone(
    database: Database, tmp_path: Path
) -> None:
    """F-W14."""
    due = Timetable("06:00", "Asia/Shanghai").next_after(time.time())
    read, desk = _schedule(database, WhenMissed.RUN, due), desk_over(database, tmp_path)
    desk.tick(due + 1)
    desk.tick(due + 1 + 86_400)
    assert read().last_result is FiringResult.OVERLAP
    with database.engine.connect() as c:
        (waiting,) = jobs.active_jobs(c)
    assert "far:6800" in waiting.message


@contextmanager
def _begun(database: Database, desk: JobDesk, wanted: JobRequest) -> Iterator[tuple[Job, int]]:
    """A job in hand, and the number of its process, which nobody wrote down."""
    waiting = job_of(database, desk.request(wanted, "admin"))
    with database.engine.begin() as c:
        token = jobs.claim(c, waiting, datetime.now(UTC))
    assert token
    with subprocess.Popen(["sleep", "600"], env={**os.environ, JOB_VARIABLE: token}) as process:
        try:
            yield job_of(database, waiting.id), process.pid
        finally:
            process.kill()


def test_a_process_whose_console_died_before_it_wrote_it_down_is_taken_up(
    database: Database, tmp_path: Path
) -> None:
    desk = desk_over(database, tmp_path)
    with _begun(database, desk, SITE) as (job, pid):
        desk.tick()
        taken = job_of(database, job.id)
    assert (taken.state, taken.pid, taken.attempts) == (JobState.RUNNING, pid, 1)


def test_a_job_is_stopped_at_the_console_of_another_machine(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, there = desk_over(database, tmp_path), desk_over(database, tmp_path)
    with _begun(database, desk, SITE) as (job, pid):
        desk.tick()
        # As from there, where no process of this machine is seen.
        monkeypatch.setattr(there.local, "find", lambda _job: None)
        there.stop(job.id)
        assert job_of(database, job.id).state is JobState.STOPPING
        desk.tick()
        deadline = time.monotonic() + WAIT_SECONDS
        while process_of(job.token, pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        desk.tick()
    assert job_of(database, job.id).state is JobState.STOPPED


def test_how_a_process_ended_is_known_until_it_is_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_over(database, tmp_path)
    with _begun(database, desk, JobRequest(JUDGE, "qiaoqing")) as (job, _pid):
        desk.tick()
        with subprocess.Popen(["false"]) as failed:
            failed.wait()
        desk.local._children[job.token] = failed
        with monkeypatch.context() as m:
            m.setattr(desk, "_end", _away)
            with pytest.raises(OperationalError):
                desk.tick()
        desk.tick()
    assert job_of(database, job.id).state is JobState.FAILED


def _away(*_what: object) -> None:
    raise OperationalError("UPDATE job", {}, Exception("server has gone away"))
