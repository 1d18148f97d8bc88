"""What the ledger knows of each term's yield."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from qiaocrawl.errors import StorageError
from qiaocrawl.items import Relevance
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage.pages import articles
from qiaocrawl.storage.search import ledger
from qiaocrawl.storage.search.ledger import Answered
from qiaocrawl.storage.search.yields import expected_yield, term_yields
from storage_samples import NOW, PACK, add_article, add_topic, url_key


def answer(database: Database, term: str, *paths: str, engine: str = "sogou") -> None:
    keys = tuple(url_key(f"http://a.example/{path}") for path in paths)
    with database.engine.begin() as c:
        entry = Answered(AnswerState.HIT, len(paths), hit_keys=keys)
        ledger.record_answer(c, Query(PACK.name, term, "", engine), entry, NOW)


def test_terms_have_all_their_hits_known_ones_too(database: Database) -> None:
    topic = add_topic(database)
    with database.engine.begin() as c:
        ids = {path: add_article(c, path, title=f"第{path}篇") for path in ("1", "2")}
        judgement = Relevance(PACK.name, 0.9, True, "vsm")
        articles.save_relevance(c, ids["1"], {PACK.name: topic}, [judgement])
    answer(database, "侨", "1", "2", "3")
    answer(database, "侨", "1", "4")
    answer(database, "侨", "2", engine="baidu")
    answer(database, "乔", "3")
    with database.engine.connect() as c:
        first, second = term_yields(c, PACK.name)
    assert (first.term, first.requests, first.hits) == ("侨", 3, 4)
    assert first.articles == {ids["1"], ids["2"]}
    assert first.on_topic == {ids["1"]}
    # Nothing of the third was entered, and no fetch ended; it waits for none.
    assert first.waiting == {url_key(f"http://a.example/{path}") for path in ("1", "2")}
    assert (second.term, second.requests, second.hits, second.articles) == ("乔", 1, 1, frozenset())


def test_an_engines_own_link_counts_for_where_it_led(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        wanted = add_article(c, "1")
        add_article(c, "link")
    with database.engine.begin() as c:
        c.execute(
            text("UPDATE url SET redirect_key = :to WHERE `key` = :link"),
            {"to": url_key("http://a.example/1"), "link": url_key("http://a.example/link")},
        )
    answer(database, "侨", "link")
    with database.engine.connect() as c:
        (own,) = term_yields(c, PACK.name)
    assert wanted in own.articles


def test_what_was_asked_before_hits_were_kept_is_unknown(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        for term, hits in (("侨", 7), ("乔", 0)):
            ledger.record_answer(
                c, Query(PACK.name, term, "", "sogou"), Answered(AnswerState.HIT, hits), NOW
            )
    with database.engine.connect() as c:
        assert [(own.term, own.hits) for own in term_yields(c, PACK.name)] == [
            ("侨", None),
            ("乔", 0),
        ]


def test_what_was_never_asked_has_no_yield(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        ledger.plan_queries(c, 1, [Query(PACK.name, "侨", "", "sogou")], NOW)
    with database.engine.connect() as c:
        assert term_yields(c, PACK.name) == []
        with pytest.raises(StorageError, match="none"):
            term_yields(c, "none")


def test_words_never_asked_are_looked_up_in_stored_articles_on_topic(database: Database) -> None:
    topic = add_topic(database)
    judgement = Relevance(PACK.name, 0.9, True, "vsm")
    with database.engine.begin() as c:
        for path, body, judgements in (
            ("1", "僑批和侨校。", [judgement]),
            ("2", "侨批。", [judgement]),
            ("3", "侨校。", []),
        ):
            row = add_article(c, path, title=f"第{path}篇", body=body)
            articles.save_relevance(c, row, {PACK.name: topic}, judgements)
    answer(database, "侨校", "9")
    with database.engine.connect() as c:
        expected = expected_yield(c, PACK.name, ["侨批", "侨校", "侨团"])
    worth = {
        term: expected.worth(Query(PACK.name, term, "", "sogou"))
        for term in ("侨批", "侨校", "侨团")
    }
    assert [-worth[term][1] for term in worth] == [2, 0, 0]
