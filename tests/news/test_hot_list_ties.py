"""Hot lists: entries are tied to events by their titles, and to topics by their words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from qiaocrawl.lexicon.term_groups import TermGroup
from qiaocrawl.news.boards import _Events, entries_of_event, tied_entries
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.news.stories.terms import TermReader
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.search.boards import Board, BoardEntry
from qiaocrawl.storage.schema import story, url
from qiaocrawl.storage.sites.boards import add_boards, note_entries
from qiaocrawl.storage.topics.word_groups import keep_groups
from qiaocrawl.urls import url_key
from storage_samples import PACK
from title_samples import made, runtime_on
from told_stories import store_on_topic

NOW = datetime.now(UTC)
LIST = "http://boards.test/api/s?id=weibo"
# An entry of a list, and a title of the event it tells of.
SAME = (
    ("马德里仓库大火", "马德里华人仓库失火 两名侨胞受伤"),
    ("马德里华人仓库起火", "使馆：马德里仓库失火致三名侨胞受伤"),
    ("2名侨胞在西班牙火灾中受伤", "西班牙马德里华人仓库失火 两名侨胞受伤"),
    ("槟城华小百年校庆", "槟城华文小学迎百年校庆"),
    ("神舟二十二号发射成功", "神舟二十二号载人飞船发射取得圆满成功"),
    ("台风桦加沙登陆广东", "台风“桦加沙”在广东阳江沿海登陆"),
    ("国足1比0战胜印尼", "世预赛国足1-0小胜印尼队"),
    ("央行宣布降准0.5个百分点", "中国人民银行决定下调存款准备金率0.5个百分点"),
    ("泰国柬埔寨停火", "泰柬达成停火协议"),
    ("华侨大学原校长被查", "华侨大学原校长接受审查调查"),
    ("黄金价格再创新高", "国际金价再创历史新高"),
    ("多地中小学春假安排公布", "多地公布中小学春假安排"),
)
# The same of an event it does not tell of, though they share words.
OTHER = (
    ("马德里皇马获胜", "马德里华人仓库失火 两名侨胞受伤"),
    ("西班牙大选结果公布", "使馆：马德里仓库失火致三名侨胞受伤"),
    ("北京仓库失火", "马德里华人仓库失火 两名侨胞受伤"),
    ("台风桦加沙登陆广东", "台风“摩羯”登陆海南文昌"),
    ("神舟二十一号返回地球", "神舟二十二号载人飞船发射取得圆满成功"),
    ("国足0比4负日本", "世预赛国足1-0小胜印尼队"),
    ("华侨大学招生简章公布", "华侨大学原校长接受审查调查"),
    ("国际油价下跌", "国际金价再创历史新高"),
    ("多地中小学推迟上学时间", "多地公布中小学春假安排"),
    ("槟城美食推荐", "槟城华文小学迎百年校庆"),
    ("美联储宣布降息25个基点", "中国人民银行决定下调存款准备金率0.5个百分点"),
    ("泰国曼谷塌楼", "泰柬达成停火协议"),
)


def _found(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    reader = TermReader()
    return [
        entry
        for entry, title in pairs
        if _Events(reader, [(1, title, title)]).of(entry) == (1, title)
    ]


def test_an_entry_is_tied_to_the_event_it_tells_of_and_to_no_other() -> None:
    assert len(_found(SAME)) >= 7
    assert _found(OTHER) == []


def test_titles_of_all_outlets_count_together() -> None:
    titles = [(1, "失火", SAME[0][1]), (1, "失火", SAME[1][1]), (2, "校庆", SAME[3][1])]
    events = _Events(TermReader(), titles)
    assert events.of("马德里仓库失火致侨胞受伤") == (1, "失火")
    assert events.of("") == events.of("！！") == (None, "")


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def test_entries_carry_their_topics_and_events(runtime: Runtime) -> None:
    fire = "马德里华人仓库失火 两名青田籍侨胞受伤"
    at = NOW - timedelta(hours=2)
    store_on_topic(runtime, "a", [("a.example", at, fire, "当地侨团称，仓库失火，两人受伤。")])
    analyse_stories(runtime, lambda number: True)
    shown = ("马德里华人仓库失火", "救灾物资运抵灾区", "明星官宣恋情", "某地推出新政策")
    with runtime.database.engine.begin() as c:
        add_boards(c, PACK.name, [Board(LIST, "微博")], now=NOW.timestamp())
        keep_groups(c, PACK.name, [TermGroup("救灾", any_of=("救灾",))])
        number = c.execute(url.select().where(url.c.key == url_key(LIST))).one().id
        entries = [BoardEntry(place, title) for place, title in enumerate(shown, 1)]
        note_entries(c, number, entries, NOW.timestamp())
    with runtime.database.reading() as c:
        tied = {own.entry.title: own for own in tied_entries(c, PACK.name, NOW, 24)}
        assert [*tied] == list(shown)
        assert tied[shown[0]].story_title == fire
        assert tied[shown[1]].topics == (PACK.name,)
        assert not tied[shown[2]].is_tied
        number = tied[shown[0]].story
        assert number is not None
        (own,) = entries_of_event(c, number, NOW)
        assert (own.title, own.board) == (shown[0], "微博")
        assert entries_of_event(c, number + 1, NOW) == []
        assert tied_entries(c, "", NOW + timedelta(days=3), 24) == []


def test_both_pages_tie_a_line_to_the_same_event(runtime: Runtime) -> None:
    old, late = "槟城华文小学迎百年校庆", "西班牙马德里华人仓库失火 两名侨胞受伤"
    near = "使馆：马德里仓库失火致三名侨胞受伤"
    for host, days, title, text in (
        ("a.example", 20, old, "校友回校，讲述百年校史。"),
        ("b.example", 1, late, "当地侨团称，仓库失火，两人受伤。"),
        ("c.example", 9, near, "使馆提醒侨胞注意用电安全，远离火源。"),
    ):
        at = NOW - timedelta(days=days)
        store_on_topic(runtime, host[0], [(host, at, title, text)])
    analyse_stories(runtime, lambda number: True)
    with runtime.database.engine.begin() as c:
        add_boards(c, PACK.name, [Board(LIST, "微博")], now=NOW.timestamp())
        number = c.execute(url.select().where(url.c.key == url_key(LIST))).one().id
        entries = [BoardEntry(1, old), BoardEntry(2, late), BoardEntry(3, near)]
        note_entries(c, number, entries, NOW.timestamp())
    with runtime.database.reading() as c:
        ties = [(own.entry.title, own.story) for own in tied_entries(c, "", NOW, 24) if own.story]
        events = c.execute(select(story.c.id, story.c.title)).all()
        assert {title for _number, title in events} == {old, late, near}
        told = [
            (one.title, event)
            for event, _title in events
            for one in entries_of_event(c, event, NOW)
        ]
    # Each once, and the event of three weeks ago with no line, though one has its very title.
    assert sorted(told) == sorted(ties)
    assert {title for title, _event in ties} == {late, near}
