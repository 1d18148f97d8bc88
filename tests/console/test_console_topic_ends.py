"""A topic's beginning, name and end at the console."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import text

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.news.warnings import office_rules as warning_rules
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import audit_log, jobs, schedules
from qiaocrawl.storage.jobs import JobRequest, JobState
from qiaocrawl.storage.schedules import NodeTerms
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.topics.judgements import save_judgement
from qiaocrawl.storage.topics.topics import list_topics, load_pack
from storage_samples import PACK, add_topic, candidate, enqueue

DAILY = {"spider": "site", "topic": PACK.name, "minutes": "5", "zone": "UTC",
         "when_missed": "run", "times": "6:00"}  # fmt: skip
PATH = f"/topics/{PACK.name}"


def names(desk: Desk) -> list[str]:
    with desk.database.engine.connect() as c:
        return [topic.name for topic in list_topics(c)]


def last_change(desk: Desk) -> audit_log.AuditEntry:
    with desk.database.engine.connect() as c:
        (entry,) = audit_log.entries(c, limit=1)
    return entry


def test_a_topic_is_made_of_words_or_of_another(desk: Desk) -> None:
    desk.log_in_as("editor")
    made = {"name": "wenlv", "title": "文旅", "words": "博物馆 古城，非遗、博物馆"}
    assert desk.post("/topics/new", **made).headers["location"].endswith("/topics/wenlv")
    with desk.database.engine.connect() as c:
        pack = load_pack(c, "wenlv")
    assert [term.text for term in pack.terms] == ["博物馆", "古城", "非遗"]
    assert json.loads(last_change(desk).after)["terms"] == 3
    add_topic(desk.database)
    copy = {"name": "qiaowu2", "copy_of": PACK.name, "words": "侨务 侨乡"}
    assert desk.post("/topics/new", **copy).status_code == 303
    with desk.database.engine.connect() as c:
        pack = load_pack(c, "qiaowu2")
    assert pack.title == "侨情 (copy)"
    assert [term.text for term in pack.terms] == ["华侨", "侨务", "唐人街", "侨乡"]
    assert (pack.sites, pack.samples) == (PACK.sites, PACK.samples)
    for wrong in ({"name": "wenlv", "words": "x"}, {"name": "x"}, {"name": "Ä", "words": "x"},
                  {"name": "y", "copy_of": "nothing"}):  # fmt: skip
        assert desk.post("/topics/new", **wrong).status_code in (400, 404), wrong
    assert names(desk) == ["qiaoqing", "qiaowu2", "wenlv"]


def test_the_title_is_changed_and_both_are_noted(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    desk.log_in_as("editor")
    told = {"title": "侨情要闻", "description": "一行\r\n又一行"}
    assert desk.post(f"{PATH}/about", **told).status_code == 303
    with desk.database.engine.connect() as c:
        pack = load_pack(c, PACK.name)
    assert (pack.title, pack.description) == ("侨情要闻", "一行\n又一行")
    assert (pack.terms, pack.samples) == (PACK.terms, PACK.samples)
    entry = last_change(desk)
    assert json.loads(entry.before)["title"] == "侨情"
    assert json.loads(entry.after)["title"] == "侨情要闻"
    assert desk.post(f"{PATH}/about", title="").status_code == 400
    desk.log_in_as("reader")
    page = desk.get(f"{PATH}/about")
    assert 'action="/topics' not in page.text
    assert "侨情要闻" in page.text


def test_a_topic_is_called_otherwise_everywhere(desk: Desk) -> None:
    add_stories(desk.database)
    desk.log_in_as("editor")
    desk.post("/jobs", **DAILY)
    for query in (f"topic={PACK.name}&q=a%26topic", "topic=qiaoqing2&q=topic", "q=topic"):
        desk.post("/articles/searches", name=query[:30], query=query)
    with desk.database.engine.begin() as c:
        job_id = jobs.add_job(
            c, JobRequest("site", PACK.name), by="e", machine="m", now=datetime.now(UTC)
        )
        for name, topic in (("own", PACK.name), ("any", "")):
            warning_rules.add_rule(c, Rule(name, topic=topic), "e", datetime.now(UTC))
        terms = NodeTerms("http://n.test:6800/", topics=("wenlv", PACK.name))
        schedules.save_node(c, "n.test:6800", terms, datetime.now(UTC))
    # A crawl that runs knows the topic by its name.
    answer = desk.post(f"{PATH}/rename", name="qiaowu")
    assert (answer.status_code, names(desk)) == (400, ["qiaoqing"])
    with desk.database.engine.begin() as c:
        jobs.change(c, job_id, JobState.FAILED, {JobState.WAITING})
    for wrong in ("Q", "", PACK.name, "a b"):
        assert desk.post(f"{PATH}/rename", name=wrong).status_code == 400
    assert desk.post(f"{PATH}/rename", name="qiaowu").headers["location"] == "/topics/qiaowu/about"
    assert names(desk) == ["qiaowu"]
    with desk.database.engine.connect() as c:
        (entry,) = schedules.schedules(c)
        job = jobs.find_job(c, job_id)
        lists = c.execute(text("SELECT query FROM saved_search ORDER BY id")).scalars().all()
        rules = {kept.rule.name: kept.rule.topic for kept in warning_rules.kept_rules(c)}
        (node,) = schedules.list_nodes(c)
    assert job is not None
    assert (entry.request.topic, job.request.topic) == ("qiaowu", "qiaowu")
    assert set(lists) == {"q=a%26topic&topic=qiaowu", "q=topic", "q=topic&topic=qiaoqing2"}
    # Rules that name it go on warning, and nodes that may run it do.
    assert rules == {"own": "qiaowu", "any": ""}
    assert node.terms.topics == ("wenlv", "qiaowu")
    # What was found for it is still its own.
    assert "侨务工作会议召开" in desk.get("/articles?topic=qiaowu").text
    assert desk.get(PATH).status_code == 404
    assert last_change(desk).action == "topic.rename"


def test_a_topic_that_found_pages_is_retired_and_never_deleted(desk: Desk) -> None:
    add_stories(desk.database)
    desk.log_in_as("editor")
    desk.post("/jobs", **DAILY)
    page = visible(desk.get(f"{PATH}/about").text)
    for part in ("pages found for it 4", "articles with a verdict 4", "schedules that are on 1",
                 "1 schedule is switched off", "It cannot be deleted"):  # fmt: skip
        assert part in page, part
    assert f"{PATH}/delete" not in desk.get(f"{PATH}/about").text
    assert desk.post(f"{PATH}/delete", sure=PACK.name).status_code == 400
    assert desk.post(f"{PATH}/retire").status_code == 400
    assert desk.post(f"{PATH}/retire", sure="侨情").status_code == 400
    assert desk.post(f"{PATH}/retire", sure=PACK.name).status_code == 303
    with desk.database.engine.connect() as c:
        assert schedules.due_schedules(c, time.time() + 10 * 86_400) == []
        assert len(schedules.schedules(c)) == 1
    entry = last_change(desk)
    assert (entry.action, json.loads(entry.before)) == ("topic.retire", {"schedules": 1})
    assert "侨务工作会议召开" in desk.get(f"/articles?topic={PACK.name}").text


def test_a_topic_without_pages_is_deleted_with_all_that_is_its_own(desk: Desk) -> None:
    row, other = add_topic(desk.database), "wenlv"
    desk.log_in_as("editor")
    desk.post("/topics/new", name=other, words="博物馆")
    desk.post("/jobs", **DAILY)
    query = Query(PACK.name, "侨务", "", "demo", 1)
    with desk.database.engine.begin() as c:
        ledger.plan_queries(c, row, [query], time.time())
        ledger.record_answer(c, query, ledger.Answered(AnswerState.HIT, hits=2), time.time())
        save_judgement(c, PACK.name, "http://a.test/", relevant=True, note="", now=time.time())
        job_id = jobs.add_job(
            c, JobRequest("site", PACK.name), by="e", machine="m", now=datetime.now(UTC),
            schedule_id=schedules.schedules(c)[0].id,
        )  # fmt: skip
    assert desk.post(f"{PATH}/delete", sure=PACK.name).status_code == 400
    assert "stop it first" in visible(desk.get(f"{PATH}/about").text)
    with desk.database.engine.begin() as c:
        jobs.change(c, job_id, JobState.STOPPED, {JobState.WAITING})
        # An article of another topic that somebody gave a class of this one.
        enqueue(c, [replace(candidate("1"), topic=other)])
        c.execute(text(
            "INSERT INTO article_class (url_id, topic_id, name, certainty, words, model, marked_by)"
            " SELECT url.id, topic.id, 'c', 1, '[]', '', 'e' FROM url, topic"
            " WHERE topic.name = :name"
        ), {"name": PACK.name})  # fmt: skip
    assert desk.post(f"{PATH}/delete", sure=other).status_code == 400
    assert names(desk) == [PACK.name, other]
    assert desk.post(f"{PATH}/delete", sure=PACK.name).headers["location"] == "/topics"
    assert names(desk) == [other]
    entry = last_change(desk)
    assert [term["text"] for term in json.loads(entry.before)["terms"]] == [
        "华侨",
        "侨务",
        "唐人街",
    ]
    assert (entry.action, entry.after) == ("topic.delete", "")
    for page in ("/topics", "/jobs", f"/jobs/{job_id}", "/people/changes", "/articles"):
        desk.log_in_as("administrator")
        assert desk.get(page).status_code == 200, page
    # The name is free for a new one.
    assert desk.post("/topics/new", name=PACK.name, words="侨乡").status_code == 303
