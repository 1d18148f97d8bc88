"""A spider as a process of its own, watched from the command that started it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from qiaocrawl.items import Queue
from qiaocrawl.jobs.spider_command import SpiderCommand, start_process
from qiaocrawl.language import _
from qiaocrawl.machine import kill_with_children
from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module
from qiaocrawl.reading import summary
from qiaocrawl.storage import Database
from qiaocrawl.text.zones import SHANGHAI

LOGS = Path("data/logs")
"""Where spiders' logs go if no folder is named."""

_POLL_SECONDS = 0.5
_BAR_CELLS = 20


def topic_command(
    spider: str, title: str, topic: str, database: Database, logs: Path, settings: Sequence[str]
) -> SpiderCommand:
    """*spider* over *topic* of *database*, its log a file of its own in *logs*, which is made."""
    logs.mkdir(parents=True, exist_ok=True)
    environment = {
        SETTINGS_VARIABLE: settings_module(),
        "QIAO_DATABASE_URL": database.url,
    }
    log = logs / f"{datetime.now(SHANGHAI):%Y%m%d-%H%M%S}-{topic}-{spider}.log"
    return SpiderCommand(spider, title, log, (f"topic={topic}",), settings, environment)


def run_spider(
    command: SpiderCommand, watch: Callable[[], None], on_stop: Callable[[], None]
) -> int:
    """Run it to its end and return its exit code; *watch* is called twice a second.

    Whatever interrupts this (Ctrl-C) calls *on_stop* and lets the spider end in order; a second
    Ctrl-C ends it at once. Either way all that was stored stays, and the next run goes on there.
    """
    process = start_process(command.words, command.environment, command.log)
    try:
        command.on_start(process.pid)
        while process.poll() is None:
            watch()
            time.sleep(_POLL_SECONDS)
    except BaseException:
        _end(process, on_stop)
        raise
    watch()
    return process.returncode


def _end(process: subprocess.Popen[bytes], on_stop: Callable[[], None]) -> None:
    try:
        on_stop()
        process.terminate()
        process.wait()
    except KeyboardInterrupt:
        # The workers that analyse its pages are of its group.
        kill_with_children(process)
        process.wait()


def run_with_bar(command: SpiderCommand, database: Database, console: Console) -> int:
    """:func:`run_spider` under a bar of the queue's URLs and the articles."""
    with _bar(command.title, console) as progress:
        task = progress.task_ids[0]
        code = run_spider(
            command,
            lambda: _show(progress, database, command.spider),
            lambda: progress.update(task, state=_("stopping; Ctrl-C again: at once")),
        )
        if code == 0:
            # Else the line behind it says how it failed, and no tick says that it did well.
            progress.update(task, total=progress.tasks[0].completed)
    return code


@contextmanager
def _bar(title: str, console: Console) -> Iterator[Progress]:
    # In 80 columns with room to spare; nothing but the bar may be cut.
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(_BAR_CELLS),
        TextColumn("{task.fields[state]}", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)),
    )
    with Progress(*columns, console=console) as progress:
        progress.add_task(title, total=1, state=_("starting"))
        yield progress


def _show(progress: Progress, database: Database, queue: str) -> None:
    with database.reading() as c:
        counts = summary.queue_progress(c, queue)
    if not counts.known:
        return
    task = progress.tasks[0]
    elapsed_seconds = task.elapsed or 0.0
    # A run that goes on begins with what an earlier one did.
    begun = task.fields.get("begun") or (counts.done, elapsed_seconds)
    progress.update(
        task.id,
        total=counts.known,
        completed=counts.done,
        begun=begun,
        state=_state(counts, queue, counts.done - begun[0], elapsed_seconds - begun[1]),
    )


def _state(counts: summary.Progress, queue: str, done_now: int, seconds: float) -> str:
    """How far it is; for queries, nearly all known at the start, how long they will take.

    Args:
        done_now: how many were done in the last *seconds*.
    """
    share = f"{counts.done}/{counts.known}"
    if queue != Queue.SEARCH:
        return _("{share} {articles} articles", share=share, articles=counts.articles)
    if done_now <= 0 or counts.done == counts.known:
        return _("{share} queries", share=share)
    left_seconds = seconds * (counts.known - counts.done) / done_now
    return _("{share} left {left}", share=share, left=timedelta(seconds=round(left_seconds)))
