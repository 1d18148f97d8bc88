"""What the demo's articles mean: stories, names, warnings, and a briefing of its last month."""

from __future__ import annotations

from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from threading import Event

from qiaocrawl.cli.analyse import read_articles
from qiaocrawl.cli.briefing import write_files
from qiaocrawl.demo.stories import LAST_DAY
from qiaocrawl.export.briefing import briefing_files, keep
from qiaocrawl.news.briefing_making import make_briefing
from qiaocrawl.news.kept_briefings import briefing_file_of, list_briefings
from qiaocrawl.news.trends.usual import default_calendar
from qiaocrawl.news.warnings.check import Checked, check_warnings
from qiaocrawl.news.warnings.machine import Moment
from qiaocrawl.news.warnings.office_rules import add_rule, kept_rules
from qiaocrawl.news.warnings.rules import RuleBook, read_rules
from qiaocrawl.options import Options
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage import Database
from qiaocrawl.text.visible import Terminal

_ENDINGS = ("docx", "html")
MONTH = LAST_DAY - timedelta(days=30), LAST_DAY + timedelta(days=1)
"""The last month that the demo web tells of."""
LEAST_OUTLETS = 4
"""Of a story of the month so many outlets must tell: then the demo's rules warn of it."""


def analyse_demo(url: str, topic: str, console: Terminal) -> int:
    """Put the articles at *url* into stories, check the demo's rules and keep a briefing.

    Returns:
        The number of the briefing; of the newest one if any is kept already.
    """
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}), crawling=False)
    try:
        if kept := runtime.reader.run(lambda c: list_briefings(c, topic)):
            return kept[0].id
        tell_stories(runtime, console)
        check_demo_rules(runtime, MONTH[1])
        if not runtime.reader.run(kept_rules):
            keep_demo_rules(runtime)
        made = runtime.reader.run(lambda c: make_briefing(c, topic, MONTH, default_calendar()))
        return runtime.write_now(lambda c: keep(c, topic, made, briefing_files(made)))
    finally:
        runtime.close()


def write_briefing(url: str, number: int, folder: Path) -> None:
    """Write the kept briefing *number* into *folder*, as Word file and as page."""
    with Database.open(url) as database, database.engine.connect() as c:
        files = {ending: briefing_file_of(c, number, ending) for ending in _ENDINGS}
    write_files(files, [folder / f"briefing.{ending}" for ending in _ENDINGS])


def tell_stories(runtime: Runtime, console: Terminal) -> None:
    """Place all articles in stories, read whom they name, and judge their classes."""
    read_articles(runtime, 0, console, Event())


def keep_demo_rules(runtime: Runtime) -> None:
    """Keep the rules of the demo's office in the database, where the console has them."""
    rules = _demo_rules().rules
    runtime.write_now(lambda c: [add_rule(c, rule, "demo", MONTH[1]) for rule in rules])


def check_demo_rules(runtime: Runtime, now: datetime) -> Checked:
    """Hold the rules of the demo's office against all stories, as of *now*."""
    book = _demo_rules()
    moment = Moment(now, default_calendar(), book.quiet)
    return check_warnings(runtime, book.rules, moment, MONTH[0] - timedelta(days=10_000))


def _demo_rules() -> RuleBook:
    return read_rules(resources.files("qiaocrawl.demo") / "data" / "warning_rules.toml")
