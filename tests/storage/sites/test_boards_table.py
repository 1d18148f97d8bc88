"""What stood on a hot list, for how long and how high, whatever looks were missed or made twice."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.search.boards import NEWSNOW, Board, BoardEntry, BoardForm
from qiaocrawl.storage import Database
from qiaocrawl.storage.schema import url
from qiaocrawl.storage.sites.boards import (
    Standing,
    add_boards,
    board_states,
    form_of,
    note_entries,
    note_fault,
    note_moved,
    note_same,
    ranks_of,
    remove_board,
    standings,
)
from qiaocrawl.storage.sites.sources import BOARD, add_sources, feed_sources, has_sources
from qiaocrawl.topic.feeds import Feed
from qiaocrawl.urls import url_key
from storage_samples import NOW, PACK, add_topic

LIST = "http://boards.test/api/s?id=weibo"
HOUR = 3_600.0


class Lists:
    """One list of the sample topic."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with database.engine.begin() as c:
            add_boards(c, PACK.name, [Board(LIST, "微博")], now=NOW)
            self.number = c.execute(url.select().where(url.c.key == url_key(LIST))).one().id

    def look(self, hours: float, *titles: str) -> int:
        entries = [BoardEntry(place, title) for place, title in enumerate(titles, 1)]
        with self.database.engine.begin() as c:
            return note_entries(c, self.number, entries, NOW + hours * HOUR)

    def standings(self, since_hours: float = 0) -> dict[str, Standing]:
        with self.database.engine.connect() as c:
            found = standings(c, PACK.name, NOW + since_hours * HOUR)
        return {one.title: one for one in found}

    def ranks(self, title: str) -> Sequence[tuple[float, int]]:
        own = self.standings()[title]
        with self.database.engine.connect() as c:
            found = ranks_of(c, [own.id])[own.id]
        return [((at - NOW) / HOUR, rank) for at, rank in found]


@pytest.fixture
def lists(database: Database) -> Lists:
    add_topic(database)
    return Lists(database)


def test_how_long_and_how_high(lists: Lists) -> None:
    assert lists.look(0, "甲", "乙", "丙") == 3
    assert lists.look(1, "乙", "甲", "丙") == 0
    assert lists.look(2, "乙", "丁", "甲") == 1
    found = lists.standings()
    facts = {
        title: (own.on_seconds / HOUR, own.best_rank, own.last_rank, own.is_on)
        for title, own in found.items()
    }
    assert facts == {
        "甲": (2, 1, 3, True), "乙": (2, 1, 1, True), "丙": (1, 3, 3, False), "丁": (0, 2, 2, True),
    }  # fmt: skip
    assert [*found][-1] == "丙", "what is still there stands first"
    assert lists.ranks("甲") == [(0, 1), (1, 2), (2, 3)]
    # A place that stays is no row.
    assert lists.ranks("乙") == [(0, 2), (1, 1)]
    assert found["甲"].board == "微博"


def test_what_was_not_seen_does_not_count(lists: Lists) -> None:
    lists.look(0, "甲", "乙", "丙")
    lists.look(1, "乙", "丙", "丁")
    # It came back: the hours between were elsewhere.
    lists.look(2, "甲", "乙", "丙")
    assert lists.standings()["甲"].on_seconds == 0
    assert lists.ranks("甲") == [(0, 1), (2, 1)]
    # A night without a look tells nothing.
    lists.look(12, "甲", "乙", "丙")
    assert lists.standings()["乙"].on_seconds == 2 * HOUR


def test_a_look_made_twice_or_late_changes_nothing(lists: Lists) -> None:
    lists.look(0, "甲", "乙", "丙")
    lists.look(2, "乙", "甲", "丙")
    before = lists.standings(), lists.ranks("甲")
    assert lists.look(2, "乙", "甲", "丙") == 0
    assert lists.look(1, "丁", "戊", "己") == 0
    assert (lists.standings(), lists.ranks("甲")) == before


def test_a_server_that_says_nothing_changed_counts_as_a_look(lists: Lists) -> None:
    lists.look(0, "甲", "乙", "丙")
    with lists.database.engine.begin() as c:
        note_same(c, lists.number, NOW + HOUR)
        note_same(c, lists.number, NOW + HOUR)
    own = lists.standings()["甲"]
    assert (own.on_seconds, own.is_on) == (HOUR, True)


def test_lists_are_no_feeds_and_keep_their_form(lists: Lists) -> None:
    own = BoardForm(format="html", each=("li",), title=("a",))
    with lists.database.engine.begin() as c:
        assert has_sources(c, PACK.name)
        assert feed_sources(c, PACK.name) == []
        assert form_of(c, lists.number) == NEWSNOW
        assert add_boards(c, PACK.name, [Board(LIST, "微博热搜", own)], now=NOW) == 0
        assert form_of(c, lists.number) == own
        note_fault(c, lists.number, "answers, but no list")
        (state,) = board_states(c, PACK.name)
        assert (state.source.name, state.fault, state.entries) == (
            "微博热搜", "answers, but no list", 0,
        )  # fmt: skip
        with pytest.raises(ConfigError):
            add_boards(c, PACK.name, [Board("ftp://x/")], now=NOW)
        assert remove_board(c, PACK.name, LIST)
        assert not remove_board(c, PACK.name, LIST)
        assert board_states(c, PACK.name) == []


def test_a_list_that_moved_is_read_as_it_was(lists: Lists) -> None:
    own = BoardForm(format="html", each=("li",), title=("a",))
    moved = "http://boards.test/new"
    with lists.database.engine.begin() as c:
        add_boards(c, PACK.name, [Board(LIST, "微博", own)], now=NOW)
        note_moved(c, lists.number, url_key(moved))  # nobody proposed its new place
        add_sources(c, PACK.name, [Feed(moved)], now=NOW, kind=BOARD)
        note_moved(c, lists.number, url_key(moved))
        note_moved(c, lists.number, url_key(moved))
        number = c.execute(url.select().where(url.c.key == url_key(moved))).one().id
        assert form_of(c, number) == own
