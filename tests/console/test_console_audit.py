"""Every change that is made at the console is in the log of changes, with words for it (F-W16)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from console_articles import add_foreign
from console_client import Desk, visible
from model_server import served_model
from qiaocrawl.console import crawl_scorer
from qiaocrawl.console.app import AREAS
from qiaocrawl.console.pages.people import ACTION_NAMES
from qiaocrawl.console.pages.record_of_changes import FIELD_NAMES, field_changes
from qiaocrawl.console.security import credentials
from qiaocrawl.fetch.sessions.vault import new_key
from qiaocrawl.jobs.local import Logins
from qiaocrawl.language import _
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import audit_log, people
from qiaocrawl.storage.audit_log import Actor, AuditEntry
from qiaocrawl.storage.pages.raw_pages import store_page
from qiaocrawl.storage.schema import State
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.sites import watched
from storage_samples import PACK, candidate, enqueue, fetched, take, url_key
from told_stories import make_stories, warn_of_stories

POSTS = {page.name: page.path for area in AREAS for page in area.pages if page.method == "POST"}
CHANGE_NOTHING = {
    "account.preferences": "a cookie of the browser",
    "topics.look": "a file in memory, for half an hour",
    "topics.collect": "words in memory, to be decided about",
    "stories.analyse": "what the analysis does after each collection, done now",
    "first_run.preview": "what typed words would find, counted",
    "warnings.preview": "what a rule would have warned of, counted",
}
"""Forms that leave no trace in the database."""
TOPIC, WATCHED = PACK.name, "http://www.a-qiao.cn/list/"
CELL = {"topic": TOPIC, "term": "侨务", "site": "www.a-qiao.cn", "engine": "demo"}
TERM = {"text": "侨务", "old": "侨务", "kind": "policy", "weight": "3", "note": "改"}
SITE = {
    "host": "www.b-news.cn",
    "old": "www.b-news.cn",
    "name": "丙",
    "role": "target",
    "tier": "2",
    "kind": "newspaper",
}
SHUT = "http://www.a-qiao.cn/shut"
FEED = "http://paper.test/feed.xml"
TEMPLATE = {"url": WATCHED, "hosts": "www.a-qiao.cn", "path": "*", "body": "p"}
JOB = {"spider": "site", "topic": TOPIC, "minutes": "5", "zone": "UTC", "when_missed": "run"}
WARNING_RULE = {"name": "火情", "severity": "warning", "any_of": "失火", "enabled": "yes"}
CHANNEL = {"kind": "webhook", "name": "平台", "address": "http://127.0.0.1:9/hidden"}
PROGRAM = {"kind": "program", "name": "程序", "address": "https://hooks.example/hidden"}
OFFICE = {"unit": "侨办", "masthead": "侨情简报", "title_font": "宋体", "heading_font": "黑体",
          "body_font": "仿宋"}  # fmt: skip
FILE = "词,权重\n侨务,4\n博物馆,2\n".encode()

Step = tuple[str, str, dict[str, Any]]
# Name of the form, what it is of, and what is written into it; in the order things become true.
STEPS: tuple[Step, ...] = (
    ("articles.save_search", "", {"name": "n", "query": "q=x"}),
    ("articles.remove_search", "1", {}),
    ("articles.mark", "1", {"action": "relevant", "topic": TOPIC}),
    ("articles.mark", "1", {"action": "irrelevant", "topic": TOPIC}),
    ("articles.mark", "1", {"action": "unjudged", "topic": TOPIC}),
    ("articles.mark", "1", {"action": "star", "value": "yes"}),
    ("articles.mark", "1", {"action": "note", "value": "记"}),
    ("articles.mark", "1", {"action": "tags", "value": "要"}),
    ("articles.mark", "1", {"action": "class", "topic": TOPIC, "value": "教育"}),
    ("articles.package", "1", {}),
    ("stories.package", "1", {}),
    ("stories.follow", "1", {}),
    ("stories.merge", "1", {"other": "2"}),
    ("stories.take_back", "1", {"story": "1"}),
    ("stories.split", "1", {"article": "1"}),
    ("articles.translate_titles", "", {"article": "4"}),
    ("articles.translate", "4", {}),
    ("articles.drop_translation", "4", {}),
    ("stories.draft", "1", {}),
    ("stories.save_draft", "1", {"revision": "1", "sentence": "改过。"}),
    ("stories.drop_draft", "1", {}),
    ("briefings.make", "", {"topic": TOPIC, "days": "1"}),
    ("briefings.begin", "", {"kind": "day"}),
    ("briefings.head", "1", {"title": "日报", "issue": "9", "script": "traditional", "note": "按"}),
    ("briefings.add", "1", {"line": "一句。"}),
    ("briefings.put", "", {"article": "1"}),
    ("briefings.save_item", "1", {"heading": "标题", "sentence": "改过。", "revision": "1"}),
    ("briefings.move", "1", {"step": "down"}),
    ("briefings.lead", "1", {}),
    ("briefings.accept_lead", "1", {"revision": "1"}),
    ("briefings.drop", "1", {}),
    ("briefings.restore", "1", {}),
    ("briefings.submit", "1", {}),
    ("briefings.give_back", "1", {"reason": "再看"}),
    ("briefings.submit", "1", {}),
    ("briefings.approve", "1", {}),
    ("briefings.send", "1", {"channel": "desk", "by_hand": "市委办公室"}),
    ("briefings.reopen", "1", {}),
    ("briefings.begin", "", {"kind": "week"}),
    ("briefings.delete", "2", {}),
    ("office.save_paper", "", OFFICE),
    ("links.add", "1", {"receiver": "市台办", "days": "7"}),
    ("links.revoke", "1", {"story": "1"}),
    ("warnings.mark", "1", {"action": "note"}),
    ("warnings.mark", "1", {"action": "mute"}),
    ("warnings.mark", "1", {"action": "unmute"}),
    ("warnings.add_rule", "", WARNING_RULE),
    ("warnings.save_rule", "1", {**WARNING_RULE, "severity": "urgent", "revision": "1"}),
    ("warnings.switch_rule", "1", {"on": "no"}),
    ("warnings.drop_rule", "1", {}),
    ("warnings.save_quiet", "", {"begin": "22:00", "end": "07:00", "passes": "urgent"}),
    ("warnings.test", "", {"channel": "desk"}),
    ("warnings.save_channel", "", CHANNEL),
    ("warnings.save_channel", "", {**CHANNEL, "known": "yes"}),
    ("warnings.save_pushes", "", {"channel": "平台", "digest": "yes", "at": "7:30"}),
    ("warnings.send_digest", "", {"channel": "desk"}),
    ("warnings.drop_channel", "", {"channel": "平台"}),
    ("warnings.save_channel", "", PROGRAM),
    ("warnings.save_program", "", {"channel": "程序", "articles": "yes"}),
    ("warnings.resume_program", "", {"channel": "程序"}),
    ("api.mark", "1", {"starred": "false", "note": "程序"}),
    ("api.mark_warning", "1", {"action": "unnote"}),
    ("api.mark_warning", "1", {"action": "note"}),
    ("api.decide", TOPIC, {"text": "寻亲", "weight": "2"}),
    ("api.keep_group", TOPIC, {"name": "寻亲", "any_of": ["寻亲"]}),
    ("api.drop_group", TOPIC, {"name": "寻亲"}),
    ("coverage.again", "", CELL),
    ("coverage.missed_again", "", {"topic": TOPIC, "why": "blocked", "url": SHUT}),
    ("coverage.again_all", "", {"topic": TOPIC, "engine": "demo", "state": "blocked"}),
    ("topics.take", "", {"change_known": "yes"}),
    ("topics.take_shipped", "", {"name": "education"}),
    ("topics.save_term", TOPIC, TERM),
    ("topics.save_site", TOPIC, SITE),
    ("topics.move_threshold", TOPIC, {"percent": "60"}),
    ("topics.decide", TOPIC, {"word": "寻根", "action": "accept", "weight": "2"}),
    ("topics.decide", TOPIC, {"word": "寻根", "action": "reject"}),
    ("topics.decide", TOPIC, {"word": "寻根问祖", "action": "merge", "synonym_of": "华侨"}),
    ("topics.undo", TOPIC, {}),
    ("topics.make", "", {"name": "wenlv", "words": "博物馆"}),
    ("topics.save_about", "wenlv", {"title": "文旅"}),
    ("topics.rename", "wenlv", {"name": "luyou"}),
    ("topics.take_samples", "luyou", {"texts": "开馆\n一座博物馆开馆。"}),
    ("topics.save_sample", "luyou", {"name": "开馆", "title": "新馆", "text": "开馆了。"}),
    ("topics.delete", "luyou", {"sure": "luyou"}),
    ("sites.weigh", "", {"url": WATCHED, "weight": "2.5", "topic": TOPIC}),
    ("sites.say_media", "", {"host": "a.example", "medium": "diaspora"}),
    ("trends.save_group", TOPIC, {"name": "救灾", "any": "失火、救灾"}),
    ("trends.drop_group", TOPIC, {"name": "救灾"}),
    ("sites.add_feed", "", {"topic": TOPIC, "url": FEED, "name": "侨报"}),
    ("sites.remove_feed", "", {"topic": TOPIC, "url": FEED}),
    ("boards.add", "", {"topic": TOPIC, "url": "http://boards.test/api/s?id=x", "name": "榜"}),
    ("boards.add", "", {"topic": TOPIC, "url": "http://boards.test/api/s?id=x", "name": "改"}),
    ("boards.remove", "", {"topic": TOPIC, "url": "http://boards.test/api/s?id=x"}),
    ("api.keep_board", TOPIC, {"url": "http://boards.test/api/s?id=y", "name": "榜"}),
    ("api.drop_board", TOPIC, {"url": "http://boards.test/api/s?id=y"}),
    ("sites.save_template", "", TEMPLATE),
    ("sites.restore_template", "", {"url": WATCHED, "version": "1"}),
    ("sites.save_template", "", {**TEMPLATE, "remove": "yes"}),
    ("engines.check", "", {"engine": "baidu"}),
    ("backups.make", "", {}),
    ("sites.add_account", "", {"site": "weibo.com", "name": "编辑部"}),
    ("sites.log_in", "1", {"do": "login"}),
    ("sites.log_in", "1", {"do": "check"}),
    ("sites.cookies", "1", {"cookies": "SUB=hidden1; WBPSESS=hidden2"}),
    ("sites.log_out", "1", {}),
    ("jobs.start", "", JOB),
    ("jobs.stop", "1", {}),
    ("api.start", "", {"spider": "search", "topic": TOPIC}),
    ("api.stop", "2", {}),
    ("jobs.start", "", {**JOB, "times": "6:00"}),
    ("jobs.change_schedule", "1", {**JOB, "times": "7:00"}),
    ("jobs.run_schedule", "1", {}),
    ("sites.reread", "", {"host": "www.a-qiao.cn"}),
    ("first_run.collect", TOPIC, {"line": "medium"}),
    ("topics.retire", TOPIC, {"sure": TOPIC}),
    ("jobs.switch", "1", {"on": "yes"}),
    ("jobs.drop", "1", {}),
    ("api.add_schedule", "", {"spider": "search", "topic": TOPIC, "times": "6:00"}),
    ("api.change_schedule", "1", {"spider": "search", "topic": TOPIC, "times": "8:00"}),
    ("api.switch_schedule", "1", {"on": "false"}),
    ("api.run_schedule", "1", {}),
    ("api.drop_schedule", "1", {}),
    ("first_run.save_office", "", {"name": "某市侨办"}),
    ("office.save", "", {"name": "某市侨办信息处"}),
    ("people.add", "", {"name": "新人", "role": "reader"}),
    ("handovers.give", "", {"kind": "event", "number": "1", "receiver": "1", "note": "核实"}),
    ("handovers.answer", "1", {"action": "done", "text": "好"}),
    ("handovers.pass", "1", {"receiver": "2"}),
    ("people.change", "2", {"role": "editor"}),
    ("people.change", "2", {"disabled": "yes"}),
    ("people.change", "2", {"disabled": "no"}),
    ("people.reset", "2", {}),
    ("account.save_pushes", "", {"kind": "mail", "address": "li@office.test", "least": "urgent"}),
    ("account.test_pushes", "", {}),
    ("account.drop_pushes", "", {}),
    ("account.add_token", "", {"name": "程序"}),
    ("account.remove_token", "1", {}),
    ("account.save_password", "", {"old": "old one", "new": "new one", "again": "new one"}),
    ("account.log_out", "", {}),
    ("account.do_log_in", "", {"name": "administrator", "password": "new one"}),
)
WITH_BOTH = {
    "account.check", "account.cookies", "account.log_out", "account.login", "article.note",
    "article.star", "article.tags", "briefing.approve", "briefing.edit", "briefing.move",
    "briefing.reopen", "briefing.return", "briefing.submit", "channel.change", "handover.answer",
    "handover.pass", "office.change", "office.paper", "job.stop", "query.again", "rule.change",
    "rule.switch",
    "schedule.change", "schedule.switch", "topic.about", "topic.rename", "topic.retire",
    "topic.samples", "topic.sites", "topic.terms", "topic.threshold", "user.disable", "user.enable",
    "user.role", "warning.mute", "warning.note", "warning.unmute", "watch.weight",
}  # fmt: skip
"""What changes something that is there: the entry has it as it was and as it is."""
SAY_ALL = {"session.begin", "session.end"}
"""Entries with nothing before or after."""


@pytest.fixture
def desk_of_all(
    sqlite_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """A console where each step can be made; passwords cost nothing, no process is started."""
    monkeypatch.chdir(tmp_path)  # where backups go
    monkeypatch.setenv("QIAO_SECRET_KEY", new_key())
    # Its stories were judged by hand, as no scorer would.
    monkeypatch.setattr(crawl_scorer, "is_stale", lambda *_what: False)
    monkeypatch.setattr(Logins, "start", lambda *_self, **_named: None)
    monkeypatch.setattr(credentials, "hash_password", lambda password: f"-{password}")
    monkeypatch.setattr(credentials, "is_right", lambda stored, given: bool(stored))
    channels = tmp_path / "channels.toml"
    # Nobody listens there: that it did not arrive is what the log has to say.
    mail = "mailto://u:hidden@127.0.0.1:9/?mode=insecure&from=o@office.test"
    channels.write_text(f'desk = "json://127.0.0.1:9/hidden"\npost = "{mail}"\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_CHANNELS", str(channels))
    monkeypatch.setenv("QIAO_ALLOW_ADDRESSES", "127.0.0.1:9")
    make_stories(str(sqlite_desk.database.engine.url))
    assert add_foreign(sqlite_desk.database) == 4
    warn_of_stories(str(sqlite_desk.database.engine.url), Rule("任何", channels=()))
    now = time.time()
    with sqlite_desk.database.engine.begin() as c:
        query = Query(TOPIC, CELL["term"], CELL["site"], "demo", 1)
        ledger.record_answer(c, query, ledger.Answered(AnswerState.BLOCKED), now)
        page = candidate("list/", host="www.a-qiao.cn")
        enqueue(c, [page])
        (lease,) = [one for one in take(c, 100) if one.url == WATCHED]
        markup = "<html><h1>列表</h1><p>各地代表讨论侨务工作。</p></html>"
        store_page(c, lease, fetched(lease, markup.encode("gbk")), now=now)
        enqueue(c, [candidate("shut", host="www.a-qiao.cn")])
        c.execute(text("UPDATE url SET state = :done, outcome = 'blocked' WHERE url = :url"),
                  {"done": int(State.DONE), "url": SHUT})  # fmt: skip
        # Two texts, so that one can be taken out.
        c.execute(text("UPDATE story_article SET voice_url_id = url_id"))
        watched.enter_page(c, TOPIC, url_key(page.url), kind="list", name="", weight=1.0, now=now)
    sqlite_desk.log_in_as("administrator")
    with sqlite_desk.database.engine.begin() as c:
        user = people.find_user(c, "administrator")
        assert user is not None
        people.add_token(c, Actor("administrator"), user, "steps", "step")
    with served_model() as model:
        model.echoes = True
        for name, value in model.options().items():
            monkeypatch.setenv(name, str(value))
        yield sqlite_desk


def _entries(desk: Desk) -> list[AuditEntry]:
    with desk.database.engine.connect() as c:
        return audit_log.entries(c, limit=1000)[::-1]


def _path(desk: Desk, name: str, of: str) -> str:
    """Where the form called *name* is sent to, for the thing *of*."""
    if name != "topics.take":
        parts = (of if part.startswith("{") else part for part in POSTS[name].split("/"))
        return "/".join(parts)
    sent = desk.client.post(
        "/topics/import", data={"csrf_token": desk.token, "topic": TOPIC},
        files={"file": ("词.csv", FILE)},
    )  # fmt: skip
    return str(sent.headers["location"])


def test_every_form_is_tried() -> None:
    tried = {name for name, _of, _fields in STEPS}
    assert tried | CHANGE_NOTHING.keys() == POSTS.keys()
    assert not tried & CHANGE_NOTHING.keys()


def test_every_change_is_in_the_log(desk_of_all: Desk) -> None:
    desk, seen, started = desk_of_all, len(_entries(desk_of_all)), datetime.now(UTC)
    for name, of, fields in STEPS:
        path = _path(desk, name, of)
        if name == "account.do_log_in":
            _change_cookie(desk, "")
            desk.get("/log-in")
        answer = _sent(desk, name, path, fields)
        assert answer.status_code in (200, 303), (name, fields, visible(answer.text))
        if name in ("account.save_password", "account.do_log_in"):
            _change_cookie(desk, answer.cookies[credentials.SESSION])
        new = _entries(desk)[seen:]
        assert new, (name, fields)
        seen += len(new)
        for entry in new:
            _check(entry, started)
    written = {entry.action for entry in _entries(desk)}
    assert written >= WITH_BOTH
    # The others are log-ins that fail (test_console_sessions) or are another's (sign_in), and a
    # command's.
    assert ACTION_NAMES.keys() - written == {
        "session.fail", "session.throttle", "rule.import", "user.connect",
    }  # fmt: skip
    page = desk.get("/people/changes").text
    assert "<code>" not in page
    assert "role: Reader → Editor" in visible(page)
    _check_fields(_entries(desk))


def _check_fields(entries: list[AuditEntry]) -> None:
    """Every field has words; what has none is what people wrote themselves."""
    own = {"desk", "救灾", "寻亲", "市委办公室"}
    fields = {part for entry in entries for field in field_changes(entry)
              for part in field.name.split(" › ")}  # fmt: skip
    told = {_(name) for name in FIELD_NAMES.values()}
    without = {one for one in fields - told - own if "." not in one and not one.isupper()
               and not one.startswith("QIAO_")}  # fmt: skip
    assert not without, " ".join(sorted(without))


def _sent(desk: Desk, name: str, path: str, fields: dict[str, Any]) -> Any:
    """The answer to a form, or to the JSON of a program with a token."""
    if not name.startswith("api."):
        return desk.post(path, **fields)
    return desk.client.post(path, json=fields, headers={"Authorization": "Bearer step"})


def _change_cookie(desk: Desk, cookie: str) -> None:
    """Have *cookie* for a session and no other."""
    desk.client.cookies.clear()
    desk._cookie = cookie
    if cookie:
        desk.client.cookies.set(credentials.SESSION, cookie)


def _check(entry: AuditEntry, started: datetime) -> None:
    """It says who, when, what, and how that was before and is now; no secret."""
    assert entry.action in ACTION_NAMES, entry
    assert entry.user_name == "administrator"
    assert entry.at.timestamp() >= started.timestamp() - 1
    assert entry.target, entry
    assert entry.before or entry.after or entry.action in SAY_ALL, entry
    states: list[Any] = [json.loads(state) for state in (entry.before, entry.after) if state]
    if entry.action in WITH_BOTH:
        assert len(states) == 2, entry
        assert states[0] != states[1], entry
    assert "hidden" not in str(entry)
    assert "new one" not in str(entry)


def test_what_is_changed_is_told_as_it_was(desk_of_all: Desk) -> None:
    desk, seen = desk_of_all, len(_entries(desk_of_all))
    chosen = {"topics.take", "sites.weigh", "topics.decide", "topics.undo", "topics.save_term"}
    for name, of, fields in STEPS:
        if name in chosen:
            assert desk.post(_path(desk, name, of), **fields).status_code == 303, name
    told: list[Any] = [
        (entry.action, *(json.loads(state) if state else None
                         for state in (entry.before, entry.after)))
        for entry in _entries(desk)[seen:]
    ]  # fmt: skip
    imported, term, accepted, rejected, merged, undone, weighed = told
    assert [row["weight"] for row in imported[1]["terms"]] == [1.0]
    assert [(row["text"], row["weight"]) for row in imported[2]["terms"]] == [
        ("侨务", 4.0), ("博物馆", 2.0),
    ]  # fmt: skip
    assert (imported[2]["file"], term[1]["weight"], term[2]["weight"]) == ("词.csv", 4.0, 3.0)
    assert accepted[0] == "word.accept"
    assert (accepted[1], accepted[2]["weight"]) == (None, 2.0)
    assert (rejected[1], rejected[2]) == (accepted[2], None)
    assert (merged[1], merged[2]["synonym_of"]) == (None, "华侨")
    assert (undone[0], undone[1]["text"], undone[2]) == ("word.undo", "寻根问祖", None)
    assert weighed[0] == "watch.weight"
    assert [state["weight"] for state in weighed[1:]] == [1.0, 2.5]


def test_what_is_different_is_told_in_words() -> None:
    def told(before: str, after: str) -> list[tuple[str, str, str]]:
        entry = AuditEntry(1, datetime.now(UTC), "王", "", "user.role", "李", before, after)
        return [(field.name, field.before, field.after) for field in field_changes(entry)]

    # What is the same is not told.
    assert told('{"role": "reader", "name": "李"}', '{"role": "editor", "name": "李"}') == [
        ("role", "Reader", "Editor")
    ]
    assert told("", '{"on": true, "due_at": "2026-11-28T16:30:00+00:00", "tags": ["a", "b"]}') == [
        ("on", "", "yes"), ("due", "", "2026-11-29 00:30"), ("tags", "", "a, b"),
    ]  # fmt: skip
    assert told('{"a.example": {"path": "/"}}', "") == [("a.example › path", "/", "")]
    # A state that was too long is cut, and no JSON any more.
    assert told('{"terms": [{"te', "") == [("value", '{"terms": [{"te', "")]
