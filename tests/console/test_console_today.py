"""The first page: the news before the machine, in the order and the words of an office."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from console_articles import add_stories
from console_client import Desk, visible
from qiaocrawl.console.security import credentials
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.news.stories.hot import LastDays, StoryWish, hot_stories
from qiaocrawl.news.stories.lists import follow
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.storage.run_log import finish_run, start_run
from title_samples import runtime_on
from told_stories import make_stories, store_on_topic, warn_of_stories

URGENT = Rule("涉侨安全", "urgent", any_of=("失火",), least_outlets=2, within_hours=24)
FIRE = "槟城侨乡老街失火 四家商铺烧毁"
BODY = "马来西亚槟城一条侨乡老街凌晨失火，四家商铺烧毁，没有人员伤亡。消防部门正在调查起火原因。"


@pytest.fixture
def told(desk: Desk, database_url: str) -> Desk:
    """A reader's console over two stories, one of them with two outlets."""
    make_stories(database_url)
    desk.log_in_as("reader")
    return desk


def test_the_events_come_first_with_who_has_them(told: Desk) -> None:
    page = told.get("/").text
    words = visible(page)
    assert words.index("Hot events") < words.index("The last seven days")
    event = words[words.index("Hot events") : words.index("The last seven days")]
    assert "马德里" in event
    assert "2 outlets" in event
    assert "槟城" not in event, "one outlet makes no event"
    assert "槟城" in words, "it is among the newest"
    assert "3 articles on topic came out since yesterday." in words
    assert len(re.findall(r'href="/stories/\d+"', page)) == 1
    for address in re.findall(r'<a href="(/articles\?since=[^"]+)" aria-label="[^"]*: 3 on', page):
        assert len(re.findall("console-title", told.get(address.replace("&amp;", "&")).text)) == 3


def test_what_more_outlets_print_stands_above_what_has_more_texts(database_url: str) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    make_stories(database_url)
    with runtime_on(database_url) as runtime:
        store_on_topic(runtime, "reprints", [
            (f"r{number}.example", now - timedelta(hours=5), FIRE, BODY) for number in range(4)
        ])  # fmt: skip
        analyse_stories(runtime, lambda _count: True)
        first, second = runtime.reader.run(lambda c: hot_stories(c, LastDays(now, 15), StoryWish()))
        (alone,) = runtime.reader.run(
            lambda c: hot_stories(c, LastDays(now, 15), StoryWish(least=3))
        )
        nothing = runtime.reader.run(
            lambda c: hot_stories(c, LastDays(now + timedelta(days=30), 7), StoryWish())
        )
    assert (first.title, len(first.outlets), first.articles) == (FIRE, 4, 4)
    assert 0 < first.reprints < 4
    assert "马德里" in second.title
    assert alone.id == first.id
    assert nothing == [], "by publication, not by when it was stored"


def test_a_week_s_news_that_outlets_print_is_no_event(database_url: str) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    below = "当地侨团负责人和各界人士约四百人出席了活动，气氛热烈，大家表示将继续互相帮助。"
    headings = "温州同乡会举行就职典礼", "悉尼侨团发放健康包", "侨乡小学新校舍启用"
    week = "\n".join(f"{heading}\n{below}" for heading in headings)
    make_stories(database_url)
    with runtime_on(database_url) as runtime:
        at = now - timedelta(hours=5)
        printed = [(f"w{number}.example", at, "侨界一周", week) for number in range(4)]
        store_on_topic(runtime, "week", printed)
        analyse_stories(runtime, lambda _count: True)

        def titles(wish: StoryWish) -> list[str]:
            found = runtime.reader.run(lambda c: hot_stories(c, LastDays(now, 15), wish))
            return [one.title for one in found]

        assert "侨界一周" not in titles(StoryWish())
        assert len(titles(StoryWish(limit=1))) == 1
        assert titles(StoryWish(with_round_ups=True))[0] == "侨界一周"
        wish = StoryWish(with_round_ups=True)
        (own, *_others) = runtime.reader.run(lambda c: hot_stories(c, LastDays(now, 15), wish))
        runtime.write_now(lambda c: follow(c, own.id, by="王", now=now))
        assert titles(StoryWish(is_followed=True)) == ["侨界一周"], "who follows it is shown it"


def test_an_urgent_warning_stands_above_all_until_somebody_took_note(
    told: Desk, database_url: str
) -> None:
    warn_of_stories(database_url, URGENT)
    told.client.app.state.console.kept.clear()  # type: ignore[attr-defined]
    words = visible(told.get("/").text)
    assert words.index("urgent") < words.index("Hot events")
    assert "Take note" not in words, "a reader only reads"
    told.log_in_as("editor")
    page = told.get("/").text
    (mark,) = re.findall(r'action="(/warnings/[^"]+/mark)"', page)
    assert told.post(mark, action="note", next="/").headers["location"] == "/"
    told.client.app.state.console.kept.clear()  # type: ignore[attr-defined]
    words = visible(told.get("/").text)
    assert "urgent" not in words
    assert "1 more open warning" in words


@pytest.mark.parametrize(("hours", "is_told"), [(2, False), (40, True)])
def test_it_says_when_what_it_shows_is_old(sqlite_desk: Desk, hours: int, is_told: bool) -> None:
    desk = sqlite_desk
    add_stories(desk.database)
    ended = datetime.now(UTC) - timedelta(hours=hours)
    with desk.database.engine.begin() as c:
        run = start_run(c, "site", None, {}, now=ended.timestamp() - 60)
        finish_run(c, run, "finished", {}, now=ended.timestamp(), remaining=0)
    desk.log_in_as("editor")
    words = visible(desk.get("/").text)
    assert ("What is shown may not be all there is." in words) == is_told
    assert ("Last collected today" in words or "Last collected yesterday" in words) != is_told


def test_no_word_of_the_machine_stands_above_the_news(told: Desk) -> None:
    told.client.cookies.set(credentials.LANGUAGE, "zh_CN")
    main = told.get("/").text.split("<main", 1)[1].split('id="needs"')[0]
    assert "热点事件" in main
    assert not re.search("QIAO_|qiaocrawl|HTTP|余弦|检索式", visible(f"<main{main}"))


def test_old_addresses_and_the_figures_are_still_there(told: Desk) -> None:
    for path in (
        "/",
        "/figures",
        "/sources",
        "/dead",
        "/refused",
        "/coverage/missed",
        "/briefings",
    ):
        assert told.get(path).status_code == 200, path
    menu = re.search(r'<nav class="desk-nav".*?</nav>', told.get("/jobs").text, re.S)
    assert menu
    assert re.findall(r'href="([^"]+)"', menu[0]) == [
        "/", "/articles", "/stories", "/warnings", "/briefings", "/handovers",
            "/trends", "/boards", "/topics", "/jobs",
    ]  # fmt: skip
    assert '<a href="/jobs" aria-current="page">' in menu[0]
