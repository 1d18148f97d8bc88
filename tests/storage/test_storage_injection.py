"""Strings that are SQL (F-D11) and bytes that are objects (F-F9) are data like any other."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from qiaocrawl.errors import ModelError, StorageError
from qiaocrawl.frontier.strategies.adaptive.link_memory import from_bytes
from qiaocrawl.search.query import AnswerState, Query
from qiaocrawl.storage import Database
from qiaocrawl.storage import values as converters
from qiaocrawl.storage.frontier.enqueue import payload_keys
from qiaocrawl.storage.pages import site_templates
from qiaocrawl.storage.search import coverage, ledger
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.storage.url_history import url_history
from storage_samples import NOW, add_article, add_topic, candidate, counts, enqueue, take

SQL = (
    "' OR '1'='1", "'; DROP TABLE article; --", '" OR ""="', "1 OR 1=1",
    "侨' UNION SELECT 1,2,3 --",
    "\\'; DELETE FROM url; #", "%' AND SLEEP(9) AND '%'='", "') OR 1=1 /*", "admin'/**/--",
    "%(key)s :key {list} %s ?", "侨\x00' OR 1=1", "0x61 || (SELECT 1)", "`; DROP TABLE url; `",
    "%27%20OR%201=1", "_%", "' AND 1=CAST((SELECT group_concat(name) FROM sqlite_master) AS INT)--",
)  # fmt: skip
"""As sqlmap and the like send them (ours)."""


def test_sql_in_titles_and_addresses_stays_text(database: Database) -> None:
    add_topic(database)
    with database.engine.begin() as c:
        for number, value in enumerate(SQL):
            add_article(c, f"{number}?q={value}", title=value, body=value, author=value)
        titles = c.execute(text("SELECT title FROM article ORDER BY id")).scalars().all()
        assert list(titles) == [value.replace("\0", "\ufffd") for value in SQL]
        assert counts(c)["article"] == counts(c)["url"] == len(SQL)


def test_sql_chooses_no_row_but_its_own(database: Database) -> None:
    topic = add_topic(database)
    with database.engine.begin() as c:
        queries = [Query("qiaoqing", value, value, value, period="") for value in SQL]
        ledger.plan_queries(c, topic, queries, NOW)
        for query in queries:
            entry = ledger.Answered(AnswerState.HIT, 1, 1, message=query.term)
            ledger.record_answer(c, query, entry, NOW)
        for value in SQL:
            for chosen in (
                coverage.Chosen(term=value), coverage.Chosen(engine=value),
                coverage.Chosen(site=value),
            ):  # fmt: skip
                (row,) = coverage.ledger_rows(c, "qiaoqing", chosen)
                assert row.message == converters.clean_text(value, 300)
            assert find_topic_id(c, value) is None
            with pytest.raises(StorageError):
                ledger.due_queries(c, value, [value], repeat_seconds=1.0, now=NOW)
            assert ledger.due_queries(c, "qiaoqing", ["x", value + "x"],
                                      repeat_seconds=1.0, now=NOW) == []  # fmt: skip
            assert site_templates.load_site_template(c, value) is None
            assert site_templates.stored_templates(c, value or "-") == []
            assert url_history(c, value.encode()[:16].ljust(16)) is None
        assert c.execute(text("SELECT COUNT(*) FROM `query`")).scalar_one() == len(SQL)


class _Evil:
    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self._file),)


def test_objects_in_stored_bytes_are_refused_and_never_made(
    database: Database, tmp_path: Path
) -> None:
    made = tmp_path / "executed"
    blob = pickle.dumps(_Evil(made), protocol=0)
    add_topic(database)
    with database.engine.begin() as c:
        enqueue(c, [candidate("1"), candidate("2")])
        c.execute(text("UPDATE url SET payload = :blob"), {"blob": blob.decode("latin-1")})
        c.execute(text(
            "INSERT INTO site_template (host, pages, redesigns, updated_at, template)"
            " VALUES ('a.example', 1, 0, '2026-01-01', :blob)"
        ), {"blob": blob.decode("latin-1")})  # fmt: skip
    before = converters.changes["unread_texts"]
    with database.engine.begin() as c:
        leases = take(c)
        assert [payload_keys(lease.payload) for lease in leases] == [{}, {}]
        assert site_templates.load_site_template(c, "a.example") is None
    assert converters.changes["unread_texts"] - before == 2
    with pytest.raises(ModelError, match="something else"):
        from_bytes(pickle.dumps(_Evil(made)).ljust(64))
    assert not made.exists()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickle.dumps(_Evil(made / "no" / "folder")))
