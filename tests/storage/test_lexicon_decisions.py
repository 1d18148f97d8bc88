"""What experts decide of a topic's words: taken at once, kept, taken back."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.lexicon.decisions import Decision, action_of, kind_of
from qiaocrawl.storage import Database
from qiaocrawl.storage.topics.lexicon_decisions import (
    decide,
    list_decisions,
    rejected_words,
    under_decisions,
    undo,
)
from qiaocrawl.storage.topics.topics import load_pack
from qiaocrawl.topic.pack import Term
from storage_samples import PACK, add_topic

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
FIRST = PACK.terms[0]


def take(database: Database, *decisions: Decision, hours: int = 0) -> None:
    with database.engine.begin() as c:
        decide(c, PACK.name, decisions, by="王", now=NOON + timedelta(hours=hours))


def terms(database: Database) -> dict[str, Term]:
    with database.engine.connect() as c:
        return {term.text: term for term in load_pack(c, PACK.name).terms}


def test_a_decision_changes_the_topic_at_once_and_is_kept(database: Database) -> None:
    add_topic(database)
    take(database, Decision("华助中心", "accept", 2.0, "organisation", note="领馆常用"))
    take(database, Decision("侨助中心", "merge", synonym_of="华助中心"), hours=1)
    take(database, Decision(FIRST.text, "accept", 5.0), hours=2)
    now = terms(database)
    assert now["华助中心"] == Term("华助中心", "organisation", 2.0, "领馆常用")
    assert now["侨助中心"] == Term("侨助中心", "organisation", 2.0, "同义于华助中心")
    assert now[FIRST.text] == Term(FIRST.text, FIRST.kind, 5.0, FIRST.note)
    assert list(now)[0] == FIRST.text, "a changed term keeps its place"
    with database.engine.connect() as c:
        stored = list_decisions(c, PACK.name)
    assert [one.decision.text for one in stored] == [FIRST.text, "侨助中心", "华助中心"]
    assert stored[-1].decided_by == "王"
    assert stored[-1].decided_at == NOON


def test_a_rejected_word_stays_away_until_it_is_accepted(database: Database) -> None:
    add_topic(database)
    take(database, Decision(FIRST.text, "reject"), Decision("ＡＢＣ", "reject"))
    assert FIRST.text not in terms(database)
    with database.engine.connect() as c:
        assert rejected_words(c, PACK.name) == {FIRST.text, "abc"}
        assert under_decisions(c, PACK).terms == PACK.terms[1:]
    take(database, Decision(FIRST.text, "accept"), hours=1)
    with database.engine.connect() as c:
        assert rejected_words(c, PACK.name) == {"abc"}
        assert under_decisions(c, PACK) == PACK


@pytest.mark.parametrize("by", ["date", "number"])
def test_decisions_are_undone_newest_first(database: Database, by: str) -> None:
    add_topic(database)
    before = terms(database)
    take(database, Decision("华助中心", "accept"))
    kept = terms(database)
    take(database, Decision("华助中心", "accept", 3.0), hours=2)
    take(database, Decision(FIRST.text, "reject"), hours=3)
    since, last = (NOON + timedelta(hours=1), None) if by == "date" else (None, 2)
    with database.engine.begin() as c:
        undone = undo(c, PACK.name, since=since, last=last, now=NOON + timedelta(hours=4))
    assert [one.decision.text for one in undone] == [FIRST.text, "华助中心"]
    assert terms(database) == kept
    with database.engine.begin() as c:
        assert rejected_words(c, PACK.name) == frozenset()
        assert len(undo(c, PACK.name, since=None, last=9, now=NOON)) == 1
        assert undo(c, PACK.name, since=None, last=9, now=NOON) == []
    assert terms(database) == before


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision("新词", "merge", synonym_of="没有"), "no term of"),
        (Decision("新词", "accept", weight=99.0), "weight"),
        (Decision("新词", "accept", kind="nonsense"), "nonsense"),
        (Decision("", "accept"), "''"),
    ],
)
def test_a_wrong_decision_changes_nothing(
    database: Database, decision: Decision, words: str
) -> None:
    add_topic(database)
    before = terms(database)
    with pytest.raises(ConfigError, match=words):
        take(database, Decision("好词", "accept"), decision)
    assert terms(database) == before
    with database.engine.connect() as c:
        assert list_decisions(c, PACK.name) == []


def test_a_topic_that_was_never_imported_is_named(database: Database) -> None:
    with pytest.raises(StorageError, match=PACK.name):
        take(database, Decision("词", "accept"))
    with database.engine.connect() as c, pytest.raises(StorageError, match=PACK.name):
        under_decisions(c, PACK)


def test_words_of_tables_name_actions_and_kinds() -> None:
    assert [action_of(word) for word in ("收", "reject", " 同义 ")] == ["accept", "reject", "merge"]
    assert kind_of("机构") == kind_of("Organisation") == "organisation"
    with pytest.raises(ConfigError, match="收 or 弃"):
        action_of("留")
    with pytest.raises(ConfigError, match="核心"):
        kind_of("别的")


def test_of_two_who_decide_at_the_same_time_both_are_heard(database: Database) -> None:
    add_topic(database)
    second = threading.Thread(target=take, args=(database, Decision("侨助中心", "accept")))
    with database.engine.begin() as c:
        decide(c, PACK.name, [Decision("华助中心", "accept")], by="王", now=NOON)
        second.start()
        # It has read the topic, or waits to.
        second.join(0.5)
    second.join()
    assert {"华助中心", "侨助中心"} <= terms(database).keys()
