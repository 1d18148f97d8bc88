"""A job as somebody watches it: its stages, what came, what is in the way, and how it ended."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_browser import chromium, new_context, served
from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.jobs.stages import DONE, FAILED, RUNNING, SKIPPED, WAITING, view_job
from qiaocrawl.storage import Database, jobs, people, run_log
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.topics.topics import list_topics, topic_id
from qiaocrawl.storage.values import to_stored_time

STATS = {run_log.PAGES: 42, run_log.NEW_ARTICLES: 5, run_log.ON_TOPIC: 3}


def _job(database: Database, spider: str = "round", seconds_ago: float = 190.0) -> int:
    """A job on the topic there is, that runs since then."""
    begun = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    with database.engine.begin() as c:
        (own, *_others) = list_topics(c)
        job_id = jobs.add_job(
            c, JobRequest(spider, own.name), by="编辑", machine="elsewhere", now=begun
        )
        jobs.change(
            c, job_id, JobState.RUNNING, {JobState.WAITING}, started_at=to_stored_time(begun)
        )
    return job_id


def _run(database: Database, spider: str, reason: str = "", **stats: int) -> None:
    """The record of a run that began a minute ago; with a reason it is over."""
    now = time.time()
    with database.engine.begin() as c:
        (own, *_others) = list_topics(c)
        number = run_log.start_run(c, spider, topic_id(c, own.name), {}, now=now - 60)
        if reason:
            run_log.finish_run(c, number, reason, stats, 0, now=now - 30)


@pytest.fixture
def watched(sqlite_desk: Desk) -> Desk:
    """A console with a topic and articles that were stored today."""
    add_stories(sqlite_desk.database)
    now = to_stored_time(datetime.now(UTC))
    with sqlite_desk.database.engine.begin() as c:
        c.execute(text("UPDATE article SET fetched_at = :now"), {"now": now})
    sqlite_desk.log_in_as("editor")
    return sqlite_desk


def _states(desk: Desk, job_id: int) -> list[str]:
    with desk.database.reading() as c:
        job = jobs.find_job(c, job_id)
        assert job is not None
        return [stage.state for stage in view_job(c, job, time.time()).stages]


def test_a_round_is_shown_stage_by_stage_as_its_spiders_come_and_go(watched: Desk) -> None:
    job_id = _job(watched.database)
    assert _states(watched, job_id) == [WAITING] * 5
    _run(watched.database, "watch", "finished", **STATS)
    _run(watched.database, "pages")
    # No engine is chosen: the round leaves the second stage out.
    assert _states(watched, job_id) == [DONE, SKIPPED, RUNNING, WAITING, WAITING]
    page = watched.get(f"/jobs/{job_id}").text
    words = visible(page)
    assert "Step 3 of 5. 3 min" in words
    assert "42 pages, 5 new" in words
    assert page.count("<progress") == 5
    assert 'http-equiv="refresh"' in page, "without scripts it loads itself anew"
    with watched.database.engine.connect() as c:
        titles = c.execute(text("SELECT title FROM article JOIN relevance ON article_id = id "
                                "WHERE relevant")).scalars().all()  # fmt: skip
    assert any(title in page for title in titles)


def test_the_analysis_is_the_last_stage_and_the_end_is_told_in_a_sentence(watched: Desk) -> None:
    job_id = _job(watched.database)
    for spider in ("watch", "search", "pages", "site"):
        _run(watched.database, spider, "finished", **STATS)
    assert _states(watched, job_id) == [DONE] * 4 + [RUNNING]
    with watched.database.engine.begin() as c:
        jobs.change(c, job_id, JobState.FINISHED, {JobState.RUNNING},
                    ended_at=to_stored_time(datetime.now(UTC)))  # fmt: skip
    assert _states(watched, job_id) == [DONE] * 5
    page = watched.get(f"/jobs/{job_id}").text
    words = visible(page)
    assert re.search(r"articles on topic, 20 new ones, in 3 min \d+ s", words)
    assert "See what is new" in words
    assert "refresh" not in page
    told = json.loads(watched.get(f"/jobs/{job_id}/events").text.split("data: ")[1])
    assert told["is_over"]
    assert "20 new ones" in told["words"]
    assert visible(told["html"]) in words


def test_a_failed_job_has_its_reason_and_goes_on_and_no_next_steps(watched: Desk) -> None:
    job_id = _job(watched.database)
    _run(watched.database, "watch", "finished", **STATS)
    _run(watched.database, "pages", "database_away")
    with watched.database.engine.begin() as c:
        jobs.change(c, job_id, JobState.FAILED, {JobState.RUNNING}, message="<i>the disk is full",
                    ended_at=to_stored_time(datetime.now(UTC)))  # fmt: skip
    assert _states(watched, job_id) == [DONE, SKIPPED, FAILED, WAITING, WAITING]
    page = watched.get(f"/jobs/{job_id}").text
    words = visible(page)
    assert "It did not come to its end. &lt;i&gt;the disk is full" in words
    assert "See what is new" not in words
    assert "Go on, once it is mended" in words
    form = dict(re.findall(r'name="(spider|topic|server)" value="([^"]*)"', page))
    again = watched.post("/jobs", **form)
    assert again.headers["location"] == f"/jobs/{job_id + 1}"
    watched.log_in_as("reader")
    assert "Go on, once it is mended" not in watched.get(f"/jobs/{job_id}").text


def test_a_job_that_waits_and_one_whose_topic_is_gone_are_shown_too(watched: Desk) -> None:
    with watched.database.engine.begin() as c:
        waits = jobs.add_job(c, JobRequest("site", list_topics(c)[0].name), by="x",
                             machine="elsewhere", now=datetime.now(UTC))  # fmt: skip
        gone = jobs.add_job(c, JobRequest("judge", "gone"), by="x", machine="elsewhere",
                            now=datetime.now(UTC))  # fmt: skip
    assert "It waits for its turn." in visible(watched.get(f"/jobs/{waits}").text)
    assert watched.get(f"/jobs/{gone}").status_code == 200


@pytest.mark.chromium
def test_what_comes_is_seen_without_loading_the_page(watched: Desk) -> None:
    job_id = _job(watched.database)
    url = str(watched.database.url)
    secret = credentials.new_secret()
    with watched.database.engine.begin() as c:
        user = people.add_user(c, Actor("test"), "chief", "-", people.ROLES[-1])
        c.exec_driver_sql("UPDATE console_user SET must_change = 0")
        people.open_session(c, user, secret, "")
    with served(url) as base, chromium() as browser:
        context = new_context(browser)
        context.add_cookies([{"name": credentials.SESSION, "value": secret, "url": base}])
        page = context.new_page()
        page.goto(f"{base}/jobs/{job_id}")
        page.evaluate("window.isTheSame = true")
        assert page.locator("li.stage-running").count() == 0
        _run(watched.database, "watch")
        page.locator("li.stage-running").wait_for()
        assert page.evaluate("window.isTheSame"), "the page was not loaded anew"
        assert page.locator("[data-said]").get_attribute("aria-live") == "polite"
        page.locator("[data-said]", has_text="Step 1 of 5").wait_for(state="attached")
