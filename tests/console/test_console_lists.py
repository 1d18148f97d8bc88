"""Lists of a generated collection: whichever way they are made, they are the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.consoles.collection import TOPIC, fill
from fresh_schema import make_tables
from qiaocrawl.reading import pages_of_a_list
from qiaocrawl.reading.pages_of_a_list import SORTS, ListWish
from qiaocrawl.reading.records import iter_articles
from qiaocrawl.storage import Database
from qiaocrawl.storage.selection import MARKS, Selection

ARTICLES = 600
NOW = datetime(2026, 11, 20, 4, tzinfo=UTC)
DAY = timedelta(days=1)
CHOICES = (
    Selection(),
    Selection(only_relevant=True),
    Selection(topic=TOPIC, only_irrelevant=True),
    Selection(topic=TOPIC, only_relevant=True, fetched_since=NOW - 60 * DAY),
    Selection(since=NOW - 200 * DAY, before=NOW - 100 * DAY),
    Selection(only_relevant=True, tiers=(1,)),
    Selection(topic=TOPIC, regions=("中国", "广东"), tiers=(1, 2)),
    Selection(sites=("example.cn",)),
    Selection(tags=("上报",)),
    Selection(words=("侨务",), only_relevant=True),
    *(Selection(marks=(mark,)) for mark in MARKS),
    Selection(topic=TOPIC, marks=("judged",), only_relevant=True),
)


def test_few_and_many_give_the_same_list(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(database, ARTICLES, NOW, lambda _count: None)
    monkeypatch.setattr(pages_of_a_list, "MOST_COUNTED", ARTICLES)
    lengths = []
    with database.engine.connect() as c:
        for selection in CHOICES:
            # As exports find them, without any order.
            expected = {record.id for record in iter_articles(c, selection)}
            for sort in SORTS:
                wish = ListWish(selection, sort, folded=False, limit=ARTICLES)
                lists = []
                for most_few in (ARTICLES, -1):
                    monkeypatch.setattr(pages_of_a_list, "MOST_FEW", most_few)
                    folded = pages_of_a_list.list_page(c, replace(wish, folded=True))
                    lists.append((pages_of_a_list.list_page(c, wish), folded))
                assert lists[0] == lists[1], (selection, sort)
                whole, folded = lists[0]
                assert set(whole.ids) == expected, (selection, sort)
                assert len(whole.ids) == whole.count
                assert [row for row in whole.ids if row in set(folded.ids)] == list(folded.ids)
            lengths.append(len(expected))
    assert sum(length > 0 for length in lengths) >= len(CHOICES) - 2
    assert ARTICLES in lengths


def test_words_are_looked_for_in_the_beginning_of_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'q.db'}")
    make_tables(database)
    fill(database, ARTICLES, NOW, lambda _count: None)
    selection = Selection(topic=TOPIC, only_relevant=True, words=("侨务",))
    with database.engine.connect() as c:
        for sort in SORTS:
            wish = ListWish(selection, sort, folded=False, limit=ARTICLES)
            everywhere = pages_of_a_list.list_page(c, wish).ids
            rest = replace(wish, selection=replace(selection, words=()))
            first = pages_of_a_list.list_page(c, rest).ids
            for most in (ARTICLES, 100):
                monkeypatch.setattr(pages_of_a_list, "MOST_READ", most)
                bounded = pages_of_a_list.read_first(c, selection, sort)
                read = set(pages_of_a_list.list_page(c, replace(wish, selection=bounded)).ids)
                assert read <= set(first[:most])
                assert read & set(everywhere) == set(everywhere) & set(first[:most])
            assert 0 < len(read) < len(everywhere)
    monkeypatch.setattr(pages_of_a_list, "MOST_READ", 100)
    with database.engine.connect() as c:
        none = pages_of_a_list.read_first(c, replace(selection, sites=("none.test",)), SORTS[0])
        assert pages_of_a_list.list_page(c, ListWish(none)).ids == ()
    database.close()
