"""Jobs, coverage and sites at the console: started, scheduled, seen live; asked again; weighed."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

from console_client import Desk, visible
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import audit_log, jobs, run_log, schedules
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.search import ledger
from storage_samples import PACK, add_topic

JOB = {"spider": "site", "topic": PACK.name, "minutes": "5", "zone": "Asia/Shanghai",
       "when_missed": "run"}  # fmt: skip


def test_a_job_is_scheduled_switched_off_and_dropped(desk: Desk) -> None:
    add_topic(desk.database)
    desk.log_in_as("editor")
    assert desk.post("/jobs", **JOB, times="mon-fri 6:00").status_code == 303
    for wrong in ({"times": "soon"}, {"spider": "login"}, {"topic": "none"}, {"minutes": "x"},
                  {"server": "evil.test:80"}, {"zone": "Nowhere", "times": "6:00"}):  # fmt: skip
        answer = desk.post("/jobs", **{**JOB, **wrong})
        assert answer.status_code == 400, wrong
    # The message stands beside the form, which keeps what was written.
    page = desk.post("/jobs", **{**JOB, "minutes": "45", "times": "天一亮"}).text
    assert "Nothing was started." in visible(page)
    assert 'value="45"' in page
    assert 'value="天一亮"' in page
    assert f'<option value="{PACK.name}" selected>' in page
    assert 'aria-describedby="fault-times"' in page
    with desk.database.engine.connect() as c:
        (entry,) = schedules.schedules(c)
    assert entry.request == JobRequest("site", PACK.name, "", {}, {"QIAO_MAX_SECONDS": "300"})
    assert "mon-fri 6:00" in visible(desk.get("/jobs").text)
    assert desk.post(f"/schedules/{entry.id}/switch", on="no").status_code == 303
    with desk.database.engine.connect() as c:
        assert schedules.due_schedules(c, time.time() + 10 * 86_400) == []
    assert desk.post(f"/schedules/{entry.id}/drop").status_code == 303
    with desk.database.engine.connect() as c:
        assert schedules.schedules(c) == []
        actions = [line.action for line in audit_log.entries(c)]
    assert actions[:3] == ["schedule.drop", "schedule.switch", "schedule.add"]


def test_runs_that_others_started_are_listed_too(desk: Desk) -> None:
    topic = add_topic(desk.database)
    now = time.time()
    with desk.database.engine.begin() as c:
        first, _second = (run_log.start_run(c, "site", topic, {}, now=now) for _ in range(2))
        stats = {run_log.PAGES: 1234, run_log.NEW_ARTICLES: 56, run_log.ON_TOPIC: 7}
        run_log.finish_run(c, first, "limit_pages", stats, 89, now=now)
    desk.log_in_as("reader")
    words = visible(desk.get("/jobs").text)
    assert "as many pages as allowed 1,234 56 7 89" in words
    assert "not at its end 0 0 0" in words


def test_what_runs_is_told_as_events_and_logs_are_text(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as("reader")
    assert desk.get("/jobs/events").text == 'retry: 5000\n\ndata: {"jobs": []}\n\n'
    with desk.database.engine.begin() as c:
        job_id = jobs.add_job(
            c, JobRequest("site", PACK.name, "", {}, {}), by="<b>me", machine="elsewhere",
            now=datetime.now(UTC),
        )  # fmt: skip
        jobs.change(c, job_id, JobState.FAILED, {JobState.WAITING}, message="<script>alert(1)")
    told = desk.get(f"/jobs/{job_id}/events").text.split("data: ")[1]
    assert json.loads(told)["state"] == "failed"
    for path in ("/jobs", f"/jobs/{job_id}"):
        assert "<script>alert" not in desk.get(path).text
        assert "<b>me" not in desk.get(path).text


def test_the_map_says_what_was_missed_and_asks_again(desk: Desk) -> None:
    topic_row = add_topic(desk.database)
    queries = [Query(PACK.name, "侨务", site, "demo", 1) for site in ("", "www.a-qiao.cn")]
    now = time.time()
    with desk.database.engine.begin() as c:
        ledger.plan_queries(c, topic_row, queries, now)
        ledger.record_answer(c, queries[0], ledger.Answered(AnswerState.HIT, hits=12), now)
        blocked = ledger.Answered(AnswerState.BLOCKED, message="captcha <b>")
        ledger.record_answer(c, queries[1], blocked, now)
    desk.log_in_as("editor")
    page = desk.get("/coverage").text
    assert 'class="answer-hit-1"' in page
    assert 'class="answer-blocked"' in page
    assert "blocked" in visible(page)
    cell = {"topic": PACK.name, "term": "侨务", "site": "www.a-qiao.cn", "engine": "demo"}
    shown = desk.get("/coverage/cell", params=cell).text
    assert "captcha &lt;b&gt;" in shown
    engines, hour = ["demo"], now + 60

    def due() -> list[str]:
        with desk.database.engine.connect() as c:
            rows = ledger.due_queries(c, PACK.name, engines, repeat_seconds=72_000, now=hour)
        return [row.query.site for row in rows]

    assert due() == []
    assert desk.post("/coverage/again", **cell).status_code == 303
    assert due() == ["www.a-qiao.cn"]


def test_sites_show_with_nothing_there(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("editor")
    assert sqlite_desk.get("/sites").status_code == 200
    add_topic(sqlite_desk.database)
    assert sqlite_desk.get("/sites").status_code == 200
    wrong = {"url": "http://nowhere.test/", "weight": "2"}
    assert sqlite_desk.post("/sites/weight", **wrong).status_code == 400
