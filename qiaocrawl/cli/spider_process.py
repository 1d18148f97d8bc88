"""A spider as a process of its own, watched from the command that started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from qiaocrawl.items import Queue
from qiaocrawl.storage import Database
from qiaocrawl.storage.reports import summary

_POLL_SECONDS = 0.5
_BAR_CELLS = 20


@dataclass(frozen=True)
class SpiderCommand:
    """One ``scrapy crawl``.

    Attributes:
        title: what an operator sees.
        arguments, settings: its ``-a`` and ``-s``, as NAME=VALUE.
        log: the file all it says goes to.
        environment: variables beside those of this process.
    """

    spider: str
    title: str
    log: Path
    arguments: Sequence[str] = ()
    settings: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The command line."""
        words = [sys.executable, "-m", "scrapy", "crawl", self.spider]
        for option, values in (("-a", self.arguments), ("-s", self.settings)):
            for value in values:
                words += [option, value]
        return words


def run_spider(command: SpiderCommand, watch: Callable[[], None]) -> int:
    """Run it to its end and return its exit code; *watch* is called twice a second.

    Whatever interrupts this (Ctrl-C) first lets the spider end in order.
    """
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **command.environment}
    with command.log.open("ab") as out:
        # In a session of its own: Ctrl-C at the terminal would reach it beside what is sent here,
        # and Scrapy takes a second signal for "at once".
        process = subprocess.Popen(
            command.words, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            while process.poll() is None:
                watch()
                time.sleep(_POLL_SECONDS)
        except BaseException:
            process.terminate()
            process.wait()
            raise
        watch()
    return process.returncode


def run_with_bar(command: SpiderCommand, database: Database, console: Console) -> int:
    """:func:`run_spider` under a bar of the queue's URLs and the articles."""
    with _bar(command.title, console) as progress:
        code = run_spider(command, lambda: _show(progress, database, command.spider))
        progress.update(progress.task_ids[0], total=progress.tasks[0].completed)
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
        progress.add_task(title, total=1, state="启动中 starting")
        yield progress


def _show(progress: Progress, database: Database, queue: str) -> None:
    with database.engine.connect() as c:
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
        return f"{share} {counts.articles} 篇 articles"
    if done_now <= 0 or counts.done == counts.known:
        return f"{share} 问 queries"
    left_seconds = seconds * (counts.known - counts.done) / done_now
    return f"{share} 约剩 left {timedelta(seconds=round(left_seconds))}"
