"""Names of sites and channels are cut off titles; the text of a title never is."""

from __future__ import annotations

import random
import tomllib
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup.cleaning import MAX_TITLE_CHARS, TitleCleaner
from qiaocrawl.dedup.site_names import MAX_KNOWN, MAX_SEEN, WINDOW, Role, role_of
from qiaocrawl.text.normalise import fold

WORDS = [
    "侨胞", "商会", "代表", "访问", "捐款", "学校", "庆祝", "中秋", "论坛", "举行", "青年", "创业",
]  # fmt: skip


def headlines(count: int, seed: int = 1) -> list[str]:
    """Different made-up headlines without any separator."""
    chance = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(chance.choices(WORDS, k=8))] = None
    return list(made)


def taught(endings: list[str], host: str = "a.test", count: int = 10) -> TitleCleaner:
    """A cleaner that met *count* headlines of *host*, with *endings* in turn."""
    cleaner = TitleCleaner()
    for number, title in enumerate(headlines(count)):
        cleaner.learn(title + endings[number % len(endings)], host)
    return cleaner


SUFFIXED = [
    # The two pairs of the paper.
    ("新华侨涌入:为韩国华社带来新希望-移民-滴答网", "新华侨涌入:为韩国华社带来新希望"),
    ("新华侨涌入:为韩国华社带来新希望 - 无忧雅思网 无忧雅思网", "新华侨涌入:为韩国华社带来新希望"),
    ("缅甸华侨华人为孔子课堂捐款组图-教育频道-新华网", "缅甸华侨华人为孔子课堂捐款组图"),
    ("缅甸华侨华人为台湾灾区同胞捐款-华人-新华网", "缅甸华侨华人为台湾灾区同胞捐款"),
    # Signs.
    ("侨胞回乡办学校--国际--人民网", "侨胞回乡办学校"),
    ("侨胞回乡办学校_新闻频道_央视网(cctv.com)", "侨胞回乡办学校"),
    ("侨胞回乡办学校__凤凰网", "侨胞回乡办学校"),
    ("侨胞回乡办学校_ _凤凰网", "侨胞回乡办学校"),
    ("侨胞回乡办学校丨侨乡日报", "侨胞回乡办学校"),
    ("侨胞回乡办学校 » 联合早报", "侨胞回乡办学校"),
    ("侨胞回乡办学校 · 中国侨网", "侨胞回乡办学校"),
    ("侨胞回乡办学校——人民日报", "侨胞回乡办学校"),
    ("侨胞回乡办学校 - 新华网 - ", "侨胞回乡办学校"),
    ("侨胞A-B两队回乡2021-2022 - 新华网", "侨胞A-B两队回乡2021-2022"),
    # Names: with a channel, in two scripts, an address, in brackets, before a date.
    ("侨胞回乡办学校_新浪财经_新浪网", "侨胞回乡办学校"),
    ("僑胞回鄉辦學校 | 國際焦點 | 國際 | 聯合新聞網", "僑胞回鄉辦學校"),
    ("侨胞回乡办学校 | 中央社 CNA", "侨胞回乡办学校"),
    ("侨胞回乡办学校 - chinaqw.com", "侨胞回乡办学校"),
    ("Overseas Chinese go home - BBC News 中文", "Overseas Chinese go home"),
    ("Overseas Chinese go home | World news | The Guardian", "Overseas Chinese go home"),
    ("Overseas Chinese go home | Borneo Post", "Overseas Chinese go home"),
    ("Overseas Chinese go home – DW – 03/01/2024", "Overseas Chinese go home"),
    # A channel's name goes when it is set off as the site's is.
    ("侨胞回乡办学校|移民_新华网", "侨胞回乡办学校|移民"),
    # In front.
    ("新华网 | 侨胞回乡办学校", "侨胞回乡办学校"),
    ("中国侨网 - 侨胞回乡办学校 - 侨界", "侨胞回乡办学校 - 侨界"),
]

WHOLE = [
    "", " ", "-", "——", " | ", "网", "新华网", "新华网 - 人民网", "侨胞回乡办学校",
    "曼联4-0大胜曼城", "GPT-2与A-B测试", "2021-2022年度侨务工作", "官方回应歼-20", "第3-5名",
    "36氪首发 | 某公司完成融资", "快讯 | 侨胞回乡", "快讯 | 新华网",
    "9点1氪｜甲公司上市；乙公司裁员",
    # What ends like a name and is none.
    "十年回望 | 从电话到互联网", "侨胞回乡 - 他们织起一张防护网", "新片上映｜颜值在线",
    "一城一故事——走进侨乡在线", "侨胞回乡办学校 | 这是我们的日报", "He was right - good news",
    # A channel's name with no site's behind it; a colon; a date.
    "侨胞回乡办学校 - 移民",
    "侨领张三：侨胞回乡办学校", "侨胞回乡办学校 : 新华网", "科比·布莱恩特",
    "2018年5月8日｜周二｜侨乡早报", "侨胞回乡办学校 - 2024年3月1日",
]  # fmt: skip


@pytest.mark.parametrize(("title", "clean"), SUFFIXED)
def test_known_names_and_names_by_shape_are_cut(title: str, clean: str) -> None:
    assert TitleCleaner().clean(title) == clean


@pytest.mark.parametrize("title", WHOLE)
def test_what_is_no_name_stays(title: str) -> None:
    assert TitleCleaner().clean(title) == title


def test_a_name_is_learnt_from_four_different_titles_of_its_host() -> None:
    cleaner = TitleCleaner()
    changed = [cleaner.learn(f"{title} - 海那边", "a.test") for title in headlines(6)]
    assert changed == [False, False, False, True, False, False]
    assert cleaner.clean("侨胞回乡办学校 - 海那边", "a.test") == "侨胞回乡办学校"
    assert cleaner.clean("侨胞回乡办学校 - 海那边", "b.test") == "侨胞回乡办学校 - 海那边"
    assert cleaner.clean("侨胞回乡办学校 - 海那边") == "侨胞回乡办学校 - 海那边"


def test_the_same_title_again_proves_nothing() -> None:
    cleaner = TitleCleaner()
    for number in range(50):
        assert not cleaner.learn(f"侨乡{number}日天气预报早知道 - 海那边", "a.test")
        assert not cleaner.learn("侨胞回乡办学校的故事 - 城事 - 海那边", "a.test")


def test_channels_before_a_learnt_name_are_learnt_too() -> None:
    cleaner = taught(["_异乡人_海那边", "_城事_海那边"], count=16)
    assert cleaner.clean("侨胞回乡办学校_城事_海那边", "a.test") == "侨胞回乡办学校"
    # Not by themselves, and a listed one needs no learning.
    assert cleaner.clean("侨胞回乡办学校_城事", "a.test") == "侨胞回乡办学校_城事"
    assert cleaner.clean("侨胞回乡办学校_移民_海那边", "a.test") == "侨胞回乡办学校"


def test_cities_behind_one_and_the_same_title_are_no_channels() -> None:
    cleaner = TitleCleaner()
    for day in range(1, 20):
        for city in ("上海", "广州", "厦门"):
            cleaner.learn(f"{day}日侨乡天气预报早知道 - {city} - 侨乡天气网", "a.test")
    title = "1日侨乡天气预报早知道 - 上海"
    assert cleaner.clean(f"{title} - 侨乡天气网", "a.test") == title


def test_teams_of_matches_are_no_names() -> None:
    teams = ["曼城队", "切尔西", "利物浦", "阿森纳", "热刺队", "纽卡斯尔", "埃弗顿"]
    cleaner = TitleCleaner()
    for one in teams:
        for other in teams:
            assert not cleaner.learn(f"{one} - {other}", "a.test")


def test_labels_in_front_and_what_stands_behind_them_teach_nothing() -> None:
    cleaner = TitleCleaner()
    for label in ("快讯", "最前线", "36氪首发", "独家", "焦点"):
        assert not cleaner.learn(f"{label} | 侨胞回乡办学校的故事", "a.test")
    assert not any(cleaner.learn(f"36氪首发 | {title}", "a.test") for title in headlines(30))


def test_a_colon_cuts_only_where_it_was_learnt() -> None:
    assert taught([" : 海那边"]).clean("侨胞回乡办学校 : 海那边", "a.test") == "侨胞回乡办学校"
    title = "侨胞回乡办学校 : 海那边"
    assert taught([" - 海那边"]).clean(title, "a.test") == title


def test_a_site_name_in_front_is_learnt() -> None:
    cleaner = TitleCleaner()
    changed = [cleaner.learn(f"侨声网 | {title}", "a.test") for title in headlines(5)]
    assert changed == [False, False, False, True, False]
    assert cleaner.clean("侨声网 | 侨胞回乡办学校", "a.test") == "侨胞回乡办学校"
    assert cleaner.clean("侨声网 | 侨胞回乡办学校") == "侨声网 | 侨胞回乡办学校"


def test_a_learnt_name_leaves_a_title() -> None:
    cleaner = taught([" - 上海"])
    assert cleaner.clean("北京天气 - 上海", "a.test") == "北京天气 - 上海"


def test_what_was_chance_is_taken_back_and_what_was_proven_stays() -> None:
    cleaner = taught([" - 张三专访"], count=4)
    title = "侨胞回乡办学校 - 张三专访"
    assert cleaner.clean(title, "a.test") != title
    later = [cleaner.learn(f"{one} | 海那边", "a.test") for one in headlines(3 * WINDOW, seed=2)]
    assert later.count(True) == 2, "海那边 became known, 张三专访 was taken back"
    assert cleaner.clean(title, "a.test") == title
    # A new name on an old host; the old one still stands at earlier titles.
    assert any(cleaner.learn(f"{one} - 今日侨声", "a.test") for one in headlines(90, seed=3))
    assert cleaner.clean("侨胞回乡办学校 - 今日侨声", "a.test") == "侨胞回乡办学校"
    assert cleaner.clean("侨胞回乡办学校 | 海那边", "a.test") == "侨胞回乡办学校"


def test_hosts_and_what_is_known_of_one_are_bounded() -> None:
    cleaner = TitleCleaner(max_hosts=2)
    for host in ("a.test", "b.test", "a.test", "c.test"):
        for title in headlines(MAX_SEEN):
            cleaner.learn(f"{title} - 海那边", host)
    ends = [cleaner.clean("侨胞回乡办学校 - 海那边", f"{host}.test") for host in "abc"]
    assert ends == ["侨胞回乡办学校", "侨胞回乡办学校 - 海那边", "侨胞回乡办学校"]
    channels = ["".join(pair) for pair in zip(WORDS * 12, sorted(WORDS * 12), strict=True)]
    for number, title in enumerate(headlines(6 * len(channels))):
        cleaner.learn(f"{title} - {channels[number // 6]} - 海那边", "a.test")
    known = [c for c in channels if cleaner.clean(f"{title} - {c} - 海那边", "a.test") == title]
    assert 10 < len(set(known)) < MAX_KNOWN
    with pytest.raises(ValueError, match="max_hosts"):
        TitleCleaner(max_hosts=0)


@pytest.mark.parametrize(
    "title",
    ["-" * 1_000_000, "侨 - " * 300_000, "-网" * 999, " " * 1999 + "-", "- " * 1000, "\ud800-网"],
)
def test_hostile_titles_stay_as_they_are(title: str) -> None:
    cleaner = TitleCleaner()
    assert not cleaner.learn(title, "a.test")
    assert cleaner.clean(title, "a.test") in (title, "-网-网-网-网")


def test_all_names_of_a_long_row_are_cut() -> None:
    title = "侨胞回乡办学校" + "_新华网" * 490
    assert len(title) < MAX_TITLE_CHARS
    assert TitleCleaner().clean(title) == "侨胞回乡办学校"


PIECES = st.sampled_from(
    ["侨胞回乡办学校", "快讯", "新华网", "海那边", "移民", "城事", "BBC News", "GPT", "2", "", " ",
     "2024年3月1日", "侨声网", "The Guardian", "World", "(图)", "张三：", "1/2/2024", "\u3000"]
)  # fmt: skip
SIGNS = st.sampled_from(["-", " - ", "_", "|", " | ", "——", "--", " : ", "：", "·", " · ", "»", ""])
TITLES = st.one_of(
    st.text(max_size=40),
    st.lists(st.tuples(PIECES, SIGNS), max_size=7).map(lambda p: "".join(a + b for a, b in p)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(TITLES, min_size=1, max_size=8))
def test_cleaning_again_changes_nothing_and_no_title_is_lost(titles: list[str]) -> None:
    cleaner = taught([" - 海那边", "_城事 - 海那边", " : 海那边"], count=24)
    for title in titles:
        for host in ("", "a.test"):
            clean = cleaner.clean(title, host)
            assert clean in title
            assert bool(clean) == bool(title)
            assert cleaner.clean(clean, host) == clean


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(TITLES, st.sampled_from(["a", "b", "c"])), max_size=60))
def test_who_replays_the_same_titles_knows_the_same(seen: list[tuple[str, str]]) -> None:
    one, other = TitleCleaner(max_hosts=2), TitleCleaner(max_hosts=2)
    for title, host in seen:
        other.clean(title, host)
        assert one.learn(title, host) == other.learn(title, host)
        other.clean(title, "c")
    for title, host in seen:
        assert one.clean(title, host) == other.clean(title, host)


@pytest.mark.parametrize(
    ("piece", "role"),
    [
        ("新華網", Role.NAME), ("ETtoday新聞雲", Role.NAME), ("ＢＢＣ中文網", Role.NAME),
        ("新浪体育", Role.NAME), ("无忧雅思网", Role.SHAPED), ("湄公河日报", Role.SHAPED),
        ("news.example.com.cn", Role.SHAPED), ("福建侨联网", Role.SHAPED),
        ("華僑華人", Role.CHANNEL), ("侨乡要闻", Role.CHANNEL),
        ("2024-03-01", Role.DATE), ("互联网", Role.CHANNEL), ("物联网", Role.OTHER),
        ("侨" * 49, Role.OTHER), ("国际 2024-03-01", Role.OTHER), ("", Role.OTHER),
    ],
)  # fmt: skip
def test_roles(piece: str, role: Role) -> None:
    assert role_of(piece) is role


def test_the_words_are_written_as_they_are_compared() -> None:
    file = resources.files("qiaocrawl.dedup") / "data" / "site_names.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    names = [name for group in data["names"].values() for name in group]
    groups = [*data["shape"].values(), *data["channels"].values()]
    words = [word for group in groups for word in group]
    assert [word for word in (*names, *words) if fold(word) != word] == []
    assert len(names) == len(set(names)) > 200
