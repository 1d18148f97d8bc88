"""``qiaocrawl reprocess``: run a stage again over what is stored."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import Event
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from qiaocrawl.options import Options
from qiaocrawl.reprocess import Advance, again_dedup, again_extract, again_relevance
from qiaocrawl.runtime import Runtime
from qiaocrawl.storage.reprocessing import count_articles, count_pages

_INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as shells have it: 128 + SIGINT."""


class Stage(StrEnum):
    """The stages that can run again."""

    EXTRACT = "extract"
    RELEVANCE = "relevance"
    DEDUP = "dedup"


_RUN: dict[Stage, Callable[[Runtime, Advance], Counter[str]]] = {
    Stage.EXTRACT: again_extract,
    Stage.RELEVANCE: again_relevance,
    Stage.DEDUP: again_dedup,
}


class _Rate(ProgressColumn):
    """Pages or articles a second, of the last seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "")


def reprocess(
    stage: Annotated[Stage, typer.Option(help="Which stage to run again.")],
    database: Annotated[
        str, typer.Option(help="Database URL instead of QIAO_DATABASE_URL.")
    ] = "",
    workers: Annotated[int, typer.Option(help="Worker processes; 0 = one a core.", min=0)] = 0,
) -> None:
    """Run a stage again over stored pages, and say what changed. No crawl may run meanwhile.

    Ctrl-C stops it after the pages in hand; the same command then begins anew.
    """
    given: dict[str, object] = {"QIAO_EXTRACT_WORKERS": workers or os.cpu_count() or 1}
    if database:
        given["QIAO_DATABASE_URL"] = database
    runtime = Runtime(Options.from_environment(given))
    console = Console()
    try:
        with _stopping() as stopped:
            if stage is not Stage.DEDUP:  # it needs neither methods of extraction nor workers
                # A worker that cannot start would be started again for ever.
                runtime.check_choices()
            changes, done, total = _run(stage, runtime, console, stopped)
    finally:
        runtime.close()
    table = Table("result", "count")
    for result, number in changes.most_common():
        table.add_row(result, str(number))
    console.print(table)
    if stopped.is_set() and done < total:
        console.print(f"stopped after {done} of {total}; the same command begins anew")
        raise typer.Exit(_INTERRUPTED)


def _run(
    stage: Stage, runtime: Runtime, console: Console, stopped: Event
) -> tuple[Counter[str], int, int]:
    """What changed, how many pages or articles are done, and how many there are."""
    total = runtime.reader.run(count_pages if stage is Stage.EXTRACT else count_articles)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(stage.value, total=total)

        def advance(done: int) -> bool:
            progress.advance(task, done)
            return not stopped.is_set()

        changes = _RUN[stage](runtime, advance)
        return changes, int(progress.tasks[0].completed), total


@contextmanager
def _stopping() -> Iterator[Event]:
    """An event that the first Ctrl-C sets; the second one interrupts as usual."""
    stopped = Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
