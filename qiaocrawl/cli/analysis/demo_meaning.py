"""What the demo's articles mean, for its console: stories, names, and a briefing of a month."""

from __future__ import annotations

from datetime import timedelta
from threading import Event
from typing import TYPE_CHECKING

from qiaocrawl.analyse.briefing import make_briefing
from qiaocrawl.analyse.kept_briefing import briefing_files, keep
from qiaocrawl.analysis.trends import default_calendar
from qiaocrawl.cli.analysis.analyse import judge_all_classes, place_stories, read_all_names
from qiaocrawl.demo.stories import LAST_DAY
from qiaocrawl.options import Options
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.analysis.briefings import list_briefings

if TYPE_CHECKING:
    from qiaocrawl.cli.terminal import Terminal

MONTH = LAST_DAY - timedelta(days=30), LAST_DAY + timedelta(days=1)
"""The last month that the demo web tells of."""


def analyse_demo(url: str, topic: str, console: Terminal) -> None:
    """Put the articles at *url* into stories and keep a briefing, if there is none yet."""
    runtime = Runtime(Options.from_environment({"QIAO_DATABASE_URL": url}), crawling=False)
    try:
        if runtime.reader.run(list_briefings):
            return
        never = Event()
        place_stories(runtime, 0, console, never)
        read_all_names(runtime, console, never)
        judge_all_classes(runtime, console, never)
        made = runtime.reader.run(lambda c: make_briefing(c, topic, MONTH, default_calendar()))
        runtime.write_now(lambda c: keep(c, topic, made, briefing_files(made)))
    finally:
        runtime.close()
