"""Warnings and messages in the tables: kept once, taken once, tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings import stored as warnings
from qiaocrawl.news.warnings.machine import Moment, step
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import SignalArticle, StorySignal
from qiaocrawl.news.warnings.stored import GIVEN_UP, WAITING
from qiaocrawl.storage import Database

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)
RULES = [Rule("任何", channels=("mail", "wecom"))]


def _signal(story: str, count: int = 1) -> StorySignal:
    articles = tuple(SignalArticle(f"http://a.example/{n}", "失火", "", f"{n}报", NOW)
                     for n in range(count))  # fmt: skip
    return StorySignal(story, f"故事{story}🔥", articles)


def _step(
    database: Database, *signals: StorySignal, hours: int = 0, merged: dict[str, str] | None = None
) -> None:
    now = NOW + timedelta(hours=hours)
    with database.engine.begin() as c:
        before = warnings.load_warnings(c)
        after, messages = step(before, RULES, signals, Moment(now, HolidayCalendar()), merged)
        warnings.keep_step(c, before, after, messages, now)
        assert warnings.load_warnings(c) == after


def test_warnings_are_kept_with_their_messages(database: Database) -> None:
    _step(database, _signal("a"), _signal("b"))
    _step(database, _signal("a", 3), hours=1)
    _step(database, _signal("b", 4), hours=2, merged={"a": "b"})
    with database.engine.begin() as c:
        (warning,) = warnings.load_warnings(c).values()
        assert (warning.id, warning.story, warning.articles) == ("a", "b", 4)
        taken = warnings.take_due(c, NOW.timestamp())
        assert [message.channel for message in taken] == ["mail", "wecom"]
        assert "故事a🔥" in taken[0].body


def test_a_message_is_kept_once(database: Database) -> None:
    _after, messages = step({}, RULES, [_signal("a")], Moment(NOW, HolidayCalendar()))
    for _time in range(2):
        with database.engine.begin() as c:
            warnings.keep_step(c, {}, {}, messages, NOW)
    with database.engine.begin() as c:
        assert len(warnings.take_due(c, NOW.timestamp())) == 2


def test_a_message_is_tried_again_and_given_up_at_last(database: Database) -> None:
    _step(database, _signal("a"))
    now = NOW.timestamp()
    with database.engine.begin() as c:
        mail, wecom = warnings.take_due(c, now)
        # While one process has them no other gets them; it may have died after five minutes.
        assert warnings.take_due(c, now + 299) == []
        warnings.note_sent(c, wecom, NOW)
        assert warnings.note_failed(c, mail, "connection refused", now)[0] == WAITING
        state = WAITING
        for pause in (60, 240, 960, 3_840, 15_360, *[21_600] * 4):
            assert (state, warnings.take_due(c, now + pause - 1)) == (WAITING, [])
            now += pause
            (message,) = warnings.take_due(c, now)
            assert message.channel == "mail"
            state, _ = warnings.note_failed(c, message, "x" * 600, now)
        assert (state, message.attempts) == (GIVEN_UP, 10)
        assert warnings.take_due(c, now + 10**7) == []
