"""Warnings: rules and their conditions, one warning a story, told once, quiet hours, merging."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import using_language
from qiaocrawl.news.trends.usual import HolidayCalendar, default_calendar
from qiaocrawl.news.warnings.machine import (
    Message,
    Moment,
    StoryWarning,
    from_record,
    message_text,
    message_title,
    mute,
    reason_text,
    step,
    to_record,
)
from qiaocrawl.news.warnings.rules import QuietHours, Rule, read_rules, rule_conditions
from qiaocrawl.news.warnings.signals import First, SignalArticle, StorySignal, rule_hit
from qiaocrawl.text.zones import SHANGHAI

# A Thursday.
NOON = datetime(2026, 3, 5, 12, tzinfo=SHANGHAI)
HOUR = timedelta(hours=1)
NIGHT = QuietHours(22 * 60, 7 * 60)


def article(number: int = 0, **more: Any) -> SignalArticle:
    return SignalArticle(**{
        "key": f"http://a.example/{number}", "title": "唐人街失火", "text": "商铺受损。",
        "outlet": f"{number}报", "at": NOON - number * HOUR, **more,
    })  # fmt: skip


def signal(story: str = "s1", count: int = 1, **more: Any) -> StorySignal:
    own = {"story": story, "title": f"故事{story}", "articles": tuple(map(article, range(count)))}
    return StorySignal(**{**own, **more})


class Desk:
    """Steps one after the other, at moments counted in hours from noon."""

    def __init__(self, *rules: Rule, quiet: QuietHours = NIGHT) -> None:
        self.rules, self.quiet = rules, quiet
        self.warnings: dict[str, StoryWarning] = {}

    def step(
        self, hours: float, *signals: StorySignal, merged: dict[str, str] | None = None
    ) -> list[Message]:
        moment = Moment(NOON + hours * HOUR, HolidayCalendar(), self.quiet)
        self.warnings, messages = step(self.warnings, self.rules, signals, moment, merged)
        return messages


def told(messages: Iterable[Message]) -> list[tuple[str, str, list[tuple[str, bool]]]]:
    return [(m.channel, m.severity, [(n.warning.story, n.is_new) for n in m.notices])
            for m in messages]  # fmt: skip


def test_groups_of_words_and_kinds_of_media_choose_articles() -> None:
    touched = {"groups": frozenset({("侨情", "领保")}), "medium": "central"}
    story = signal(articles=(article(0, **touched), article(1, medium="portal")))
    for rule, keys in (
        (Rule("组", groups=("领保", "其他")), 1), (Rule("组", groups=("其他",)), 0),
        (Rule("组", topic="教育", groups=("领保",)), 0), (Rule("媒", media=("portal",)), 1),
        (Rule("媒", media=("portal", "central")), 2), (Rule("媒", media=("forum",)), 0),
        (Rule("两", groups=("领保",), media=("portal",)), 0),
    ):  # fmt: skip
        hit = rule_hit(rule, story, NOON)
        assert (len(hit.keys) if hit else 0) == keys, rule
        if hit:
            told = " ".join(map(reason_text, hit.reasons))
            assert ("领保" in told) is bool(rule.groups)
        assert rule_conditions(rule)


ANY = Rule("任何")
URGENT = Rule("急", severity="urgent", least_articles=5)


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        (Rule("r", topic="qiao"), False),
        (Rule("r", any_of=("失火", "抢劫")), True),
        (Rule("r", all_of=("失火", "抢劫")), False),
        (Rule("r", any_of=("唐人街",), none_of=("受损",)), False),
        (Rule("r", least_articles=6), True),
        (Rule("r", least_articles=7), False),
        (Rule("r", least_outlets=6, within_hours=5), True),
        (Rule("r", least_outlets=6, within_hours=4.5), False),
        (Rule("r", most_tier=2), False),
        (Rule("r", least_deviation=3), True),
        (Rule("r", least_deviation=4), False),
        (Rule("r", in_burst=True), False),
        (Rule("r", first=("place",)), True),
        (Rule("r", first=("outlet", "body")), False),
        (Rule("r", least_negative=0.5), False),
        (Rule("r", enabled=False), False),
    ],
)
def test_conditions(rule: Rule, holds: bool) -> None:
    story = signal(count=6, deviation=3.2, firsts=(First("place", "青田", "http://a.example/0"),))
    assert (rule_hit(rule, story, NOON) is not None) is holds


def test_an_article_has_to_meet_words_tier_and_topic_at_once() -> None:
    topics = frozenset({"qiao"})
    articles = (article(0, tier=1, title="别的", text=""), article(1, tier=3, topics=topics),
                article(2, tier=1, topics=topics), article(3))  # fmt: skip
    hit = rule_hit(
        Rule("r", topic="qiao", any_of=("失火",), most_tier=2), signal(articles=articles), NOON
    )
    assert hit is not None
    assert hit.keys == ("http://a.example/2",)
    assert [(reason.kind, reason.value) for reason in hit.reasons] == [
        ("words", "失火"), ("tier", "2报/1"), ("count", "1/1"),
    ]  # fmt: skip


def test_tone_is_of_three_sure_ones_at_least() -> None:
    rule = Rule("r", least_negative=0.6)
    labels = ["negative", "negative", "unsure", "unsure", "positive"]
    five = tuple(article(n, tone=label) for n, label in enumerate(labels))
    hit = rule_hit(rule, signal(articles=five), NOON)
    assert hit is not None
    assert hit.reasons[-1].value == "2/3"
    assert rule_hit(rule, signal(articles=five[:4]), NOON) is None


def test_one_warning_a_story_told_once() -> None:
    desk = Desk(ANY)
    assert told(desk.step(0, signal())) == [("default", "warning", [("s1", True)])]
    for hours in (0, 1, 2):
        assert desk.step(hours, signal(count=3)) == []
    (warning,) = desk.warnings.values()
    assert (warning.revision, warning.articles, warning.status) == (1, 3, "open")
    assert (warning.opened_at, warning.changed_at) == (NOON, NOON)
    # It closes by itself, and opens again without a word.
    assert desk.step(2 + 72) == []
    assert desk.warnings["s1"].status == "closed"
    assert desk.step(80, signal(count=4)) == []
    assert desk.warnings["s1"].status == "open"
    desk.step(80 + 24 * 91)
    assert desk.warnings == {}


def test_a_higher_severity_is_told_and_a_lower_one_not() -> None:
    desk = Desk(ANY, URGENT)
    desk.step(0, signal())
    assert told(desk.step(1, signal(count=5))) == [("default", "urgent", [("s1", False)])]
    assert desk.step(2, signal(count=1)) == desk.step(3, signal(count=6)) == []
    assert desk.warnings["s1"].severity == "urgent"


def test_each_channel_is_told_what_its_rules_say() -> None:
    desk = Desk(replace(ANY, channels=("mail",)), replace(URGENT, channels=("mail", "wecom")))
    assert told(desk.step(0, signal())) == [("mail", "warning", [("s1", True)])]
    assert told(desk.step(1, signal(count=5))) == [
        ("mail", "urgent", [("s1", False)]), ("wecom", "urgent", [("s1", True)]),
    ]  # fmt: skip


def test_quiet_hours_hold_back_and_tell_at_once_when_they_end() -> None:
    desk = Desk(ANY, URGENT)
    assert desk.step(11, signal("a")) == desk.step(12, signal("b")) == []
    # What is urgent passes, and tells nothing else.
    assert told(desk.step(13, signal("c", 5))) == [("default", "urgent", [("c", True)])]
    assert desk.step(18.9) == []
    assert told(desk.step(19)) == [("default", "warning", [("a", True), ("b", True)])]
    assert desk.step(20) == []
    all_quiet = Desk(URGENT, quiet=QuietHours(22 * 60, 7 * 60, passes=None))
    assert all_quiet.step(12, signal(count=5)) == []


def test_quiet_hours_know_midnight_and_days_off() -> None:
    calendar = default_calendar()
    assert NIGHT.is_quiet(NOON + 12 * HOUR, calendar)
    assert not NIGHT.is_quiet(NOON, calendar)
    assert not QuietHours().is_quiet(NOON, calendar)
    assert QuietHours(600, 720).is_quiet(NOON - HOUR, calendar)
    assert not QuietHours(600, 720).is_quiet(NOON, calendar)
    days_off = QuietHours(days_off=True)
    assert days_off.is_quiet(datetime(2026, 2, 16, 12, tzinfo=SHANGHAI), calendar)
    # A Saturday that is worked.
    assert not days_off.is_quiet(datetime(2026, 2, 14, 12, tzinfo=SHANGHAI), calendar)


def test_stories_that_merge_keep_one_warning_and_tell_nothing() -> None:
    desk = Desk(ANY, URGENT)
    desk.step(0, signal("a"))
    desk.step(1, signal("b", 5))
    assert desk.step(2, signal("b", 7), merged={"a": "b"}) == []
    (warning,) = desk.warnings.values()
    assert (warning.id, warning.story, warning.severity, warning.articles) == (
        "a",
        "b",
        "urgent",
        7,
    )
    # A circle of merges ends.
    assert desk.step(3, merged={"b": "c", "c": "b"}) == []
    assert len(desk.warnings) == 1
    # Told as a warning, then merged into one of which nobody may be told.
    desk.step(4, signal("d"))
    desk.warnings = mute(desk.warnings, "d")
    (story,) = {own.story for own in desk.warnings.values()} - {"d"}
    desk.step(5, merged={"d": story})
    assert desk.warnings[story].status == "muted"


def test_an_open_warning_is_not_closed_by_a_merge_with_one_that_is_over() -> None:
    desk = Desk(ANY)
    desk.step(0, signal("a"))
    desk.step(100, signal("b"))
    assert desk.warnings["a"].status == "closed"
    assert desk.step(101, merged={"a": "b"}) == []
    (warning,) = desk.warnings.values()
    assert (warning.id, warning.status) == ("a", "open")


def test_a_story_that_is_split_off_again_has_a_warning_of_its_own() -> None:
    desk = Desk(ANY)
    desk.step(0, signal("a"))
    desk.step(1, signal("b"))
    desk.step(2, merged={"a": "b"})
    assert told(desk.step(3, signal("a"))) == [("default", "warning", [("a", True)])]
    assert len({warning.id for warning in desk.warnings.values()}) == 2


def test_a_story_that_was_forgotten_is_told_of_as_a_new_one() -> None:
    desk = Desk(ANY)
    (first,) = desk.step(0, signal())
    assert desk.step(91 * 24) == []
    assert desk.warnings == {}
    (later,) = desk.step(91 * 24 + 1, signal())
    assert later.id != first.id


def test_nobody_is_told_of_what_was_muted() -> None:
    desk = Desk(ANY, URGENT)
    desk.step(0, signal())
    desk.warnings = mute(desk.warnings, "s1")
    assert desk.step(1, signal(count=9)) == []
    assert desk.warnings["s1"].articles == 9


def test_a_step_made_again_makes_the_same_message() -> None:
    desk = Desk(ANY, replace(ANY, name="二", channels=("mail",)))
    first, mail = desk.step(0, signal("b"), signal("a"))
    moment = Moment(NOON, HolidayCalendar(), NIGHT)
    _after, again = step({}, desk.rules, [signal("a"), signal("b")], moment)
    assert [message.id for message in again] == [first.id, mail.id]
    assert first.id != mail.id
    stored = json.loads(json.dumps({s: to_record(w) for s, w in desk.warnings.items()}))
    assert {s: from_record(record) for s, record in stored.items()} == desk.warnings


def test_messages_tell_why() -> None:
    rule = Rule("火情", any_of=("失火",), least_articles=2, within_hours=6, least_deviation=2,
                in_burst=True, first=("place",))  # fmt: skip
    desk = Desk(rule, replace(URGENT, name="多"))
    story = signal(count=2, deviation=4.25, in_burst=True,
                   firsts=(First("place", "青田", "http://a.example/0"),))  # fmt: skip
    with using_language("zh_CN"):
        (message,) = desk.step(0, story)
        assert message_title(message) == "预警：故事s1"
        text = message_text(message)
        for words in ("火情", "词：失火", "2 家", "6 小时", "4.2", "爆发", "青田", "03-05 12:00",
                      "http://a.example/0"):  # fmt: skip
            assert words in text
        desk.step(0.5, signal("x"))
        (raised,) = desk.step(
            1, replace(story, articles=tuple(map(article, range(5)))), signal("s2", 5)
        )
        assert message_title(raised) == "紧急：故事s1，另有 1 条"
        assert "升级" in message_text(raised)


def test_rules_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        '[[rule]]\nname = "涉侨安全"\nseverity = "urgent"\nany_of = ["失火", "抢劫"]\n'
        'most_tier = 2\nwithin_hours = 3\nleast_outlets = 3\nfirst = ["place"]\n'
        'channels = "mail"\n[quiet]\nbegin = "22:00"\nend = "07:30"\n', "utf-8",
    )  # fmt: skip
    rules, quiet = read_rules(file)
    assert quiet == QuietHours(22 * 60, 7 * 60 + 30)
    assert rules == (
        Rule("涉侨安全", "urgent", any_of=("失火", "抢劫"), most_tier=2, within_hours=3,
             least_outlets=3, first=("place",), channels=("mail",)),
    )  # fmt: skip
    file.write_text(
        'x = 1\n[[rule]]\nname = "a"\nseverity = "loud"\nleast_article = 3\n[[rule]]\nname = "b"\n'
        'none_of = ["c"]\n[[rule]]\nname = "d"\n[[rule]]\nname = "d"\n[quiet]\nend = "25:00"\n',
        "utf-8",
    )  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        read_rules(file)
    for fault in ("x", "rule[1].severity", "least_articles", "rule[2].none_of", "'d'", "quiet.end"):
        assert fault in str(caught.value)
