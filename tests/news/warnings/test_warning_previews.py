"""When a rule would have held first; rules as tables and as a file again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from qiaocrawl.language import using_language
from qiaocrawl.news.warnings.preview import first_hit
from qiaocrawl.news.warnings.rules import (
    QuietHours,
    Rule,
    RuleBook,
    quiet_table,
    quiet_text,
    read_rules,
    rule_conditions,
    rule_table,
    rules_text,
)
from qiaocrawl.news.warnings.signals import First, SignalArticle, StorySignal
from qiaocrawl.text.toml_file import check_table

START = datetime(2026, 3, 1, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)
NEVER = START - 1_000 * HOUR
LATER = START + 1_000 * HOUR
EVERYTHING = Rule(
    "全", "urgent", "qiaoqing", ("失火", 'a"b\\'), ("侨",), ("演习",), 2, 3, 2, 6.5, 0.6, 2.5, True,
    ("place", "outlet"), ("desk", "群"), False,
)  # fmt: skip


def _signal(hours: Iterable[float], firsts: tuple[First, ...] = (), **more: Any) -> StorySignal:
    articles = tuple(SignalArticle(f"http://a.example/{n}", "失火", "", f"{n}报", START + at * HOUR,
                                  **more) for n, at in enumerate(hours))  # fmt: skip
    return StorySignal("1", "唐人街失火", articles, firsts=firsts)


def _first(rule: Rule, signal: StorySignal, since: datetime = NEVER) -> float | None:
    """Hours from the start on."""
    found = first_hit(rule, signal, since, LATER, lambda _at: (None, False))
    return None if found is None else (found.at - START) / HOUR


def test_it_would_have_held_when_the_last_article_it_needs_came() -> None:
    signal = _signal((0, 2, 30, 31, 32))
    assert _first(Rule("r"), signal) == 0
    assert _first(Rule("r", least_outlets=3), signal) == 30
    assert _first(Rule("r", least_outlets=3, within_hours=3), signal) == 32
    assert _first(Rule("r", least_outlets=4, within_hours=3), signal) is None
    assert _first(Rule("r", any_of=("地震",)), signal) is None
    assert _first(Rule("r", enabled=False), signal) == 0
    assert _first(Rule("r", least_outlets=2), signal, START + HOUR) == 2
    assert _first(Rule("r"), signal, START + 40 * HOUR) is None, "nothing came since"


def test_what_was_not_known_yet_does_not_count() -> None:
    late = First("place", "青田", "http://a.example/2")
    assert _first(Rule("r", first=("place",)), _signal((0, 1, 5), (late,))) == 5
    assert _first(Rule("r", first=("body",)), _signal((0, 1, 5), (late,))) is None
    ahead = _signal((0, 2_000))
    assert _first(Rule("r", least_articles=2), ahead) is None, "dated ahead of now"


def test_tone_comes_and_goes() -> None:
    hours = range(4)
    tones = ("negative", "positive", "negative", "negative")
    articles = tuple(SignalArticle(f"k{n}", "失火", "", f"{n}报", START + n * HOUR, tone=tone)
                     for n, tone in zip(hours, tones, strict=True))  # fmt: skip
    signal = StorySignal("1", "t", articles)
    assert _first(Rule("r", least_negative=0.6), signal) == 2
    assert _first(Rule("r", least_negative=0.7), signal) == 3
    assert _first(Rule("r", least_negative=0.9), signal) is None


def test_a_trend_is_asked_for_once_a_day_and_only_where_all_else_holds() -> None:
    asked: list[float] = []

    def trend(at: datetime) -> tuple[float | None, bool]:
        asked.append((at - START) / HOUR)
        return (4.0 if at > START + 20 * HOUR else 1.0), False

    # The day of China ends twelve hours after the start.
    signal = _signal((0, 1, 2, 24, 25))
    rule = Rule("r", least_deviation=3, least_articles=3)
    found = first_hit(rule, signal, NEVER, LATER, trend)
    assert found is not None
    assert (found.at - START) / HOUR == 25
    assert asked == [2, 25]
    assert found.hit.reasons[-1].value == "4.0"
    asked.clear()
    first_hit(Rule("r", least_deviation=3, least_articles=6), signal, NEVER, LATER, trend)
    assert asked == []


@pytest.mark.parametrize("rule", [Rule("r"), EVERYTHING, Rule("静", channels=())])
def test_a_rule_is_the_same_after_its_table(rule: Rule) -> None:
    assert check_table(Rule, rule_table(rule)) == (rule, [])
    assert rule_conditions(rule)


@pytest.mark.parametrize(
    "quiet", [QuietHours(), QuietHours(22 * 60, 7 * 60 + 5, True, None), QuietHours(1, 2)]
)
def test_a_file_of_rules_is_read_as_it_was_written(quiet: QuietHours, tmp_path: Path) -> None:
    book = RuleBook((Rule("r"), EVERYTHING, Rule("删\x7f除\n行")), quiet)
    file = tmp_path / "rules.toml"
    file.write_text(rules_text(book), "utf-8")
    assert read_rules(file) == book
    assert check_table(QuietHours, quiet_table(quiet)) == (quiet, [])


def test_what_a_rule_asks_for_is_told_in_words() -> None:
    with using_language("en"):
        assert rule_conditions(Rule("r")) == ["every story"]
        conditions = rule_conditions(EVERYTHING)
        assert len(conditions) == 12
        assert "negative: 60 % at least" in conditions
        assert quiet_text(QuietHours()) == "never"
        assert quiet_text(QuietHours(22 * 60, 7 * 60, True)) == "22:00 to 07:00, days off"
