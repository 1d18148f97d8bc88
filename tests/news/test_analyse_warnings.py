"""Names and warnings over a database: read once, told once, whatever a rebuild calls a story."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from qiaocrawl.news.names import stored as names
from qiaocrawl.news.names.stored import read_names
from qiaocrawl.news.stories.analyse import analyse_stories, forget_stories
from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings.check import Checked, check_warnings
from qiaocrawl.news.warnings.machine import Moment
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.values import to_time
from title_samples import judge, made, runtime_on

START = datetime(2026, 11, 2, 8, 0, 30, tzinfo=UTC)
FIRE = ("马德里华人仓库失火 两名青田籍侨胞受伤", "马德里华人仓库火灾 两名青田籍侨胞受伤")
OTHER = "槟城华文小学百年校庆"
RULES = (
    Rule("火情", "urgent", any_of=("失火", "火灾"), least_articles=2, channels=("desk",)),
    Rule("新地", "notice", first=("place", "outlet"), channels=("desk",)),
)


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        _put(opened, OTHER, "c.example", 0)
        _put(opened, FIRE[0], "www.a-qiao.cn", 24)
        yield opened


def _put(runtime: Runtime, title: str, host: str, hours: int) -> None:
    def operation(c) -> None:  # type: ignore[no-untyped-def]
        judge(runtime, c, f"{hours}", title=title, body=f"{title}。", host=host)
        at = to_time(START + timedelta(hours=hours))
        c.execute(text("UPDATE article SET fetched_at = :at WHERE title = :t"),
                  {"at": at, "t": title})  # fmt: skip

    runtime.write_now(operation)


def _check(runtime: Runtime, hours: int) -> Checked:
    analyse_stories(runtime, lambda number: True)
    read_names(runtime, lambda number: True)
    moment = Moment(START + timedelta(hours=hours), HolidayCalendar())
    return check_warnings(runtime, RULES, moment, START - timedelta(days=1))


def test_one_warning_a_story_that_is_told_once(runtime: Runtime) -> None:
    assert _check(runtime, 25) == Checked(stories=2, open=2, messages=1)
    assert _check(runtime, 25).messages == 0
    _put(runtime, FIRE[1], "www.b-news.cn", 26)
    assert _check(runtime, 27) == Checked(stories=2, open=2, messages=1)
    before = runtime.reader.run(load_warnings)
    fire = next(own for own in before.values() if own.severity == "urgent")
    place, outlet = (reason.value for reason in fire.reasons["新地"][1:])
    assert "马德里" in place
    assert outlet == "outlet/甲侨网、乙新闻"
    forget_stories(runtime)
    assert _check(runtime, 27).messages == 0
    after = runtime.reader.run(load_warnings)
    assert {own.id for own in after.values()} == {own.id for own in before.values()}


def test_names_are_read_once_an_article(runtime: Runtime) -> None:
    analyse_stories(runtime, lambda number: True)
    assert runtime.reader.run(names.count_unread) == 2
    assert read_names(runtime, lambda number: True) == 2
    assert read_names(runtime, lambda number: True) == 0
    stories = runtime.reader.run(lambda c: names.names_of_stories(c, [1, 2]))
    assert {own.name for own in stories[2] if own.kind == "place"} >= {"马德里", "青田"}


def test_two_workers_that_check_at_once_warn_once(runtime: Runtime, database_url: str) -> None:
    analyse_stories(runtime, lambda number: True)
    read_names(runtime, lambda number: True)
    moment = Moment(START + timedelta(hours=25), HolidayCalendar())
    since = START - timedelta(days=1)
    with runtime_on(database_url) as other, ThreadPoolExecutor(2) as pool:
        checks = [pool.submit(check_warnings, one, RULES, moment, since)
                  for one in (runtime, other)]  # fmt: skip
        assert sorted(check.result(240).messages for check in checks) == [0, 1]


def test_dates_ahead_and_at_the_edge_of_what_is_usual_are_borne(runtime: Runtime) -> None:
    """A clock that is wrong, and pages that name a day only."""
    rules = (Rule("激增", in_burst=True), Rule("偏离", least_deviation=3.0))
    now = START + timedelta(hours=25)
    for published in (now + timedelta(hours=2), (now - timedelta(days=57)).replace(hour=16)):
        midnight = published.replace(minute=0, second=0)
        runtime.write_now(lambda c, at=midnight: c.execute(
            text("UPDATE article SET published_at = :at WHERE title = :t"),
            {"at": to_time(at), "t": FIRE[0]},
        ))  # fmt: skip
        analyse_stories(runtime, lambda number: True)
        moment = Moment(now, HolidayCalendar())
        checked = check_warnings(runtime, rules, moment, START - timedelta(days=1))
        assert checked.stories == 2
