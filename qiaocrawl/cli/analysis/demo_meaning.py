"""What the demo's articles mean, for its console: stories, names, warnings, a month's briefing."""

from __future__ import annotations

from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

from qiaocrawl.analyse.briefing import make_briefing
from qiaocrawl.analyse.kept_briefing import briefing_files, keep
from qiaocrawl.analyse.warnings import check_warnings
from qiaocrawl.analysis.trends import default_calendar
from qiaocrawl.analysis.warnings import Moment, Rule
from qiaocrawl.cli.analysis.analyse import place_stories, read_all_names
from qiaocrawl.demo.stories import LAST_DAY
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.analysis.briefings import list_briefings
from qiaocrawl.storage.analysis.warning_rules import add_rule, kept_rules

if TYPE_CHECKING:
    from qiaocrawl.cli.terminal import Terminal

MONTH = LAST_DAY - timedelta(days=30), LAST_DAY + timedelta(days=1)
"""The last month that the demo web tells of."""


def analyse_demo(url: str, topic: str, console: Terminal) -> None:
    """Put the articles at *url* into stories, warn of some and keep a briefing, each once."""
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}), crawling=False)
    try:
        has_rules = bool(runtime.reader.run(kept_rules))
        has_briefing = bool(runtime.reader.run(list_briefings))
        if has_rules and has_briefing:
            return
        never = Event()
        place_stories(runtime, 0, console, never)
        read_all_names(runtime, console, never)
        if not has_rules:
            _warn(runtime)
        if not has_briefing:
            made = runtime.reader.run(lambda c: make_briefing(c, topic, MONTH, default_calendar()))
            runtime.write_now(lambda c: keep(c, topic, made, briefing_files(made)))
    finally:
        runtime.close()


def _warn(runtime: Runtime) -> None:
    """Keep a rule that tells no channel, and what it warns of at the end of the month."""
    rule = Rule(_("Two outlets or more"), least_outlets=2, channels=())
    end = MONTH[1]
    runtime.write_now(lambda c: add_rule(c, rule, "demo", end))
    check_warnings(runtime, [rule], Moment(end, default_calendar()), MONTH[0])
