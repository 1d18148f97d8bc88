"""Rules of file and database together; what a rule would have warned of, over a store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from qiaocrawl.errors import ConfigError
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.news.warnings import office_rules as stored
from qiaocrawl.news.warnings.check import check_warnings
from qiaocrawl.news.warnings.machine import Moment
from qiaocrawl.news.warnings.office_rules import import_rules, office_rules
from qiaocrawl.news.warnings.preview import preview_rule
from qiaocrawl.news.warnings.rules import QuietHours, Rule, RuleBook
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.storage.values import to_time
from title_samples import runtime_on
from told_stories import make_stories

NOW = datetime(2026, 3, 5, 4, tzinfo=UTC)


def test_the_files_word_counts(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rule]]\nname = "a"\nseverity = "urgent"\n', "utf-8")
    night = QuietHours(22 * 60, 7 * 60)
    with database.engine.begin() as c:
        assert office_rules(c, "").book == RuleBook()
        stored.add_rule(c, Rule("a"), "李", NOW)
        stored.add_rule(c, Rule("b"), "李", NOW)
        stored.keep_quiet_hours(c, night, "李", NOW)
        alone = office_rules(c, "")
        assert alone.book == RuleBook((Rule("a"), Rule("b")), night)
        both = office_rules(c, str(file))
        assert both.book == RuleBook((Rule("a", "urgent"), Rule("b")), night)
        assert [(one.rule.name, one.kept is None, one.counts) for one in both.rules] == [
            ("a", True, True), ("a", False, False), ("b", False, True),
        ]  # fmt: skip
        assert not both.is_quiet_of_file
        file.write_text('[quiet]\nbegin = "12:00"\nend = "13:00"\npasses = ""\n', "utf-8")
        quiet = office_rules(c, str(file))
        assert quiet.is_quiet_of_file
        assert quiet.quiet == QuietHours(720, 780, passes=None)
        with pytest.raises(ConfigError, match=r"none\.toml"):
            office_rules(c, str(tmp_path / "none.toml"))


def test_rules_are_imported_in_the_place_of_their_names(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rule]]\nname = "c"\n', "utf-8")
    book = RuleBook((Rule("a", "urgent"), Rule("b"), Rule("c")), QuietHours(1, 2))
    with database.engine.begin() as c:
        stored.add_rule(c, Rule("a"), "李", NOW)
        stored.add_rule(c, Rule("b"), "李", NOW)
        done = import_rules(c, book, office_rules(c, str(file)), "王", NOW)
        assert done == (1, 1, ("c",))
        kept = {own.rule.name: own for own in stored.kept_rules(c)}
        assert (kept["a"].rule.severity, kept["a"].changed_by) == ("urgent", "王")
        assert kept["b"].changed_by == "李", "it is the same"
        assert stored.kept_quiet_hours(c) == QuietHours(1, 2)
        again = import_rules(c, book, office_rules(c, ""), "王", NOW)
        assert again == (0, 0, ())


@pytest.fixture
def runtime(database_url: str) -> Iterator[Runtime]:
    """A story of two outlets, nine and eight hours ago, and one of one outlet."""
    make_stories(database_url)
    with runtime_on(database_url) as opened:
        yield opened


def _preview(runtime: Runtime, rule: Rule, days: int = 30) -> list[tuple[str, float]]:
    """Titles, and how many hours ago, to the hour."""
    moment = Moment(datetime.now(UTC), default_calendar())
    found = runtime.reader.run(lambda c: preview_rule(c, rule, moment, days))
    return [(one.title[:4], round((moment.now - one.at) / timedelta(hours=1)))
            for one in found.stories]  # fmt: skip


def test_a_rule_shows_what_it_would_have_warned_of(runtime: Runtime) -> None:
    assert len(_preview(runtime, Rule("r"))) == 2
    ((title, ago),) = _preview(runtime, Rule("r", least_outlets=2, within_hours=2))
    assert ("马德里" in title, ago) == (True, 8)
    assert _preview(runtime, Rule("r", least_outlets=2, within_hours=0.5)) == []
    assert _preview(runtime, Rule("r", any_of=("校庆",)))[0][0].startswith("槟城")
    assert _preview(runtime, Rule("r", any_of=("地震",))) == []
    assert len(_preview(runtime, Rule("r", first=("place",)))) == 2
    assert _preview(runtime, Rule("r", least_deviation=50.0)) == []
    assert _preview(runtime, Rule("r", least_negative=1.0)) == [], "three sure ones are needed"
    assert runtime.reader.run(load_warnings) == {}, "nothing is written"


def test_stories_that_rest_are_looked_at_too_and_old_ones_not(runtime: Runtime) -> None:
    runtime.write_now(lambda c: c.execute(text("UPDATE story SET state = 'asleep'")))
    assert len(_preview(runtime, Rule("r"))) == 2
    old = to_time(datetime.now(UTC) - timedelta(days=40))
    runtime.write_now(lambda c: c.execute(
        text("UPDATE article SET published_at = :old, fetched_at = :old"), {"old": old}
    ))  # fmt: skip
    assert _preview(runtime, Rule("r")) == []


def test_a_preview_says_what_the_check_says(runtime: Runtime) -> None:
    """The same rules, as if each had been there all the time."""
    rules = [Rule("a", any_of=("失火",)), Rule("b", least_outlets=2), Rule("c", most_tier=1),
             Rule("d", topic="qiaoqing", none_of=("火",), any_of=("校庆",))]  # fmt: skip
    moment = Moment(datetime.now(UTC), default_calendar())
    check_warnings(runtime, rules, moment, moment.now - timedelta(days=1))
    warned = runtime.reader.run(load_warnings)
    for rule in rules:
        found = runtime.reader.run(lambda c, rule=rule: preview_rule(c, rule, moment, 30))
        by_check = {own.title for own in warned.values() if rule.name in own.reasons}
        assert {one.title for one in found.stories} == by_check, rule.name
        assert by_check


def test_what_is_open_is_over_some_time_though_no_rule_is_left(runtime: Runtime) -> None:
    moment = Moment(datetime.now(UTC), default_calendar())
    check_warnings(runtime, [Rule("r")], moment, moment.now - timedelta(days=1))
    later = Moment(moment.now + timedelta(days=4), default_calendar())
    checked = check_warnings(runtime, [], later, moment.now - timedelta(days=1))
    assert (checked.stories, checked.open) == (0, 0)
    assert {own.status for own in runtime.reader.run(load_warnings).values()} == {"closed"}
