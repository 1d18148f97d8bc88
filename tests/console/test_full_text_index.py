"""The full text index: what is found, and that it is in step with the database or says so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from qiaocrawl.console.search import FullTextIndex, terms, tokens
from qiaocrawl.console.search_keeper import BROKEN, BUILDING, SearchKeeper
from qiaocrawl.storage import Database
from storage_samples import add_article, add_topic, soon

TEXTS = (
    ("侨务工作会议", "各地代表讨论了华侨农场。Covid19 之后，2025年底回国。"),
    ("僑務委員會", "臺灣的僑胞參加。"),
    ("球赛", "昨晚，务必观看；侨，务。"),
    ("About overseas Chinese", "A meeting of the overseas Chinese federation."),
)


@pytest.fixture
def keeper(database: Database, tmp_path: Path) -> Iterator[SearchKeeper]:
    """The index of a database with a few articles, in step."""
    add_topic(database)
    with database.engine.begin() as c:
        for number, (title, body) in enumerate(TEXTS):
            add_article(c, str(number), title=title, body=body)
    opened = SearchKeeper(database, tmp_path / "index")
    assert opened.build(lambda done, of: None, anew=True) == len(TEXTS)
    yield opened
    opened.stop()


def found(keeper: SearchKeeper, searched: str) -> list[int]:
    """Row numbers of the articles that *searched* finds."""
    matches = keeper.search(terms(searched), newest_first=True)
    assert matches is not None
    assert matches.total == len(matches.article_ids)
    return sorted(matches.article_ids)


def test_a_text_is_a_row_of_pairs() -> None:
    assert list(tokens("侨务工作，ABC 12")) == ["侨务", "务工", "工作", "作", "abc", "12"]
    assert [term.tokens for term in terms('侨务 "华侨 农场" -球 x')] == [
        ("侨务",), ("华侨", "侨", "农场"), ("球",), ("x",),
    ]  # fmt: skip
    assert terms(" ，- ") == []


FOUND: dict[str, list[int]] = {
    "侨务": [1, 2], "僑務": [1, 2], "务工": [1], "侨务工作会议": [1], "农场": [1],
    "侨": [1, 2, 3], "务": [1, 2, 3], "2025年": [1], "covid19": [1], "COVID19 之后": [1],
    "侨务 -工作": [2], '"华侨农场"': [1], "overseas chinese": [4], "台湾": [2],
    "会议代表": [], "没有的词": [],
}  # fmt: skip


def test_any_two_characters_are_found_where_they_stand(keeper: SearchKeeper) -> None:
    assert {searched: found(keeper, searched) for searched in FOUND} == FOUND


def test_what_changes_is_found_at_once(keeper: SearchKeeper, database: Database) -> None:
    with database.engine.begin() as c:
        add_article(c, "9", title="新侨驿站")
    assert found(keeper, "驿站") == [5]
    with database.engine.begin() as c:
        later = {"at": "2100-01-01 00:00:00.000000"}
        c.execute(text("UPDATE article SET title = '改名', updated_at = :at WHERE id = 5"), later)
    assert (found(keeper, "驿站"), found(keeper, "改名")) == ([], [5])


def test_an_index_that_misses_something_is_built_anew(
    keeper: SearchKeeper, database: Database
) -> None:
    with database.engine.begin() as c:
        # Older than all that was indexed, as out of a backup.
        add_article(c, "8", title="旧闻")
        c.execute(text("UPDATE article SET updated_at = '2001-01-01' WHERE title = '旧闻'"))
    keeper._counted_at = 0.0
    keeper.start()

    def is_found() -> bool:
        # No answer at all while the old index is gone and the new one is not there yet.
        matches = keeper.search(terms("旧闻"), newest_first=True)
        return matches is not None and matches.total == 1

    limit = soon(120)
    while keeper.notice() or not is_found():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_an_index_that_is_broken_is_told(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    keeper = SearchKeeper(database, folder)
    assert keeper.notice() == BUILDING
    assert keeper.search(terms("侨务"), newest_first=True) is None
    keeper.build(lambda done, of: None, anew=True)
    assert keeper.notice() == ""
    keeper._index = None
    for file in folder.glob("*.json"):
        if file.name != "state.json":
            file.write_text("{", "utf-8")
    assert keeper.search(terms("侨务"), newest_first=True) is None
    assert keeper.notice() == BROKEN
    assert keeper.build(lambda done, of: None, anew=True) == 0
    assert keeper.notice() == ""


def test_two_writers_do_not_spoil_it(keeper: SearchKeeper, tmp_path: Path) -> None:
    other = FullTextIndex(tmp_path / "index")
    other.write((), (2,), other.state)
    assert found(keeper, "僑務") == [1]
