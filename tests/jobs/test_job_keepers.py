"""What looks after jobs all the time: it outlives any error, and says when it looked last."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from job_desks import WAIT_SECONDS, desk_over, job_of
from qiaocrawl.console.keepers import JobKeeper
from qiaocrawl.console.search_keeper import BROKEN, BUILDING, SearchKeeper
from qiaocrawl.jobs.local import schedule_alarms
from qiaocrawl.jobs.metrics import MetricsKeeper
from qiaocrawl.jobs.requests import JUDGE
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.options import Options
from qiaocrawl.reading.alarms import StoreInUse
from qiaocrawl.storage import Database, jobs, schedules
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.keepers import (
    JOBS,
    METRICS,
    SEARCH,
    SILENT_AFTER_SECONDS,
    KeeperLog,
    StoredKeeper,
    stored_keepers,
)
from qiaocrawl.storage.schedules import FiringResult, Schedule, Timing, WhenMissed
from storage_samples import add_topic

DAY, YEAR = 86_400.0, 365 * 86_400.0
# Its server is none of ours, so that nothing is started here.
FAR = "far:6800"
DAILY = Timetable("06:00", "Asia/Shanghai")
NOW = datetime(2026, 3, 5, 4, tzinfo=UTC).timestamp()


def _schedule(database: Database, times: str = "06:00", topic: str = "qiaoqing") -> int:
    next_at = DAILY.next_after(NOW)
    with database.engine.begin() as c:
        return schedules.add_schedule(
            c, JobRequest("site", topic, FAR), Timing(times, "Asia/Shanghai", next_at),
            by="admin", now=datetime.fromtimestamp(NOW, UTC),
        )  # fmt: skip


def _read(database: Database, number: int) -> Schedule:
    with database.engine.connect() as c:
        found = schedules.find_schedule(c, number)
    assert found is not None
    return found


def _over(database: Database) -> None:
    """Every job is over."""
    with database.engine.begin() as c:
        for job in jobs.active_jobs(c):
            jobs.change(c, job.id, JobState.FINISHED, {job.state})


@pytest.mark.parametrize("ahead_seconds", [DAY, YEAR])
@pytest.mark.parametrize("when", list(WhenMissed))
def test_a_schedule_goes_on_after_a_clock_was_ahead(
    database: Database, tmp_path: Path, ahead_seconds: float, when: WhenMissed
) -> None:
    number = _schedule(database)
    with database.engine.begin() as c:
        c.execute(text("UPDATE job_schedule SET when_missed = :w"), {"w": when.value})
    desk = desk_over(database, tmp_path)
    desk.tick(NOW + ahead_seconds)
    _over(database)
    desk.tick(NOW)
    due = DAILY.next_after(NOW)
    assert _read(database, number).next_at == due
    for _day in range(3):
        desk.tick(due + 1)
        entry = _read(database, number)
        assert (entry.last_at, entry.last_result) == (due + 1, FiringResult.STARTED)
        _over(database)
        due += DAY


def test_one_schedule_or_job_that_cannot_be_read_keeps_no_other_from_going(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    due = DAILY.next_after(NOW)
    wrong = {
        _schedule(database, topic="a"): "when_missed = 'later'",
        _schedule(database, topic="b"): "times = 'whenever'",
        _schedule(database, topic="c"): "zone = 'Nowhere'",
        _schedule(database, topic="d"): "settings = '{'",
    }
    good = _schedule(database, topic="e")
    desk = desk_over(database, tmp_path)
    with database.engine.begin() as c:
        for number, change in wrong.items():
            c.exec_driver_sql(f"UPDATE job_schedule SET {change} WHERE id = {number}")
        spoilt = jobs.add_job(c, JobRequest(JUDGE, "f"), by="admin", machine=socket.gethostname(),
                              now=datetime.now(UTC))  # fmt: skip
        c.execute(text("UPDATE job SET arguments = '{'"))
    with caplog.at_level(logging.WARNING):
        for second in range(5):
            desk.tick(due + second)
    assert _read(database, good).last_result is FiringResult.STARTED
    assert job_of(database, spoilt).state is JobState.FAILED
    for number in wrong:
        assert _read(database, number).last_result is None
        # Once, not with every tick.
        assert caplog.text.count(f"schedule {number}: ") == 1
        assert f"schedule {number}: " in desk.trouble


def test_a_schedule_that_is_stored_with_times_too_close_comes_all_the_same(
    database: Database, tmp_path: Path
) -> None:
    number = _schedule(database, "06:00, 06:01")
    due, desk = DAILY.next_after(NOW), desk_over(database, tmp_path)
    desk.tick(due + 1)
    assert _read(database, number).last_result is FiringResult.STARTED
    assert desk.trouble == ""


def test_health_names_schedules_that_started_nothing_at_two_of_their_times(
    database: Database, tmp_path: Path
) -> None:
    number, due = _schedule(database), DAILY.next_after(NOW)
    desk = desk_over(database, tmp_path)

    def alarms(now: float) -> list[str]:
        with database.engine.connect() as c:
            return schedule_alarms(c, now)

    assert alarms(due + 3 * 3_600) == []
    (line,) = alarms(due + DAY + 3_600)
    assert f"schedule {number} (site of qiaoqing, 06:00): two of its times have passed" in line
    assert "start `qiaocrawl console`" in line
    desk.tick(due + DAY + 3_600)
    with database.engine.begin() as c:
        at = datetime.fromtimestamp(due + DAY + 3_600, UTC).replace(tzinfo=None)
        c.execute(jobs.job.update().values(created_at=at))
    assert alarms(due + DAY + 7_200) == []
    # The job never ends: its times are left out, one after the other.
    for day in (2, 3):
        desk.tick(due + day * DAY + 1)
    assert _read(database, number).last_result is FiringResult.OVERLAP
    (line,) = alarms(due + 3 * DAY + 3_600)
    assert "the job before it is still not over" in line
    with database.engine.begin() as c:
        schedules.switch(c, number, False, due)
    assert alarms(due + 9 * DAY) == []
    # Switched on again: it is not blamed for the time it was off.
    now = time.time()
    with database.engine.begin() as c:
        schedules.switch(c, number, True, DAILY.next_after(now))
    assert alarms(now + 3_600) == []


def _seen(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _row(database: Database, name: str) -> StoredKeeper | None:
    with database.engine.connect() as c:
        rows = {one.name: one for one in stored_keepers(c)}
    return rows.get(name)


class Panic(BaseException):
    """What a library in another language raises: no Exception."""


@pytest.fixture
def keepers(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, Callable[[BaseException | None], None]]]:
    """Each keeper at work; what makes its looks fail (None: no more)."""
    monkeypatch.setattr("qiaocrawl.console.keepers._TICK_SECONDS", 0.05)
    monkeypatch.setattr("qiaocrawl.console.search_keeper._PAUSE_SECONDS", 0.05)
    add_topic(database)
    looking = JobKeeper(database, Options({}))
    index = SearchKeeper(database, tmp_path / "index")
    figures = MetricsKeeper(database, StoreInUse("database", 1), 0.05)
    places = {
        JOBS: (looking.desk, "tick"),
        SEARCH: (index, "_catch_up"),
        METRICS: (figures, "_read"),
    }
    errors: dict[str, BaseException | None] = dict.fromkeys(places)

    def spoiling(name: str) -> Callable[[BaseException | None], None]:
        owner, method = places[name]
        whole = getattr(owner, method)

        def look(*arguments: object, **named: object) -> object:
            if (error := errors[name]) is not None:
                raise error
            return whole(*arguments, **named)

        monkeypatch.setattr(owner, method, look)
        return lambda error: errors.update({name: error})

    spoil = {name: spoiling(name) for name in places}
    reading = threading.Thread(target=figures.run)
    looking.start()
    index.start()
    reading.start()
    yield spoil
    looking.stop()
    index.stop()
    figures.stop()
    reading.join()
    # Whoever ends in order is missed by nobody.
    with database.engine.connect() as c:
        assert stored_keepers(c) == []


@pytest.mark.parametrize("name", [JOBS, SEARCH, METRICS])
@pytest.mark.parametrize("error", [RuntimeError("out of the blue"), Panic("out of the blue")])
def test_a_keeper_outlives_any_error_and_says_so(
    database: Database, keepers: dict[str, Callable[[BaseException | None], None]], name: str,
    error: BaseException, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip

    def trouble() -> str | None:
        row = _row(database, name)
        return None if row is None else row.trouble

    _seen(lambda: trouble() == "")
    keepers[name](error)
    _seen(lambda: trouble() == "out of the blue")
    assert caplog.text.count(f"{name}: not looked after") == 1
    keepers[name](None)
    _seen(lambda: trouble() == "")


def test_one_that_does_not_look_is_silent(database: Database) -> None:
    log = KeeperLog(database, JOBS)
    log.note_look()
    row = _row(database, JOBS)
    assert row is not None
    assert not row.is_silent(row.looked_at + SILENT_AFTER_SECONDS)
    assert row.is_silent(row.looked_at + SILENT_AFTER_SECONDS + 1)
    # A look in the future was written by a clock that was ahead.
    assert row.is_silent(row.looked_at - YEAR)
    log.note_failure(RuntimeError("no"))
    later = _row(database, JOBS)
    assert later == row._replace(trouble="no")


def test_what_only_tells_of_a_look_ends_no_keeper(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even an error that no driver raises."""
    log = KeeperLog(database, JOBS)

    def mutated() -> None:
        raise RuntimeError("deque mutated during iteration")

    with monkeypatch.context() as broken:
        broken.setattr(database.engine, "begin", mutated)
        log.note_look()
        log.note_failure(OSError("no disk"))
    assert _row(database, JOBS) is None
    log.note_look()
    assert _row(database, JOBS) is not None


def test_a_search_by_an_index_that_fails_reads_texts_instead(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_topic(database)
    index = SearchKeeper(database, tmp_path / "index")
    index.build(lambda done, of: None, anew=True)
    assert index.notice() not in (BROKEN, BUILDING)

    def panic(*_what: object) -> bool:
        raise Panic("out of the blue")

    monkeypatch.setattr(index, "_catch_up", panic)
    assert index.search([], newest_first=True) is None
    assert index.notice() == BROKEN
