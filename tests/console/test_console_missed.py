"""What was missed, at the console: the whole map, cells asked again together, pages, one URL."""

from __future__ import annotations

import csv
import io
import re
import time
from collections import Counter
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from sqlalchemy import text

from console_client import Desk, visible
from qiaocrawl.console.pages import coverage as pages
from qiaocrawl.items import Outcome
from qiaocrawl.search.definition import EngineDefinition, load_definitions
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, audit_log, frontier
from qiaocrawl.storage.search import coverage, ledger
from storage_samples import (
    NOW,
    PACK,
    add_article,
    add_topic,
    candidate,
    enqueue,
    scalar,
    take,
    url_key,
)

SITES = 114


def coverage_page(desk: Desk, **choices: object) -> str:
    answer = desk.get(f"/coverage?{urlencode(choices)}")
    assert answer.status_code == 200
    return str(answer.text)


def sites_of(page: str) -> list[str]:
    """The sites across a map."""
    return re.findall(r'<th scope="col"><span title="([^"]+)">', page)


def test_a_page_of_the_map_reads_the_engine_definitions_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic_row, query = add_topic(desk.database), Query(PACK.name, "侨务", "www.a.test", "bing", 1)
    with desk.database.engine.begin() as c:
        ledger.plan_queries(c, topic_row, [query], NOW)
        ledger.record_answer(c, query, ledger.Answered(AnswerState.BLOCKED), NOW)
    desk.log_in_as("editor")
    times_read: Counter[str] = Counter()

    def counted(folder: str | None) -> dict[str, EngineDefinition]:
        times_read[path] += 1
        return load_definitions(folder)

    monkeypatch.setattr(pages, "load_definitions", counted)
    cell = urlencode({"topic": PACK.name, "term": "侨务", "site": "www.a.test", "engine": "bing"})
    for path in ("/coverage", f"/coverage/cell?{cell}"):
        assert "bing" in desk.get(path).text
        assert times_read[path] == 1


def test_every_site_of_the_map_can_be_reached_found_and_asked_again(desk: Desk) -> None:
    topic_row = add_topic(desk.database)
    hosts = [f"s{number:03d}.example" for number in range(SITES)]
    queries = [Query(PACK.name, "侨务", host, "demo", 1) for host in hosts]
    other = replace(queries[0], engine="bing")
    now = time.time()
    with desk.database.engine.begin() as c:
        ledger.plan_queries(c, topic_row, [*queries, other], now)
        for number, query in enumerate(queries):
            state = AnswerState.BLOCKED if number >= 100 else AnswerState.EMPTY
            ledger.record_answer(c, query, ledger.Answered(state), now)
        ledger.record_answer(c, other, ledger.Answered(AnswerState.BLOCKED), now)
    desk.log_in_as("editor")
    chosen = {"topic": PACK.name, "engine": "demo"}
    seen: list[str] = []
    address = f"/coverage?{urlencode(chosen)}"
    while address:
        page = desk.get(address).text
        seen += sites_of(page)
        further = re.search(r'href="(\?[^"]+)">More sites<', page)
        address = "/coverage" + further[1].replace("&amp;", "&") if further else ""
    assert seen == hosts
    assert sites_of(coverage_page(desk, **chosen, state="blocked")) == hosts[100:]
    assert sites_of(coverage_page(desk, **chosen, find="S10")) == hosts[100:110]
    assert "No field of the map" in visible(coverage_page(desk, **chosen, state="decoy"))
    assert "ever planned for the engine “nosuch”" in visible(
        coverage_page(desk, topic=PACK.name, engine="nosuch")
    )
    wish = {**chosen, "state": "blocked"}
    answer = desk.post("/coverage/again-all", **wish)
    assert "asks 14 queries again" in visible(desk.get(answer.headers["location"]).text)
    with desk.database.engine.connect() as c:
        due = ledger.due_queries(
            c, PACK.name, ["demo", "bing"], repeat_seconds=72_000, now=now + 60
        )
        line = audit_log.entries(c)[0]
    assert [row.query.site for row in due] == hosts[100:]
    assert (line.action, line.target) == ("query.again", "demo")
    assert desk.post("/coverage/again-all", **{**wish, "state": "not_asked"}).status_code == 400
    desk.log_in_as("reader")
    assert desk.post("/coverage/again-all", **wish).status_code == 403


def test_a_cell_counts_what_its_query_brought_as_the_whole_ledger_does(database: Database) -> None:
    add_topic(database)
    link = text(
        "UPDATE url SET parent_key = :parent, outcome = :outcome, redirect_key = :target"
        " WHERE `key` = :key"
    )
    with database.engine.begin() as c:
        add_article(c, "known")
        for engine in ("demo", "bing"):
            query, asking = Query(PACK.name, "侨务", "", engine, 1), url_key(engine)
            direct, moved, target = (candidate(f"{engine}-{n}").key for n in range(3))
            add_article(c, f"{engine}-0")
            enqueue(c, [candidate(f"{engine}-1")])
            add_article(c, f"{engine}-2")
            hits = (direct, moved, candidate("known").key)
            answer = ledger.Answered(AnswerState.HIT, hits=3, url_key=asking, hit_keys=hits)
            ledger.record_answer(c, query, answer, NOW)
            for key, parent, outcome, leads_to in (
                (direct, asking, "article", None),
                (moved, asking, "redirect", target),
                (target, moved, "article", None),
            ):
                values = {"key": key, "parent": parent, "outcome": outcome, "target": leads_to}
                c.execute(link, values)
        rows = coverage.ledger_rows(c, PACK.name, coverage.Chosen())
        assert [row.articles for row in rows] == [2, 2]
        for row in rows:
            chosen = coverage.Chosen(row.engine, "-", row.term)
            assert coverage.ledger_rows(c, PACK.name, chosen) == [row]


def test_pages_missed_are_listed_by_site_and_reason_and_written_down(desk: Desk) -> None:
    add_topic(desk.database)
    missed = {
        "login.example": (Outcome.LOGIN, 3), "robots.example": (Outcome.ROBOTS, 1),
        "gone.example": (Outcome.DEAD, 2),
    }  # fmt: skip
    with desk.database.engine.begin() as c:
        for host, (outcome, count) in missed.items():
            for number in range(count):
                enqueue(c, [candidate(str(number), host=host, anchor='=HYPERLINK("x")')])
                (lease,) = take(c, 1)
                assert frontier.complete(
                    c, lease, outcome=outcome, reason="", http_status=403, redirect_key=None,
                    now=NOW,
                )  # fmt: skip
        add_article(c, "got", host="login.example")
        c.execute(text("UPDATE url SET outcome = 'article' WHERE url LIKE '%/got'"))
    desk.log_in_as("reader")
    words = visible(desk.get("/coverage/missed").text)
    for part in ("4 pages", "login wall 3", "log in with an account", "refused by robots.txt 1",
                 "login.example 3 1 login wall 3", "robots.example 1 0"):  # fmt: skip
        assert part in words, part
    assert "gone.example" not in words
    narrowed = visible(desk.get("/coverage/missed?why=robots").text)
    assert "robots.example" in narrowed
    assert "login.example" not in narrowed
    assert "No page was missed." in visible(desk.get("/coverage/missed?site=gone.example").text)
    file = desk.get("/coverage/missed.csv?site=login.example")
    lines = list(csv.reader(io.StringIO(file.text[1:])))
    assert lines[0][:3] == ["站点", "网址", "类别"]
    assert [line[0] for line in lines[1:]] == ["login.example"] * 3
    assert {line[5] for line in lines[1:]} == {'\'=HYPERLINK("x")'}
    assert desk.get("/coverage/missed?topic=nothing").status_code == 404


def test_missed_pages_are_collected_again_by_a_button(desk: Desk) -> None:
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        for host, outcome in (("shut.example", Outcome.BLOCKED), ("no.example", Outcome.ROBOTS)):
            for number in range(2):
                enqueue(c, [candidate(str(number), host=host)])
                (lease,) = take(c, 1)
                frontier.complete(c, lease, outcome=outcome, reason="", http_status=403,
                                  redirect_key=None, now=NOW)  # fmt: skip
    desk.log_in_as("reader")
    assert "missed/again" not in desk.get("/coverage/missed").text
    choice = {"topic": PACK.name, "why": "blocked"}
    assert desk.post("/coverage/missed/again", **choice).status_code == 403
    desk.log_in_as("editor")
    one = {**choice, "url": "http://shut.example/1", "next": "/coverage/missed?why=blocked"}
    answer = desk.post("/coverage/missed/again", **one)
    assert (answer.status_code, answer.headers["location"]) == (303, one["next"])
    words = visible(desk.get("/coverage/missed").text)
    assert "1 page waits again" in words
    assert "forbidden 1" in words
    assert "1 page waits again" not in visible(desk.get("/coverage/missed").text), "said once"
    desk.post("/coverage/missed/again", **choice)
    page = desk.get("/coverage/missed").text
    assert "shut.example" not in page
    assert "no.example" in page
    assert 'value="robots"' not in page.split("</select>")[-1], "nobody asks again what is shut"
    for wrong in ({**choice, "why": "robots"}, {**choice, "why": ""}):
        assert desk.post("/coverage/missed/again", **wrong).status_code == 400
    with desk.database.engine.connect() as c:
        assert scalar(c, "SELECT count(*) FROM url WHERE state = 0") == 2
        lines = audit_log.entries(c)
    assert [line.target for line in lines if line.action == "url.again"] == [
        PACK.name, one["url"],
    ]  # fmt: skip


def test_one_address_is_looked_up(sqlite_desk: Desk) -> None:
    desk = sqlite_desk
    add_topic(desk.database)
    with desk.database.engine.begin() as c:
        add_article(c, "got", title="侨务会议")
        enqueue(c, [candidate("waits")])
        article_id = scalar(c, "SELECT id FROM article")
    desk.log_in_as("reader")

    def told(url: str) -> str:
        answer = desk.get(f"/coverage/url?{urlencode({'url': url})}")
        assert answer.status_code == 200
        return str(answer.text)

    assert "侨务会议" in told(" http://A.example/got#top ")
    assert f"/articles/{article_id}" in told("http://a.example/got")
    assert f"/articles/{article_id}" in told("https://a.example/got"), "by the other scheme"
    assert "waiting" in visible(told("http://a.example/waits"))
    assert "was never seen" in visible(told("http://a.example/<script>"))
    assert "is no http(s) address" in visible(told("javascript:alert(1)"))
