"""The morning's digest and what needs a hand: told when it is due, once, and honestly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select, text, update

from qiaocrawl.news.pushes import Push, digest, keep_push, queue_due, stored_pushes
from qiaocrawl.news.stories.analyse import analyse_stories
from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings.delivery import deliver_due
from qiaocrawl.news.warnings.office_rules import keep_quiet_hours
from qiaocrawl.news.warnings.rules import QuietHours
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.schema import warning_message
from title_samples import made, runtime_on
from told_stories import store_on_topic
from webhooks import served_webhook

# A Sunday; eight in the morning in China.
NOW = datetime(2026, 11, 29, 0, 0, tzinfo=UTC)
CALENDAR = HolidayCalendar()
FIRE = "马德里华人仓库失火 两名青田籍侨胞受伤"
SEVEN = 7 * 60


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    made(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def _put(runtime: Runtime, title: str, host: str, hours_ago: float) -> None:
    at, body = NOW - timedelta(hours=hours_ago), f"{title}。消息来自当地侨团。"
    store_on_topic(runtime, host, [(host, at, title, body)])


def _send(runtime: Runtime) -> None:
    """All that waits has arrived."""
    with runtime.database.engine.begin() as c:
        c.execute(update(warning_message).values(state="sent"))


def _messages(runtime: Runtime) -> list[tuple[str, str, str]]:
    columns = warning_message.c.channel, warning_message.c.title, warning_message.c.body
    with runtime.database.reading() as c:
        return [tuple(row) for row in c.execute(select(*columns).order_by(warning_message.c.id))]


def _queue(runtime: Runtime, now: datetime, calendar: HolidayCalendar = CALENDAR) -> int:
    return queue_due(runtime.database, now, calendar)


def _keep(runtime: Runtime, push: Push) -> None:
    with runtime.database.engine.begin() as c:
        keep_push(c, push)


def test_a_digest_is_there_once_from_its_minute_on(runtime: Runtime) -> None:
    _keep(runtime, Push("群", SEVEN, begun_at=NOW - timedelta(days=2)))
    assert _queue(runtime, NOW - timedelta(hours=1, minutes=1)) == 0
    # Whoever looks, however often, and late because nobody looked before.
    assert [_queue(runtime, NOW + timedelta(minutes=number)) for number in range(3)] == [1, 0, 0]
    assert _queue(runtime, NOW + timedelta(days=1)) == 1
    assert [channel for channel, _, _ in _messages(runtime)] == ["群", "群"]


def test_who_asks_for_one_after_its_minute_gets_the_next_days(runtime: Runtime) -> None:
    push = Push("群", SEVEN, begun_at=NOW)
    _keep(runtime, push)
    assert _queue(runtime, NOW + timedelta(hours=1)) == 0
    assert push.next_digest(NOW, CALENDAR) == NOW + timedelta(hours=23)
    assert _queue(runtime, NOW + timedelta(hours=23)) == 1


def test_days_off_are_left_out_where_that_is_wished(runtime: Runtime) -> None:
    push = Push("群", SEVEN, only_workdays=True, begun_at=NOW - timedelta(days=9))
    _keep(runtime, push)
    assert _queue(runtime, NOW) == 0, "a Sunday"
    worked = HolidayCalendar(worked=frozenset({date(2026, 11, 29)}))
    assert _queue(runtime, NOW, worked) == 1
    monday_off = HolidayCalendar(off={date(2026, 11, 30): "侨节"})
    assert push.next_digest(NOW, monday_off) == NOW + timedelta(days=2, hours=-1)


def test_it_names_events_by_outlets_with_the_address_of_the_first_report(runtime: Runtime) -> None:
    for host, hours_ago in (("b.example", 20), ("a.example", 30), ("c.example", 10)):
        _put(runtime, FIRE, host, hours_ago)
    analyse_stories(runtime, lambda number: True)
    with runtime.database.reading() as c:
        title, body = digest(c, NOW)
        earliest = text(
            "SELECT url.url FROM url JOIN article ON article.url_id = url.id"
            " ORDER BY published_at LIMIT 1"
        )
        first = c.execute(earliest).scalar_one()
    assert "11" in title
    assert f"1. {FIRE}" in body
    assert "3 outlets" in body
    assert first in body


def test_a_day_without_news_says_whether_anybody_looked(runtime: Runtime) -> None:
    with runtime.database.reading() as c:
        assert "no round has ended yet" in digest(c, NOW)[1]


def test_what_needs_a_hand_is_told_when_it_begins_and_when_it_is_over(runtime: Runtime) -> None:
    _put(runtime, FIRE, "a.example", 60)
    _keep(runtime, Push("群", with_alarms=True, begun_at=NOW))
    assert _queue(runtime, NOW) == 1
    _, title, body = _messages(runtime)[0]
    assert "needs a hand" in title
    assert "60" in body or "newest" in body
    _send(runtime)
    # The same, older by some hours, is no news.
    assert _queue(runtime, NOW + timedelta(hours=5)) == 0
    _put(runtime, "侨乡新校落成 侨商捐建", "b.example", -6)
    later = NOW + timedelta(hours=7)
    assert _queue(runtime, later) == 1
    assert "well again" in _messages(runtime)[-1][1], _messages(runtime)[-1]
    _send(runtime)
    with runtime.database.reading() as c:
        assert stored_pushes(c)["群"].told == ()
    # It comes back within the hour: told at the end of it.
    assert _queue(runtime, later + timedelta(hours=49)) == 1


def test_nobody_is_woken_by_alarms(runtime: Runtime) -> None:
    _put(runtime, FIRE, "a.example", 60)
    _keep(runtime, Push("群", with_alarms=True, begun_at=NOW))
    with runtime.database.engine.begin() as c:
        keep_quiet_hours(c, QuietHours(begin=0, end=9 * 60), "张", NOW)
    assert _queue(runtime, NOW) == 0
    assert _queue(runtime, NOW + timedelta(hours=2)) == 1


def test_a_refused_digest_is_not_called_delivered(runtime: Runtime) -> None:
    _keep(runtime, Push("群", SEVEN, begun_at=NOW - timedelta(days=2)))
    _queue(runtime, NOW)
    with served_webhook() as server:
        server.codes.append(500)
        report = deliver_due(runtime.database, {"群": server.address}, NOW.timestamp())
        assert (report.sent, report.waiting) == (0, 1)
        report = deliver_due(
            runtime.database, {"群": server.address}, (NOW + timedelta(hours=1)).timestamp()
        )
        assert report.sent == 1
        assert len(server.bodies) == 1


def test_a_channel_that_is_told_nothing_has_no_row(runtime: Runtime) -> None:
    push = Push("群", SEVEN, "qiaoqing", True, True, NOW, ("a",), NOW)
    _keep(runtime, push)
    with runtime.database.reading() as c:
        assert stored_pushes(c) == {"群": push}
    _keep(runtime, replace(push, digest_minute=None, with_alarms=False))
    with runtime.database.reading() as c:
        assert stored_pushes(c) == {}
