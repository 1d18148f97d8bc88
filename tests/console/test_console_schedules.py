"""Schedules at the console: their next times, changed, run at once; the whole log of a job."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import insert, text

from console_client import Desk, visible
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.storage import audit_log, jobs, schedules, schema
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.schedules import Schedule, Timing, WhenMissed
from storage_samples import PACK, add_topic

# Once a year, so that it does not come while a test runs.
TIMES = "0 14 1 1 *", "Asia/Shanghai"
CHANGED = {"spider": "site", "topic": PACK.name, "minutes": "7", "zone": "UTC",
           "when_missed": "skip", "times": "mon-fri 8:00"}  # fmt: skip
REQUEST = JobRequest("site", PACK.name, "", {"start": "http://a.test/"},
                     {"QIAO_MAX_SECONDS": "300", "QIAO_DEPTH": "2"})  # fmt: skip


def _scheduled(desk: Desk) -> int:
    add_topic(desk.database)
    timing = Timing(*TIMES, Timetable(*TIMES).next_after(time.time()))
    with desk.database.engine.begin() as c:
        return schedules.add_schedule(c, REQUEST, timing, by="chief", now=datetime.now(UTC))


def _moments(count: int) -> list[str]:
    """The next times, by the clocks of their zone."""
    times = Timetable(*TIMES).coming(time.time(), count)
    return [f"{datetime.fromtimestamp(at, ZoneInfo(TIMES[1])):%Y-%m-%d %H:%M}" for at in times]


def _one(desk: Desk, schedule_id: int) -> Schedule:
    with desk.database.engine.connect() as c:
        entry = schedules.find_schedule(c, schedule_id)
    assert entry is not None
    return entry


def test_a_schedule_is_changed_and_says_when_it_comes(desk: Desk) -> None:
    number = _scheduled(desk)
    path = f"/schedules/{number}"
    desk.log_in_as("reader")
    words = visible(desk.get(path).text)
    # By the clocks of its own zone, which are eight hours ahead.
    for moment in _moments(3):
        assert moment in words
        assert moment in visible(desk.get("/jobs").text)
    assert f'action="{path}"' not in desk.get(path).text
    desk.log_in_as("editor")
    assert 'value="0 14 1 1 *"' in desk.get(path).text
    for wrong in ({"times": "soon"}, {"times": ""}, {"zone": "Nowhere"}, {"spider": "login"},
                  {"topic": "none"}, {"when_missed": "x"}):  # fmt: skip
        assert desk.post(path, **{**CHANGED, **wrong}).status_code == 400, wrong
    assert _one(desk, number).times == "0 14 1 1 *"
    assert desk.post(path, **CHANGED).status_code == 303
    entry = _one(desk, number)
    assert (entry.times, entry.zone, entry.when_missed) == ("mon-fri 8:00", "UTC", WhenMissed.SKIP)
    assert entry.is_on
    assert entry.next_at == Timetable("mon-fri 8:00", "UTC").next_after(time.time())
    # What the form does not ask for stays.
    assert entry.request.arguments == REQUEST.arguments
    assert entry.request.settings == {"QIAO_MAX_SECONDS": "420", "QIAO_DEPTH": "2"}
    with desk.database.engine.connect() as c:
        (noted,) = audit_log.entries(c, limit=1)
    assert noted.action == "schedule.change"
    assert json.loads(noted.before)["times"] == "0 14 1 1 *"
    assert json.loads(noted.after)["times"] == "mon-fri 8:00"
    assert desk.get("/schedules/999").status_code == 404


def test_a_schedule_is_run_at_once(desk: Desk) -> None:
    number = _scheduled(desk)
    desk.log_in_as("editor")
    where = desk.post(f"/schedules/{number}/run").headers["location"]
    with desk.database.engine.connect() as c:
        (job,) = jobs.active_jobs(c)
    assert where == f"/jobs/{job.id}"
    assert (job.request, job.requested_by) == (REQUEST, "editor")
    # Its own times stay, and it does not run twice at a time.
    assert _one(desk, number).next_at == Timetable(*TIMES).next_after(time.time())
    assert desk.post(f"/schedules/{number}/run").status_code == 400
    assert desk.post("/schedules/999/run").status_code == 404


def test_times_that_cannot_be_read_are_not_told(sqlite_desk: Desk) -> None:
    number = _scheduled(sqlite_desk)
    with sqlite_desk.database.engine.begin() as c:
        c.execute(text("UPDATE job_schedule SET times = 'whenever'"))
    sqlite_desk.log_in_as("editor")
    for path in ("/jobs", f"/schedules/{number}"):
        words = visible(sqlite_desk.get(path).text)
        assert _moments(1)[0] in words
        assert "cannot be read" in words
        assert "change the schedule or switch it off" in words


def test_times_that_cannot_be_read_can_be_switched_off(sqlite_desk: Desk) -> None:
    number = _scheduled(sqlite_desk)
    with sqlite_desk.database.engine.begin() as c:
        c.execute(text("UPDATE job_schedule SET times = 'whenever'"))
    sqlite_desk.log_in_as("editor")
    path = f"/schedules/{number}/switch"
    assert sqlite_desk.post(path, on="no").status_code == 303
    assert not _one(sqlite_desk, number).is_on
    assert sqlite_desk.post(path, on="yes").status_code == 400
    assert not _one(sqlite_desk, number).is_on


def test_one_bad_schedule_spoils_no_page_and_is_not_run(sqlite_desk: Desk) -> None:
    number = _scheduled(sqlite_desk)
    with sqlite_desk.database.engine.begin() as c:
        c.execute(text("UPDATE job_schedule SET zone = 'Nowhere', when_missed = 'later',"
                       " last_result = 'what', last_at = 0, settings = '{'"))  # fmt: skip
    sqlite_desk.log_in_as("editor")
    for path in ("/jobs", f"/schedules/{number}"):
        assert "must be one of run, skip; change the schedule" in visible(
            sqlite_desk.get(path).text
        )
    assert sqlite_desk.post(f"/schedules/{number}/run").status_code == 400


def test_the_page_tells_who_does_not_look(sqlite_desk: Desk) -> None:
    with sqlite_desk.database.engine.begin() as c:
        told = ("jobs", 0.0, ""), ("search index", time.time(), "the disk is full")
        c.execute(insert(schema.keeper), [
            {"name": name, "machine": "far", "looked_at": at, "trouble": trouble}
            for name, at, trouble in told
        ])  # fmt: skip
    sqlite_desk.log_in_as("reader")
    words = visible(sqlite_desk.get("/jobs").text)
    assert "jobs and schedules on far: last looked after 1970-01-01 08:00." in words
    assert "search index (far) the disk is full" in words


def test_the_next_times_follow_one_another() -> None:
    table, start = Timetable("周一 9:00", "Asia/Shanghai"), 0.0
    times = table.coming(start, 3)
    assert times[0] == table.next_after(start)
    assert [later - earlier for earlier, later in zip(times, times[1:], strict=False)] == [
        7 * 86_400.0
    ] * 2
    assert table.coming(start, 0) == []


def test_the_whole_log_is_text_to_keep(sqlite_desk: Desk, tmp_path: Path) -> None:
    desk, log = sqlite_desk, tmp_path / "job.log"
    add_topic(desk.database)
    # More than the page shows the end of.
    whole = "第一行\n" + "<script>alert(1)</script>\n" * 20_000
    log.write_text(whole, "utf-8")
    with desk.database.engine.begin() as c:
        ids = [
            jobs.add_job(c, JobRequest("site", PACK.name), by="e", machine="m",
                         now=datetime.now(UTC))
            for _number in range(2)
        ]  # fmt: skip
        jobs.change(c, ids[0], JobState.FAILED, {JobState.WAITING}, log=str(log))
    desk.log_in_as("reader")
    assert f'href="/jobs/{ids[0]}/log.txt"' in desk.get(f"/jobs/{ids[0]}").text
    answer = desk.get(f"/jobs/{ids[0]}/log.txt")
    assert answer.text == whole
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="job-{ids[0]}.txt"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert desk.get(f"/jobs/{ids[1]}/log.txt").status_code == 400
    assert desk.get("/jobs/999/log.txt").status_code == 404


def test_a_change_that_cannot_be_read_stays_in_its_form(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as("editor")
    job = {"spider": "site", "topic": PACK.name, "zone": "Asia/Shanghai", "when_missed": "run"}
    assert desk.post("/jobs", **job, times="每天早上6点").status_code == 303
    wrong = desk.post("/schedules/1", **{**job, "minutes": "7"}, times="天一亮")
    assert wrong.status_code == 400
    assert 'value="天一亮"' in wrong.text
    assert 'id="fault-times"' in wrong.text
    assert 'value="7"' in wrong.text
    assert desk.post("/schedules/1", **job, times="晚上十点").status_code == 303
    assert "22:00" in visible(desk.get("/schedules/1").text)
