"""Rules of the database; what is told beside warnings: topics, and what arrived."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings import office_rules as warning_rules
from qiaocrawl.news.warnings import stored
from qiaocrawl.news.warnings.machine import Moment, mute, step
from qiaocrawl.news.warnings.rules import QuietHours, Rule
from qiaocrawl.news.warnings.signals import SignalArticle, StorySignal
from qiaocrawl.storage import Database

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)
RULE = Rule("火情🔥", "urgent", any_of=("失火",), within_hours=3, first=("place",))


def test_rules_are_kept_changed_and_forgotten(database: Database) -> None:
    with database.engine.begin() as c:
        number = warning_rules.add_rule(c, RULE, "李", NOW)
        with pytest.raises(ConfigError, match="火情"):
            warning_rules.add_rule(c, RULE, "王", NOW)
        (kept,) = warning_rules.kept_rules(c)
        assert kept == (number, RULE, 1, "李", NOW)
        changed = replace(RULE, name="火", enabled=False)
        warning_rules.change_rule(c, kept, changed, "王", NOW + timedelta(hours=1))
        after = warning_rules.kept_rule(c, number)
        assert after == (number, changed, 2, "王", NOW + timedelta(hours=1))
        # As two officers do who opened it at once.
        with pytest.raises(ConfigError, match="meanwhile"):
            warning_rules.change_rule(c, kept, RULE, "李", NOW)
        other = warning_rules.add_rule(c, RULE, "李", NOW)
        with pytest.raises(ConfigError, match="already"):
            warning_rules.change_rule(c, after, RULE, "李", NOW)
        with pytest.raises(ConfigError, match="100"):
            warning_rules.add_rule(c, Rule("长" * 101), "李", NOW)
        warning_rules.drop_rule(c, number)
        assert warning_rules.kept_rule(c, number) is None
        assert [own.id for own in warning_rules.kept_rules(c)] == [other]
        c.execute(text("UPDATE warning_rule SET record = '{\"name\": 3}'"))
        with pytest.raises(StorageError, match="name"):
            warning_rules.kept_rules(c)


def test_quiet_hours_are_kept_once(database: Database) -> None:
    with database.engine.begin() as c:
        assert warning_rules.kept_quiet_hours(c) is None
        for quiet in (QuietHours(60, 120), QuietHours(22 * 60, 0, True, None)):
            warning_rules.keep_quiet_hours(c, quiet, "李", NOW)
            assert warning_rules.kept_quiet_hours(c) == quiet


def _warn(database: Database, *stories: str, hours: int = 0, count: int = 1) -> None:
    now = NOW + timedelta(hours=hours)
    rules = [Rule("任何", channels=("mail", "desk")), Rule("多", "urgent", least_articles=3,
                                                       channels=("mail",))]  # fmt: skip
    articles = tuple(SignalArticle(f"http://a.example/{n}", "失火", "", f"{n}报", NOW)
                     for n in range(count))  # fmt: skip
    signals = [StorySignal(story, f"故事{story}", articles) for story in stories]
    with database.engine.begin() as c:
        before = stored.load_warnings(c)
        after, messages = step(before, rules, signals, Moment(now, HolidayCalendar()))
        stored.keep_step(c, before, after, messages, now)


def test_each_warning_tells_what_arrived(database: Database) -> None:
    _warn(database, "1", "2")
    _warn(database, "2", hours=1, count=3)
    with database.engine.begin() as c:
        desk, mail, raised = sorted(
            stored.take_due(c, NOW.timestamp() + 7_200), key=lambda own: own.id
        )
        stored.note_sent(c, desk, NOW + timedelta(hours=2))
        stored.note_failed(c, mail, "connection refused", NOW.timestamp())
        stored.note_failed(c, raised, "no", NOW.timestamp(), most=1)
        assert stored.count_by_status(c) == {"open": 2}
        own = {line.warning.story: line for line in stored.lines_of(
            c, stored.warnings_of(c, ("open",)))}  # fmt: skip
        first, second = own["1"], own["2"]
        assert (first.story, first.topics) == (None, {})
        assert [(one.channel, one.state, one.error) for one in first.deliveries] == [
            ("desk", "sent", ""), ("mail", "waiting", "connection refused"),
        ]  # fmt: skip
        assert first.deliveries[0].sent_at == NOW + timedelta(hours=2)
        assert first.deliveries[1].next_at == NOW + timedelta(minutes=1)
        assert [(one.channel, one.severity, one.state) for one in second.deliveries] == [
            ("desk", "warning", "sent"), ("mail", "warning", "waiting"),
            ("mail", "urgent", "given_up"),
        ]  # fmt: skip
        last = stored.last_deliveries(c)
        assert {name: one.state for name, one in last.items()} == {
            "desk": "sent", "mail": "given_up",
        }  # fmt: skip
        assert stored.count_waiting(c) == {"mail": 1}
        before = stored.load_warnings(c)
        stored.keep_step(c, before, mute(before, "1"), (), NOW)
        assert stored.count_by_status(c) == {"open": 1, "muted": 1}
        assert stored.warnings_of(c, ("closed",)) == []


def test_a_warning_that_opens_anew_does_not_tell_of_the_old_one(database: Database) -> None:
    _warn(database, "1")
    _warn(database, hours=91 * 24)
    _warn(database, "1", hours=91 * 24 + 1)
    with database.engine.connect() as c:
        (line,) = stored.lines_of(c, stored.warnings_of(c, ("open",)))
    assert len(line.deliveries) == 2
