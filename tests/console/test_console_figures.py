"""Figures and the lists they lead to; watched pages; what is counted once."""

from __future__ import annotations

import html
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.page import Kept
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import jobs
from qiaocrawl.storage.jobs import CrawlProgress, JobRequest, JobState
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.sites import watched
from storage_samples import PACK, add_article, add_topic, candidate, enqueue

NOON = datetime(2026, 11, 20, 4, tzinfo=UTC)


class _Noon(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return NOON.astimezone(tz)


def stored(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")


def test_each_figure_and_each_bar_leads_to_what_it_counts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("overview", "listed_articles"):
        monkeypatch.setattr(f"qiaocrawl.console.pages.{place}.datetime", _Noon)
    add_stories(desk.database)
    # Today, yesterday late in China (two), and a week ago.
    found = [NOON, NOON - timedelta(hours=12, minutes=1), NOON - timedelta(hours=13),
             NOON - timedelta(days=7)]  # fmt: skip
    query = Query(PACK.name, "侨务", "", "demo", 1)
    with desk.database.engine.begin() as c:
        for row_id, when in enumerate(found, 1):
            c.execute(text("UPDATE article SET fetched_at = :when WHERE id = :id"),
                      {"when": stored(when), "id": row_id})  # fmt: skip
        c.execute(text("UPDATE url SET outcome = 'dead', done_at = :now WHERE id = 1"),
                  {"now": stored(NOON)})  # fmt: skip
        ledger.record_answer(c, query, ledger.Answered(AnswerState.BLOCKED), NOON.timestamp())
    desk.log_in_as("reader")
    page = desk.get("/figures").text
    figures = re.findall(
        r'class="console-figure" href="([^"]+)"><span class="[^"]+">(\d+)</span>', page
    )
    assert [int(number) for _address, number in figures[:12]] == [
        1,
        4,
        1,
        3,
        0,
        1,
        1,
        3,
        1,
        1,
        1,
        1,
    ]
    for address, number in figures[:12]:
        assert counted(desk, html.unescape(address)) == int(number), address
    assert html.unescape(figures[12][0]).endswith("#logins")
    bars = re.findall(r'<a href="([^"]+)" aria-label="([^"]+)"', page)
    days = {
        "2026-11-20": "1 new, 1 on topic", "2026-11-19": "2 new, 2 on topic",
        "2026-11-18": "0 new, 0 on topic", "2026-11-13": "1 new, 0 on topic",
    }  # fmt: skip
    for day, words in days.items():
        (address,) = (where for where, label in bars if label == f"{day}: {words}")
        assert counted(desk, html.unescape(address)) == int(words[0])
    (on_topic,) = (where for where, label in bars if label == "2026-11-19: 2 on topic")
    assert counted(desk, html.unescape(on_topic)) == 2


def counted(desk: Desk, address: str) -> int:
    """How many things the page at *address* lists, at most a page of them."""
    answer = desk.get(address)
    assert answer.status_code == 200
    page = answer.text
    if address.startswith("/sources"):
        return page.count("<tr><td")
    if address.startswith("/refused"):
        assert f"/coverage?topic={PACK.name}&amp;engine=demo&amp;state=blocked" in page
        return page.count("<section")
    if address.startswith("/dead"):
        return page.count("console-row")
    return len(re.findall(r'console-title"><a ', page))


def test_alarms_are_told_before_the_first_article(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    topic_row = add_topic(desk.database)
    now = datetime.now(UTC).timestamp()
    desk.log_in_as("reader")
    assert "Needs a hand" not in visible(desk.get("/").text)
    queries = [Query(PACK.name, term, "", "demo", 1) for term in ("侨务", "侨胞", "侨乡")]
    with desk.database.engine.begin() as c:
        ledger.plan_queries(c, topic_row, queries, now)
        for query in queries:
            ledger.record_answer(c, query, ledger.Answered(AnswerState.BLOCKED), now)
    desk.client.app.state.console.kept.clear()  # type: ignore[attr-defined]
    words = visible(desk.get("/").text)
    assert "Needs a hand" in words
    assert "none of them good" in words
    assert "The first steps" in words


def test_every_watched_page_can_be_reached_and_is_weighed_for_its_topic(desk: Desk) -> None:
    add_topic(desk.database)
    add_topic(desk.database, replace(PACK, name="other"))
    pages = [candidate(f"list/{number:03d}", host="a.example") for number in range(230)]
    with desk.database.engine.begin() as c:
        enqueue(c, pages)
        for number, page in enumerate(pages):
            watched.enter_page(c, PACK.name, page.key, kind="list", name=f"栏目{number}",
                               weight=1.0, now=1.0)  # fmt: skip
        watched.enter_page(c, "other", pages[229].key, kind="list", name="", weight=1.0, now=1.0)
        add_article(c, "x")
    desk.log_in_as("editor")
    seen, address = [], f"/sites?topic={PACK.name}"
    while address:
        page = desk.get(address).text
        seen += re.findall(r'target="_blank">([^<]+)</a>', page)
        further = re.search(r'rel="next" href="(\?[^"#]+)', page)
        address = "/sites" + html.unescape(further[1]) if further else ""
    assert seen == [page.url for page in pages]
    for find in ("LIST/229", "栏目229"):
        page = desk.get(f"/sites?topic={PACK.name}&find={find}").text
        assert re.findall(r'target="_blank">([^<]+)</a>', page) == [pages[229].url]
    assert "No watched page has this" in visible(desk.get("/sites?find=%25").text)
    change = {"topic": PACK.name, "url": pages[229].url, "weight": "3"}
    back = f"/sites?topic={PACK.name}&page=3#watched"
    assert desk.post("/sites/weight", **change, next=back).headers["location"] == back
    with desk.database.engine.connect() as c:
        weights = [
            {page.url: page.weight for page in watched.watched_pages(c, topic)}[pages[229].url]
            for topic in (PACK.name, "other")
        ]
    assert weights == [3.0, 1.0]


def test_what_takes_long_is_made_once_for_all_who_wait() -> None:
    kept = Kept()
    made: list[str] = []

    def make() -> int:
        made.append(threading.current_thread().name)
        gate.wait(5)
        return len(made)

    gate = threading.Event()
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(kept.get("name", 60.0, make)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert results == [1, 1, 1, 1]
    kept.forget("name")
    assert kept.get("name", 0.0, make) == 2
    assert kept.get("name", 60.0, make) == 3
    with pytest.raises(ZeroDivisionError):
        kept.get("other", 60.0, lambda: 1 // 0)
    assert kept.get("other", 60.0, lambda: 7) == 7


def test_the_progress_of_a_crawl_is_counted_once_for_all_who_look(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, counts = sqlite_desk, []
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        request = JobRequest("site", PACK.name, "", {}, {})
        job_id = jobs.add_job(c, request, by="x", machine="elsewhere", now=datetime.now(UTC))
        jobs.change(c, job_id, JobState.RUNNING, {JobState.WAITING})
    monkeypatch.setattr("qiaocrawl.console.pages.jobs._EVENT_SECONDS", 600.0)

    def count(*arguments: object) -> CrawlProgress:
        counts.append(arguments)
        return CrawlProgress(12_345, 0, 0, 0)

    monkeypatch.setattr("qiaocrawl.console.pages.jobs.crawl_progress", count)
    desk.log_in_as("reader")
    for path in ("/jobs", f"/jobs/{job_id}", "/jobs"):
        assert "12,345" in visible(desk.get(path).text)
    assert len(counts) == 1
