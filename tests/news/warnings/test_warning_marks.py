"""Warnings people mute, unmute and take note of; when there was something to tell last."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from qiaocrawl.news.trends.usual import HolidayCalendar
from qiaocrawl.news.warnings.machine import (
    Message,
    Moment,
    StoryWarning,
    from_record,
    mute,
    step,
    take_note,
    to_record,
    unmute,
)
from qiaocrawl.news.warnings.rules import Rule
from qiaocrawl.news.warnings.signals import SignalArticle, StorySignal

NOON = datetime(2026, 3, 5, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)
RULES = (Rule("任何"), Rule("急", "urgent", least_articles=3))
Warnings = Mapping[str, StoryWarning]


def _step(
    warnings: Warnings, hours: float, count: int, story: str = "1",
    merged: Mapping[str, str] | None = None,
) -> tuple[Warnings, list[Message]]:  # fmt: skip
    articles = tuple(SignalArticle(f"http://a.example/{n}", "失火", "", f"{n}报", NOON)
                     for n in range(count))  # fmt: skip
    signals = [StorySignal(story, "唐人街失火", articles)] if count else []
    return step(warnings, RULES, signals, Moment(NOON + hours * HOUR, HolidayCalendar()), merged)


def test_it_is_told_when_it_opens_and_when_its_severity_rises() -> None:
    warnings, _messages = _step({}, 0, 1)
    assert warnings["1"].told_at == NOON
    warnings, _messages = _step(warnings, 1, 2)
    assert warnings["1"].told_at == NOON, "more articles are nothing new to tell"
    warnings, _messages = _step(warnings, 2, 3)
    assert warnings["1"].told_at == NOON + 2 * HOUR
    warnings, _messages = _step(warnings, 3, 1)
    assert warnings["1"].told_at == NOON + 2 * HOUR


def test_who_took_note_took_note_of_it_as_it_stood() -> None:
    warnings, _messages = _step({}, 0, 1)
    warnings = take_note(warnings, "1", "李", NOON + HOUR)
    warnings, _messages = _step(warnings, 2, 2)
    assert (warnings["1"].noted_by, warnings["1"].noted_at) == ("李", NOON + HOUR)
    raised, _messages = _step(warnings, 3, 3)
    assert (raised["1"].noted_by, raised["1"].noted_at) == ("", None)
    taken_back = take_note(warnings, "1", "", NOON)["1"]
    assert (taken_back.noted_by, taken_back.noted_at) == ("", None)
    over, _messages = _step(warnings, 80, 0)
    assert (over["1"].status, over["1"].noted_by) == ("closed", "李")
    again, _messages = _step(over, 81, 2)
    assert (again["1"].status, again["1"].noted_by) == ("open", "")


def test_who_is_told_again_is_told_what_was_missed() -> None:
    warnings, _messages = _step({}, 0, 1)
    warnings = mute(warnings, "1")
    warnings, messages = _step(warnings, 1, 3)
    assert messages == []
    warnings = unmute(warnings, "1", NOON + 2 * HOUR)
    assert warnings["1"].status == "open"
    warnings, (message,) = _step(warnings, 3, 0)
    assert message.severity == "urgent"
    assert unmute(warnings, "1", NOON) == warnings, "one that is not muted stays as it is"


def test_nobody_is_told_of_what_was_over_when_it_was_unmuted() -> None:
    warnings, _messages = _step({}, 0, 1)
    warnings, _messages = _step(mute(warnings, "1"), 1, 3)
    warnings = unmute(warnings, "1", NOON + 100 * HOUR)
    assert warnings["1"].status == "closed"
    assert _step(warnings, 101, 0)[1] == []


def test_stories_that_merge_keep_who_took_note_of_the_more_severe_one() -> None:
    warnings, _messages = _step({}, 0, 1)
    warnings = take_note(warnings, "1", "李", NOON)
    warnings, _messages = _step(warnings, 1, 3, "2")
    warnings, _messages = _step(warnings, 2, 0, merged={"1": "2"})
    (own,) = warnings.values()
    assert (own.id, own.severity, own.noted_by) == ("1", "urgent", "")
    assert own.told_at == NOON + HOUR


def test_what_was_kept_before_there_were_notes_is_read() -> None:
    warnings, _messages = _step({}, 0, 3)
    record = to_record(take_note(warnings, "1", "李", NOON)["1"])
    assert from_record(record).noted_at == NOON
    for name in ("raised_at", "noted_by", "noted_at"):
        del record[name]
    assert from_record(record) == warnings["1"]
