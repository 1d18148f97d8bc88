"""The desk of jobs: who starts one, and what becomes of times that come."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from job_desks import SITE, desk_over, job_of
from qiaocrawl.jobs.desk import MISSED_AFTER_SECONDS
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.storage import Database
from qiaocrawl.storage.jobs import jobs, schedules
from qiaocrawl.storage.jobs.jobs import JobRequest
from qiaocrawl.storage.jobs.schedules import FiringResult, Schedule, Timing, WhenMissed


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
