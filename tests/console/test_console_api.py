"""The API: by a token only, as its document says, and as the client of the docs reads it."""

from __future__ import annotations

import re
import time
from dataclasses import is_dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from console_client import BASE, Desk
from qiaocrawl.console.app import AREAS
from qiaocrawl.console.openapi import Asked
from qiaocrawl.console.pages import api_records
from qiaocrawl.console.pages.api import OPERATIONS
from qiaocrawl.console.pages.api_records import Briefing, TopicChoice
from qiaocrawl.console.security import credentials
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.search.boards import BoardEntry
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import audit_log, people
from qiaocrawl.storage.audit_log import Actor
from qiaocrawl.storage.jobs import JobRequest, add_job
from qiaocrawl.storage.schema import url
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.search.ledger import Answered
from qiaocrawl.storage.sites.boards import note_entries
from qiaocrawl.storage.sites.sources import add_sources
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.topic.feeds import Feed
from qiaocrawl.urls import url_key
from storage_samples import PACK, add_article, add_topic
from told_stories import keep_a_briefing, make_stories, warn_of_stories

ROOT = Path(__file__).resolve().parents[2]
TOPIC = f"/api/v1/topics/{PACK.name}"


def _headers(desk: Desk, role: str = "reader") -> dict[str, str]:
    desk.log_in_as(role)
    token = credentials.new_secret()
    with desk.database.engine.begin() as c:
        user = people.find_user(c, role)
        assert user is not None
        people.add_token(c, Actor(role), user, "test", token)
    desk.log_in_as("")
    return {"Authorization": f"Bearer {token}"}


class Client:
    """A program with a token, that holds every answer against the document."""

    def __init__(self, desk: Desk, role: str = "reader") -> None:
        self._desk = desk
        self._headers = _headers(desk, role)
        self.document: dict[str, Any] = self._send("GET", "/api/openapi.json")

    def get(self, path: str, **choices: object) -> Any:
        return self._checked("GET", path, params=choices)

    def post(self, path: str, **sent: object) -> Any:
        return self._checked("POST", path, json=sent)

    def status(self, method: str, path: str, **sent: Any) -> int:
        answer = self._desk.client.request(method, path, headers=self._headers, **sent)
        if answer.status_code != 200:
            assert answer.json()["error"], path
        return int(answer.status_code)

    def _send(self, method: str, path: str, **sent: Any) -> Any:
        answer = self._desk.client.request(method, path, headers=self._headers, **sent)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()

    def _checked(self, method: str, path: str, **sent: Any) -> Any:
        answer = self._send(method, path, **sent)
        operation = self.operation(method, path)
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        self._check(schema, answer)
        assert [text for text in _texts(answer) if _TIME.match(text) and text[-1] != "Z"] == []
        if "json" in sent:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            self._check(body, sent["json"])
        return answer

    def _check(self, schema: dict[str, Any], value: Any) -> None:
        whole = {**schema, "components": self.document["components"]}
        Draft202012Validator(_strict(whole)).validate(value)

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """What the document has for an address."""
        for template, methods in self.document["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                found: dict[str, Any] = methods[method.lower()]
                return found
        raise AssertionError(f"{path} is not in the document")


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:")


def _texts(node: Any) -> list[str]:
    """All texts in an answer."""
    if isinstance(node, str):
        return [node]
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for one in inside for text in _texts(one)]


def _strict(node: Any) -> Any:
    """*node*, whose records have no field that it does not name."""
    if isinstance(node, list):
        return [_strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    strict = {key: _strict(value) for key, value in node.items()}
    is_record = isinstance(node.get("properties"), dict) and node.get("type") == "object"
    return {**strict, "additionalProperties": False} if is_record else strict


@pytest.fixture
def told(desk: Desk) -> Desk:
    """A console with something of everything that can be asked for."""
    make_stories(desk.database.url)
    warn_of_stories(desk.database.url, Rule("任何", channels=()))
    keep_a_briefing(desk.database.url)
    with desk.database.engine.begin() as c:
        query = Query(PACK.name, "侨务", "www.a-qiao.cn", "demo", 1)
        ledger.plan_queries(c, topic_id(c, PACK.name), [query], 0.0)
        ledger.record_answer(c, query, Answered(AnswerState.BLOCKED), 0.0)
        add_sources(c, PACK.name, [Feed("http://paper.test/feed.xml", "侨报")], now=0.0)
        add_job(c, JobRequest("site", PACK.name), by="me", machine="", now=datetime.now(UTC))
    return desk


def test_every_address_for_programs_is_in_the_document(sqlite_desk: Desk) -> None:
    document = Client(sqlite_desk).document
    described = {
        (path, method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    pages = {
        (re.sub(r"\{(\w+)(:\w+)?\}", r"{\1}", page.path), page.method)
        for area in AREAS
        for page in area.pages
        if page.path.startswith("/api/v")
    }
    assert described == pages
    docs = (ROOT / "docs/api.md").read_text("utf-8")
    assert [own.path for own in OPERATIONS if re.sub(r":int\}", "}", own.path) not in docs] == []
    Draft202012Validator.check_schema(document["components"]["schemas"])
    # Each reference leads somewhere.
    for name in re.findall(r"'#/components/schemas/(\w+)'", str(document)):
        assert name in document["components"]["schemas"]


def test_what_is_read_is_as_the_document_says(told: Desk) -> None:
    client = Client(told)
    (topic,) = client.get("/api/v1/topics")["items"]
    assert topic["name"] == PACK.name
    assert client.get(f"{TOPIC}/words")["items"]
    articles = client.get("/api/v1/articles", relevant=True, text=True)["items"]
    assert all(one["text"] and one["topics"] for one in articles)
    one = client.get(f"/api/v1/articles/{articles[0]['id']}")
    assert one == articles[0]
    assert client.get("/api/v1/groups", members=1)["items"]
    events = client.get("/api/v1/events", outlets=1, topic=PACK.name)["items"]
    fire = next(own for own in events if len(own["outlets"]) == 2)
    whole = client.get(f"/api/v1/events/{fire['id']}")
    assert whole["event"] == fire
    assert {own["article"] for own in whole["articles"]} < {own["id"] for own in articles}
    numbers = {own["number"] for own in whole["sources"]}
    assert whole["sentences"]
    assert all({*own["sources"]} <= numbers for own in whole["sentences"])
    warned = client.get("/api/v1/warnings", topic=PACK.name)["items"]
    assert fire["id"] in {own["event"] for own in warned}
    assert all(own["reasons"]["任何"] for own in warned)
    (briefing,) = client.get("/api/v1/briefings")["items"]
    assert fire["title"] in client.get(f"/api/v1/briefings/{briefing['id']}")["text"]
    sources = client.get("/api/v1/sources", topic=PACK.name)
    assert {own["host"] for own in sources["sites"]} >= {"b.example"}
    assert sources["feeds"][0]["state"] == "waiting"
    (query,) = client.get("/api/v1/coverage")["items"]
    assert query["state"] == "blocked"
    (word,) = client.get("/api/v1/coverage/words", topic=PACK.name)["items"]
    assert (word["word"], word["missed"]) == ("侨务", 1)
    (job,) = client.get("/api/v1/jobs")["items"]
    assert client.get(f"/api/v1/jobs/{job['id']}") == job


def test_lists_that_are_cut_say_so(told: Desk) -> None:
    client = Client(told)
    assert client.get("/api/v1/events", outlets=1, limit=1)["more"] is True
    assert client.get("/api/v1/events", outlets=1, limit=300)["more"] is False
    assert client.get("/api/v1/warnings", limit=1)["more"] is True


def test_what_is_written_is_kept_and_noted(told: Desk) -> None:
    client = Client(told, "editor")
    number = client.get("/api/v1/articles")["items"][0]["id"]
    path = f"/api/v1/articles/{number}/marks"
    marked = client.post(path, judged="irrelevant", starred=True, note="记", tags=["要", "急"])
    assert marked["judged"] == {PACK.name: False}
    # What is not given stays.
    assert client.post(path, note="") == {**marked, "note": ""}
    assert client.post(path, judged="unjudged", topic=PACK.name)["judged"] == {}
    assert client.get(f"/api/v1/articles/{number}")["marks"]["tags"] == marked["tags"]

    added = client.post(f"{TOPIC}/words", text="寻根", kind="core", weight=2)["items"]
    assert next(own for own in added if own["text"] == "寻根")["weight"] == 2.0
    retired = client.post(f"{TOPIC}/words", text="寻根", action="reject")["items"]
    assert "寻根" not in {own["text"] for own in retired}
    (group,) = client.post(f"{TOPIC}/groups", name="救灾", any_of=["失火", "救灾"])["items"]
    assert group["any_of"] == ["失火", "救灾"]
    assert client.get(f"{TOPIC}/groups")["items"][0]["name"] == "救灾"
    assert client.post(f"{TOPIC}/groups/drop", name="救灾")["items"] == []

    job = client.post("/api/v1/jobs", spider="search", topic=PACK.name, minutes=5)
    assert (job["state"], job["requested_by"]) == ("waiting", "editor")
    assert client.post(f"/api/v1/jobs/{job['id']}/stop")["state"] == "stopped"
    with told.database.engine.connect() as c:
        noted = [entry for entry in audit_log.entries(c) if entry.user_name == "editor"]
    assert {entry.action for entry in noted} >= {
        "article.judge", "article.star", "article.note", "article.tags", "word.accept",
        "word.reject", "topic.groups", "job.start", "job.stop",
    }  # fmt: skip


def test_warnings_hot_lists_and_schedules_are_changed_as_by_the_forms(told: Desk) -> None:
    client = Client(told, "editor")
    number = client.get("/api/v1/warnings")["items"][0]["id"]
    mark = f"/api/v1/warnings/{number}/mark"
    assert client.post(mark, action="mute")["status"] == "muted"
    (muted,) = client.get("/api/v1/warnings", state="muted")["items"]
    assert muted["id"] == number
    assert client.post(mark, action="unmute")["status"] == "open"
    assert client.post(mark, action="note")["noted_by"] == "editor"

    address = "http://boards.test/api/s?id=weibo"
    lists = f"{TOPIC}/boards"
    (board,) = client.post(lists, url=address, name="微博")["items"]
    assert (board["name"], board["format"], board["state"]) == ("微博", "newsnow", "waiting")
    form = {"format": "html", "each": ["li"], "title": ["a", "b"], "link": ["a"]}
    (board,) = client.post(lists, url=address, name="微博榜", **form)["items"]
    assert (board["name"], board["format"]) == ("微博榜", "html")
    assert client.get(lists)["items"] == [board]
    now = time.time()
    with told.database.engine.begin() as c:
        row = c.execute(url.select().where(url.c.key == url_key(address))).one().id
        for at, place in ((now - 3_600, 9), (now, 5)):
            note_entries(
                c, row, [BoardEntry(place, "马德里华人仓库失火"), BoardEntry(20, "官宣")], at
            )
    first, other = client.get("/api/v1/boards/entries", topic=PACK.name)["items"]
    assert (first["best_rank"], first["minutes_on"], first["is_on"]) == (5, 60, True)
    assert (first["event"] is not None, other["event"]) == (True, None)
    assert client.get("/api/v1/boards/entries", tied=True)["items"] == [first]
    assert client.post(f"{lists}/drop", url=address)["items"] == []

    wanted = {"spider": "search", "topic": PACK.name, "minutes": 30, "times": "6:00"}
    entered = client.post("/api/v1/schedules", **wanted)
    assert (entered["times"], entered["zone"], entered["is_on"]) == ("6:00", "Asia/Shanghai", True)
    assert (entered["minutes"], entered["created_by"]) == (30, "editor")
    path = f"/api/v1/schedules/{entered['id']}"
    assert client.post(path, **{**wanted, "times": "7:30", "zone": "UTC"})["times"] == "7:30"
    assert client.post(f"{path}/switch", on=False)["is_on"] is False
    (job,) = [client.post(f"{path}/run")["job"]]
    assert client.get(f"/api/v1/jobs/{job}")["spider"] == "search"
    assert client.get("/api/v1/schedules")["items"] == [client.get(path)]
    assert client.post(f"{path}/drop")["items"] == []
    assert client.status("GET", path) == 404
    with told.database.engine.connect() as c:
        noted = {one.action for one in audit_log.entries(c) if one.user_name == "editor"}
    assert noted >= {
        "warning.mute", "warning.unmute", "warning.note", "board.add", "board.change",
        "board.remove", "schedule.add", "schedule.change", "schedule.switch", "schedule.drop",
        "job.start",
    }  # fmt: skip


WRONG: tuple[tuple[str, dict[str, object], int], ...] = (
    ("/api/v1/articles/999/marks", {"starred": True}, 404),
    ("/api/v1/articles/1/marks", {"star": True}, 400),
    ("/api/v1/articles/1/marks", {"judged": "maybe"}, 400),
    ("/api/v1/articles/1/marks", {"judged": "relevant", "topic": "none"}, 404),
    (f"{TOPIC}/words", {}, 400),
    (f"{TOPIC}/words", {"text": "寻根", "kind": "nonsense"}, 400),
    (f"{TOPIC}/words", {"text": "寻根", "weight": "heavy"}, 400),
    ("/api/v1/topics/none/words", {"text": "寻根"}, 404),
    (f"{TOPIC}/groups", {"name": "救灾"}, 400),
    (f"{TOPIC}/groups/drop", {"name": "没有"}, 404),
    ("/api/v1/jobs", {"spider": "nonsense", "topic": PACK.name}, 400),
    ("/api/v1/jobs", {"spider": "site", "topic": "none"}, 400),
    ("/api/v1/jobs", {"spider": "site", "topic": PACK.name, "minutes": -1}, 400),
    ("/api/v1/jobs/999/stop", {}, 404),
    ("/api/v1/warnings/999/mark", {"action": "mute"}, 404),
    ("/api/v1/warnings/999/mark", {"action": "shout"}, 400),
    (f"{TOPIC}/boards", {"url": "boards.test"}, 400),
    (f"{TOPIC}/boards", {"url": "http://boards.test/", "format": "html"}, 400),
    (f"{TOPIC}/boards", {"url": "http://boards.test/", "each": ["li"]}, 400),
    (f"{TOPIC}/boards/drop", {"url": "http://boards.test/"}, 404),
    ("/api/v1/schedules", {"spider": "site", "topic": PACK.name, "times": "soon"}, 400),
    (
        "/api/v1/schedules",
        {"spider": "site", "topic": PACK.name, "times": "6:00", "zone": "X"},
        400,
    ),
    ("/api/v1/schedules", {"spider": "x", "topic": PACK.name, "times": "6:00"}, 400),
    ("/api/v1/schedules/999", {"spider": "site", "topic": PACK.name, "times": "6:00"}, 404),
    ("/api/v1/schedules/999/switch", {"on": True}, 404),
    ("/api/v1/schedules/999/run", {}, 404),
    ("/api/v1/schedules/999/drop", {}, 404),
)


def test_what_is_wrong_changes_nothing(sqlite_desk: Desk) -> None:
    add_topic(sqlite_desk.database)
    with sqlite_desk.database.engine.begin() as c:
        add_article(c, "1.html")
    client = Client(sqlite_desk, "editor")
    for path, sent, status in WRONG:
        assert client.status("POST", path, json=sent) == status, (path, sent)
    half = b'{"text": "\\ud800", "action": "accept"}'
    for body in (b"", b"{", b"[]", b'"x"', b"[" * 100_000, b"\xff", half):
        headers = {"content-type": "application/json"}
        merged = {**client._headers, **headers}
        answer = sqlite_desk.client.post(f"{TOPIC}/words", content=body, headers=merged)
        assert answer.status_code == 400, body
    answer = sqlite_desk.client.post(f"{TOPIC}/words", data={"text": "x"}, headers=client._headers)
    assert "application/json" in answer.json()["error"]
    with sqlite_desk.database.engine.connect() as c:
        own = [one.action for one in audit_log.entries(c) if one.user_name == "editor"]
    assert own == ["token.add"]


def test_readers_read_and_do_not_write(sqlite_desk: Desk) -> None:
    add_topic(sqlite_desk.database)
    client = Client(sqlite_desk)
    for own in OPERATIONS:
        path = re.sub(r"\{\w+:int\}", "1", own.path).replace("{topic}", PACK.name)
        if own.method == "POST":
            assert client.status("POST", path, json={}) == 403, path
        assert sqlite_desk.client.request(own.method, path).status_code in (401, 403)


def test_records_come_page_by_page(desk: Desk) -> None:
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        ids = [add_article(c, f"{n}.html") for n in range(5)]
    client = Client(desk)
    read: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = client.get("/api/v1/articles", limit=2, cursor=cursor)
        read += [item["id"] for item in answer["items"]]
        cursor = answer["next_cursor"]
    assert read == ids
    with desk.database.engine.connect() as c:
        (token,) = people.list_tokens(c)
    assert token.last_used_at is not None, "the page of tokens shows when each was used"
    assert client.status("GET", "/api/v1/articles?topic=none") == 404
    assert client.status("GET", "/api/v1/articles?since=soon") == 400
    assert client.status("GET", "/api/v1/events?cursor=1") == 400


def test_records_are_refused_without_a_token(sqlite_desk: Desk) -> None:
    for wrong in ({}, {"Authorization": "Bearer nothing"}):
        refused = sqlite_desk.get("/api/v1/articles", headers=wrong)
        assert refused.status_code == 401
        assert "error" in refused.json()


def test_whatever_is_wrong_below_api_is_told_as_json(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = _headers(sqlite_desk, "editor")
    documented = Client(sqlite_desk, "editor").operation("GET", "/api/v1/topics")["responses"]
    # Faults of ours are raised again for tests; a program gets an answer.
    browser = TestClient(sqlite_desk.client.app, BASE, raise_server_exceptions=False)

    def refused(method: str, path: str, status: int, **sent: Any) -> str:
        answer = browser.request(method, path, headers=headers, **sent)
        assert answer.status_code == status, (path, answer.text)
        assert answer.headers["content-type"] == "application/json", path
        assert str(status) in documented
        if status == 405:
            assert answer.headers["allow"]
        return str(answer.json()["error"])

    for path in ("events/abc", "articles/999999999999999999999999", "nix", "topics/a/b/c"):
        words = refused("GET", f"/api/v1/{path}", 404)
        assert path in words
        assert "/api/openapi.json" in words
    refused("GET", "/api/nothing", 404)
    refused("GET", f"/api/v1/articles/{2**63}", 404)
    for method in ("GET", "PUT"):
        assert f"no {method}, but POST;" in refused(method, "/api/v1/articles/1/marks", 405)
    # Two pages are at this address.
    assert "GET, HEAD, POST;" in refused("DELETE", "/api/v1/jobs", 405)
    note = {"note": "记" * 1_100_000}
    assert "2 MB" in refused("POST", "/api/v1/articles/1/marks", 413, json=note)

    def fails(*_arguments: object) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr("qiaocrawl.console.pages.api.list_topics", fails)
    assert "secret" not in refused("GET", "/api/v1/topics", 500)
    # Pages for people stay pages.
    assert browser.get("/nix").headers["content-type"].startswith("text/html")


def test_a_choice_given_twice_is_refused_by_name(sqlite_desk: Desk) -> None:
    add_topic(sqlite_desk.database)
    headers = _headers(sqlite_desk, "editor")
    for path in ("jobs?limit=1&limit=2", "jobs?limit=&limit=2", "articles?limit=1&limit=1"):
        answer = sqlite_desk.get(f"/api/v1/{path}", headers=headers)
        assert (answer.status_code, "limit" in answer.json()["error"]) == (400, True)
    sent = b'{"text": "a", "note": "", "text": "b"}'
    kind = {"content-type": "application/json"}
    answer = sqlite_desk.client.post(f"{TOPIC}/words", content=sent, headers={**headers, **kind})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(": text")


def test_times_are_told_in_one_form() -> None:
    at = datetime(2026, 3, 5, 16, tzinfo=timezone(timedelta(hours=8)))
    briefing = Briefing(1, PACK.name, at, at, at.astimezone(UTC), 1, ())
    told = TypeAdapter(Briefing).dump_python(briefing, mode="json")
    assert {told[name] for name in ("since", "before", "made_at")} == {"2026-03-05T08:00:00Z"}
    # Every time of an answer is of that kind.
    records = [own for own in vars(api_records).values() if is_dataclass(own)]
    hints = {
        name: repr(hint)
        for record in records
        if not issubclass(record, Asked)
        for name, hint in get_type_hints(record, include_extras=True).items()
    }
    times = {name: hint for name, hint in hints.items() if "datetime.datetime" in hint}
    assert len(times) > 10
    assert [name for name, hint in times.items() if "PlainSerializer" not in hint] == []


def test_lists_of_lists_and_what_has_to_be_given_are_described(sqlite_desk: Desk) -> None:
    document = Client(sqlite_desk).document
    for record in ("GroupToKeep", "WordGroup"):
        near = document["components"]["schemas"][record]["properties"]["near"]
        assert "[[" in near["description"]
    docs = (ROOT / "docs/api.md").read_text("utf-8")
    for own in OPERATIONS:
        if own.asked is TopicChoice:
            (row,) = [line for line in docs.splitlines() if line.startswith(f"| `{own.path}` |")]
            assert "has to be given" in row


def test_people_read_the_same_in_their_language(sqlite_desk: Desk) -> None:
    sqlite_desk.log_in_as("reader")
    page = sqlite_desk.get("/api").text
    for own in OPERATIONS:
        assert re.sub(r":int\}", "}", own.path) in page


def test_the_docs_client_runs(
    sqlite_desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        add_article(c, "1.html")
    token = _headers(desk)["Authorization"].removeprefix("Bearer ")
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text("utf-8"), re.S)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 11
    monkeypatch.setenv("QIAOCRAWL_TOKEN", token)
    # The client of the docs over this console instead of a network.
    monkeypatch.setattr("httpx.Client", lambda base_url, headers: _Borrowed(desk, headers))
    exec(compile(code[1].replace('topic="qiaoqing", relevant="true"', ""), "docs", "exec"), {})
    assert capsys.readouterr().out.strip()


class _Borrowed:
    def __init__(self, desk: Desk, headers: dict[str, str]) -> None:
        self._desk, self._headers = desk, headers

    def __enter__(self) -> _Borrowed:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def get(self, path: str, params: dict[str, str]):  # type: ignore[no-untyped-def]
        return self._desk.get(path, params=params, headers=self._headers)
