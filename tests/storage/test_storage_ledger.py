"""The coverage ledger, runs and topics."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import StorageError
from qiaocrawl.items import Lease, Outcome, Payload, Queue, Relevance
from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database, frontier, run_log
from qiaocrawl.storage.frontier import Scope
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.search import budget, coverage, ledger
from qiaocrawl.storage.search.coverage import with_not_chosen
from qiaocrawl.storage.search.ledger import Answered
from qiaocrawl.storage.topics import topics
from qiaocrawl.topic.pack import Term
from storage_samples import (
    NOW,
    PACK,
    add_topic,
    analysed,
    candidate,
    close,
    counts,
    enqueue,
    scalar,
    take,
    url_key,
)


def _queries(*terms: str, engine: str = "sogou", site: str = "www.a-qiao.cn") -> list[Query]:
    return [Query(PACK.name, term, site, engine, page) for term in terms for page in (1, 2)]


def _due(
    c: Connection, engine: str = "sogou", *, now: float, repeat: float = 3600.0
) -> list[Query]:
    rows = ledger.due_queries(c, PACK.name, [engine], repeat_seconds=repeat, now=now)
    return [row.query for row in rows]


def _save(c: Connection, lease: Lease, *, relevant: bool) -> None:
    """An article on or off topic at the URL of *lease*."""
    analysis = analysed(lease.url, body=lease.url)
    assert analysis.article is not None
    saved = articles.save_article(c, lease.url_id, analysis.article, analysis, anchor="", now=NOW)
    judged = [Relevance(PACK.name, 0.5, relevant, "vsm")]
    articles.save_relevance(c, saved.id, {PACK.name: scalar(c, "SELECT id FROM topic")}, judged)


def query_counts(c: Connection) -> dict[tuple[str, str], int]:
    """How many queries stand in which state, by engine."""
    rows = c.execute(text("SELECT engine, state, COUNT(*) FROM `query` GROUP BY engine, state"))
    return {(engine, state): count for engine, state, count in rows}


def _record(c: Connection, query: Query, state: AnswerState, now: float, **fields: Any) -> None:
    ledger.record_answer(c, query, Answered(state, **fields), now)


def test_a_plan_is_sent_in_few_statements(database: Database) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite is no server")
    topic = add_topic(database)
    planned = _queries(*(f"词{number}" for number in range(500)))
    with database.engine.begin() as c:
        sent = text("SHOW SESSION STATUS LIKE 'Com_insert'")
        before = int(c.execute(sent).one()[1])
        assert ledger.plan_queries(c, topic, planned, NOW) == 1000
        assert int(c.execute(sent).one()[1]) - before < 10
        row = c.execute(text("SELECT hits, new_urls, message FROM `query` LIMIT 1")).one()
    assert tuple(row) == (0, 0, "")


def test_planning_and_asking(database: Database) -> None:
    topic = add_topic(database)
    queries = _queries("华侨", "Chinatown", "chinatown", site="")
    with database.engine.begin() as c:
        assert ledger.plan_queries(c, topic, queries, NOW) == 6
        assert ledger.plan_queries(c, topic, queries, NOW + 9) == 0
        assert _due(c, now=NOW + 10) == queries
        assert _due(c, "bing", now=NOW + 10) == []
        _record(c, queries[0], AnswerState.HIT, NOW, hits=10, new_urls=4)
        _record(c, queries[2], AnswerState.BLOCKED, NOW, message="验证码\0")
        left = [queries[1], *queries[3:]]
        assert _due(c, now=NOW + 10) == left
        assert query_counts(c) == {
            ("sogou", AnswerState.HIT): 1,
            ("sogou", AnswerState.BLOCKED): 1,
            ("sogou", AnswerState.NOT_ASKED): 4,
        }


def test_what_was_answered_is_due_after_a_while_and_what_was_refused_ever_later(
    database: Database,
) -> None:
    topic = add_topic(database)
    first, second = _queries("华侨")
    with database.engine.begin() as c:
        ledger.plan_queries(c, topic, [first, second], NOW)
        for query in (first, second):
            _record(c, query, AnswerState.HIT, NOW, hits=10, new_urls=4)
        assert _due(c, now=NOW + 3599) == []
        # The second page is asked when the first leads to it.
        assert _due(c, now=NOW + 3601) == [first]
        (row,) = ledger.due_queries(c, PACK.name, ["sogou"], repeat_seconds=3600, now=NOW + 9000)
        assert (row.waiting_since, row.asked) == (NOW + 3600, True)

        at = NOW + 3601
        for pause in (60.0, 240.0, 960.0):
            _record(c, second, AnswerState.BLOCKED, at, retry_seconds=60.0)
            assert second not in _due(c, now=at + pause - 1)
            at += pause + 1
            assert second in _due(c, now=at)
        _record(c, first, AnswerState.ERROR, at, retry_seconds=1.0, rest_seconds=500.0)
        assert first not in _due(c, now=at + 499)
        assert first in _due(c, now=at + 501)


def test_period_is_another_question_and_synonyms_are_not(database: Database) -> None:
    topic = add_topic(database)
    plain = Query(PACK.name, "华侨", "", "sogou")
    asked = [plain, replace(plain, period="week"), replace(plain, also=("華僑", "侨胞"))]
    with database.engine.begin() as c:
        assert ledger.plan_queries(c, topic, asked[:1], NOW) == 1
        assert ledger.plan_queries(c, topic, asked, NOW) == 1
        assert _due(c, now=NOW) == [asked[2], asked[1]]
        unfolded = [replace(plain, term=word) for word in ("華僑", "侨胞")]
        ledger.plan_queries(c, topic, unfolded, NOW)
        _record(c, unfolded[0], AnswerState.EMPTY, NOW)
        due = ledger.due_queries(c, PACK.name, ["sogou"], repeat_seconds=0.0, now=NOW + 1)
        # Read before another worker has asked one of them.
        ledger.drop_unasked(c, [row.id for row in due if row.query.term in ("華僑", "侨胞")])
        assert {query.term for query in _due(c, now=NOW + 1, repeat=0.0)} == {"华侨", "華僑"}


def test_what_nobody_chose_follows_from_what_was_asked(database: Database) -> None:
    topic = add_topic(database)
    (asked, waiting) = _queries("华侨", site="")
    on_site = replace(asked, site="www.a-qiao.cn")
    sogou = replace(asked, engine="sogou")
    engines = load_definitions(None)
    no_site = {name for name, engine in engines.items() if not engine.supports_site}
    with database.engine.begin() as c:

        def not_chosen(chosen: coverage.Chosen, *in_use: str) -> set[tuple[str, str]]:
            rows = with_not_chosen(c, PACK.name, chosen, engines.values(), in_use)
            left_out = [row for row in rows if row.state is AnswerState.ROBOTS]
            assert len(rows) - len(left_out) == len(coverage.ledger_rows(c, PACK.name, chosen))
            return {(row.engine, row.site) for row in left_out}

        everything = coverage.Chosen()
        ledger.plan_queries(c, topic, [asked, waiting, replace(asked, term="侨务")], NOW)
        assert not_chosen(everything, "sogou") == set(), "nothing was asked yet"
        for query in (sogou, on_site):
            _record(c, query, AnswerState.BLOCKED, NOW)
        found = not_chosen(everything, "sogou")
        assert {("baidu", ""), ("baidu", "www.a-qiao.cn"), ("bing", "")} <= found
        others = {name for name, _ in found}
        assert others == {
            name for name, engine in engines.items()
            if engine.kind == "scraped" and not engine.host.endswith(".test") and name != "sogou"
        }  # fmt: skip
        assert {name for name, site in found if site}.isdisjoint(no_site)
        assert not_chosen(everything) == found, "what was asked was chosen"
        assert not_chosen(coverage.Chosen(engine="bing", site="-"), "sogou") == {("bing", "")}
        assert not_chosen(coverage.Chosen(state=AnswerState.BLOCKED), "sogou") == set()
        # Chosen since: what it was asked is its own, the rest is not chosen once it is left out.
        _record(c, replace(asked, engine="bing"), AnswerState.HIT, NOW)
        assert not_chosen(coverage.Chosen(engine="bing"), "bing", "sogou") == set()
        assert not_chosen(coverage.Chosen(engine="bing"), "sogou") == {("bing", "www.a-qiao.cn")}


def test_the_last_answers_are_remembered(database: Database) -> None:
    add_topic(database)
    (query, _) = _queries("侨务")
    with database.engine.begin() as c:
        for number in range(10):
            state = AnswerState.HIT if number < 5 else AnswerState.BLOCKED
            _record(c, query, state, NOW + number, hits=number, new_urls=1, message=f"第{number}次")
        (row,) = coverage.ledger_rows(c, PACK.name, coverage.Chosen())
        assert (row.state, row.tries, row.message) == (AnswerState.BLOCKED, 10, "第9次")
        past = coverage.past_answers(c, [row.id])
        assert [one.hits for one in past] == list(range(2, 10))
        lost = coverage.lost_answers(c, PACK.name)[row.id]
        assert (lost.state, lost.hits) == (AnswerState.HIT, 4)
        # Refusals say nothing about what the query brings.
        ((asked, new),) = coverage.requests_by_pair(c, PACK.name).values()
        assert asked == pytest.approx(sum(ledger.MEMORY**n for n in range(5)))
        assert new == pytest.approx(asked)


def test_an_answer_to_an_unplanned_query_is_entered(database: Database) -> None:
    add_topic(database)
    (query, _) = _queries("侨务")
    with database.engine.begin() as c:
        _record(c, query, AnswerState.HIT, NOW, hits=10, new_urls=4)
        row = c.execute(text("SELECT hits, new_urls, state FROM `query`")).one()
        assert tuple(row) == (10, 4, "hit")
        assert counts(c)["query"] == 1
        with pytest.raises(StorageError, match="'none'"):
            _record(c, replace(query, topic="none"), AnswerState.HIT, NOW)


def test_articles_count_for_the_question_that_brought_them_first(database: Database) -> None:
    add_topic(database)
    (query, _) = _queries("侨务")
    asked = url_key("http://www.sogou.com/web?query=1")
    with database.engine.begin() as c:
        _record(c, query, AnswerState.HIT, NOW, hits=2, new_urls=2, url_key=asked)
        link = candidate("link", queue=Queue.PAGES, parent=asked)
        pages = Scope(Queue.PAGES, PACK.name)
        enqueue(c, [link])
        (lease,) = take(c, scope=pages)
        close(c, lease, Outcome.REDIRECT)
        # One hit is the page itself, the other leads to it.
        enqueue(
            c,
            [
                candidate("a", queue=Queue.PAGES, parent=asked),
                candidate("b", queue=Queue.PAGES, parent=link.key),
            ],
        )
        for number, lease in enumerate(take(c, scope=pages)):
            _save(c, lease, relevant=number == 0)
        assert list(coverage.articles_by_pair(c, PACK.name).values()) == [(2, 1)]
        (row,) = coverage.ledger_rows(c, PACK.name, coverage.Chosen())
        assert (row.articles, row.on_topic) == (2, 1)


def test_a_budget_is_kept_and_unused_requests_come_back(database: Database) -> None:
    add_topic(database)
    rows = [
        candidate(f"s?{n}", host="www.sogou.com", queue=Queue.SEARCH,
                  payload=Payload(engine="sogou", term="侨"), score=-float(n))
        for n in range(5)
    ]  # fmt: skip
    search = Scope(Queue.SEARCH, PACK.name)
    with database.engine.begin() as c:
        enqueue(c, rows)
        leases = take(c, 3, scope=search)
        assert [budget.count_request(c, "sogou", 2, NOW) for _ in leases] == [
            True, True, False,
        ]  # fmt: skip
        assert budget.requests_of_day(c, NOW) == {"sogou": 2}
        frontier.release(c, leases[1:2], now=NOW)
        assert budget.requests_of_day(c, NOW) == {"sogou": 1}
        frontier.release(c, leases[1:2], now=NOW)
        assert budget.requests_of_day(c, NOW) == {"sogou": 1}, "given back once"
        assert budget.requests_of_day(c, NOW + 86_400) == {}
        assert budget.count_request(c, "sogou", 2, NOW)
        assert budget.count_request(c, "baidu", None, NOW)
        # The queries that wait are put off, those under way are not; a later run has them.
        assert budget.put_off(c, PACK.name, "baidu", "www.sogou.com", "x", NOW) == 0
        assert budget.put_off(c, PACK.name, "sogou", "www.sogou.com", "full", NOW) == 3
        assert frontier.remaining(c, search, now=NOW).pending == 0
        enqueue(c, [replace(one, refetch=True) for one in rows])
        assert frontier.remaining(c, search, now=NOW).pending == 3


def test_what_waits_from_before_comes_last(database: Database) -> None:
    add_topic(database)
    search = Scope(Queue.SEARCH, PACK.name)
    with database.engine.begin() as c:
        enqueue(c, [candidate("old", queue=Queue.SEARCH, score=5.0)])
        enqueue(c, [candidate("older", queue=Queue.SEARCH, score=4.0)])
        assert [budget.move_to_the_end(c, PACK.name, 1) for _ in range(3)] == [1, 1, 0]
        enqueue(c, [candidate("new", queue=Queue.SEARCH, score=-5000.0)])
        assert [lease.url for lease in take(c, scope=search)] == [
            "http://a.example/new", "http://a.example/old", "http://a.example/older",
        ]  # fmt: skip


def test_a_run_is_recorded(database: Database) -> None:
    topic = add_topic(database)
    with database.engine.begin() as c:
        run_id = run_log.start_run(c, "site", topic, {"start": "http://侨.cn/"}, now=NOW)
        other = run_log.start_run(c, "pages", None, {}, now=NOW)
        run_log.finish_run(c, run_id, "finished", {"pages": 12, "词": "x\0"}, 3, now=NOW + 5)
        row = c.execute(
            text("SELECT reason, stats, remaining FROM run WHERE id = :i"), {"i": run_id}
        ).one()
        assert (row[0], json.loads(row[1]), row[2]) == (
            "finished",
            {"pages": 12, "词": "x\ufffd"},
            3,
        )
        assert scalar(c, "SELECT COUNT(*) FROM run WHERE finished_at IS NULL") == 1
        assert other != run_id


def test_a_pack_comes_back_as_it_was_imported(database: Database) -> None:
    topic = add_topic(database)
    with database.engine.begin() as c:
        assert topics.load_pack(c, PACK.name) == PACK
        (row,) = topics.list_topics(c)
        assert (row.id, row.title, row.terms, row.sites, row.samples) == (topic, "侨情", 3, 2, 2)
        with pytest.raises(StorageError, match="'none'"):
            topics.load_pack(c, "none")


def test_a_second_import_replaces_and_keeps_the_ids_of_what_stays(database: Database) -> None:
    topic = add_topic(database)
    changed = replace(
        PACK, title="新侨情", terms=(Term("新侨", "core"), replace(PACK.terms[0], weight=5.0)),
        sites=PACK.sites[::-1], samples=(),
    )  # fmt: skip
    with database.engine.begin() as c:
        before = dict(c.execute(text("SELECT text, id FROM term")).all())
        assert topics.save_pack(c, changed, now=NOW + 5) == topic
        assert topics.load_pack(c, PACK.name) == changed
        after = dict(c.execute(text("SELECT text, id FROM term")).all())
        assert after["华侨"] == before["华侨"]
        assert set(after) == {"新侨", "华侨"}
        sites = dict(c.execute(text("SELECT host, id FROM site")).all())
        topics.save_pack(c, changed, now=NOW + 6)
        assert dict(c.execute(text("SELECT host, id FROM site")).all()) == sites


def test_an_import_that_fails_changes_nothing(database: Database) -> None:
    add_topic(database)
    clash = replace(PACK, title="x", terms=(*PACK.terms, Term("坏", "core", None)))  # type: ignore[arg-type]
    with pytest.raises(SQLAlchemyError), database.engine.begin() as c:
        topics.save_pack(c, clash, now=NOW)
    with pytest.raises(StorageError, match="topic name"), database.engine.begin() as c:
        topics.save_pack(c, replace(PACK, name=""), now=NOW)
    with database.engine.connect() as c:
        assert topics.load_pack(c, PACK.name) == PACK


def test_topic_words_differ_by_case_and_accent(database: Database) -> None:
    words = tuple(Term(word, "core") for word in ("Café", "Cafe", "CAFE", "café", "😀", "😁"))
    add_topic(database, replace(PACK, terms=words))
    with database.engine.connect() as c:
        assert topics.load_pack(c, PACK.name).terms == words
