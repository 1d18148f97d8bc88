"""The coverage ledger, runs and topics."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from storage_samples import NOW, PACK, add_topic, counts, scalar

from qiaocrawl.errors import StorageError
from qiaocrawl.items import AnswerState, Query
from qiaocrawl.storage import Database, ledger, runs, topics
from qiaocrawl.topic.pack import Term

_AT = datetime.fromtimestamp(NOW, UTC)


def _queries(*terms: str, engine: str = "sogou", site: str = "www.a-qiao.cn") -> list[Query]:
    return [Query(PACK.name, term, site, engine, page) for term in terms for page in (1, 2)]


def test_planning_and_asking(database: Database) -> None:
    topic = add_topic(database)
    queries = _queries("华侨", "Chinatown", "chinatown", site="")
    with database.engine.begin() as c:
        assert ledger.plan_queries(c, topic, queries, NOW) == 6
        assert ledger.plan_queries(c, topic, queries, NOW + 9) == 0
        assert ledger.due_queries(c, PACK.name, ["sogou"], None, _AT) == queries
        ledger.record_answer(c, queries[0], AnswerState.HIT, 10, 4, "", NOW)
        ledger.record_answer(c, queries[1], AnswerState.BLOCKED, 0, 0, "验证码\0", NOW + 60)
        assert ledger.due_queries(c, PACK.name, ["sogou"], None, _AT) == queries[2:]
        later = _AT + timedelta(seconds=30)
        assert ledger.due_queries(c, PACK.name, ["sogou"], None, later) == [
            queries[0], *queries[2:]
        ]  # fmt: skip
        assert ledger.due_queries(c, PACK.name, ["bing"], None, _AT) == []
        assert ledger.due_queries(c, PACK.name, ["sogou"], ["www.a-qiao.cn"], _AT) == []
        assert ledger.ledger_counts(c, PACK.name) == {
            ("sogou", AnswerState.HIT): 1,
            ("sogou", AnswerState.BLOCKED): 1,
            ("sogou", AnswerState.NOT_ASKED): 4,
        }


def test_an_answer_recorded_three_times_counts_once(database: Database) -> None:
    add_topic(database)
    (query, _) = _queries("侨务")
    with database.engine.begin() as c:
        for _ in range(3):
            ledger.record_answer(c, query, AnswerState.HIT, 10, 4, "", NOW)
        row = c.execute(text("SELECT hits, new_urls, state FROM `query`")).one()
        assert tuple(row) == (10, 4, "hit")
        assert counts(c)["query"] == 1
        with pytest.raises(StorageError, match="'none'"):
            ledger.record_answer(c, replace(query, topic="none"), AnswerState.HIT, 1, 1, "", NOW)


def test_a_run_is_recorded(database: Database) -> None:
    topic = add_topic(database)
    with database.engine.begin() as c:
        run_id = runs.start_run(c, "site", topic, {"start": "http://侨.cn/"}, now=NOW)
        other = runs.start_run(c, "pages", None, {}, now=NOW)
        runs.finish_run(c, run_id, "finished", {"pages": 12, "词": "x\0"}, 3, now=NOW + 5)
        row = c.execute(text("SELECT reason, stats, remaining FROM run WHERE id = :i"),
                        {"i": run_id}).one()
        assert (row[0], json.loads(row[1]), row[2]) == ("finished",
                                                        {"pages": 12, "词": "x\ufffd"}, 3)
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
