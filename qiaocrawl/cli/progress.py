"""A progress bar for a long pass, which Ctrl-C ends between two steps."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from types import FrameType
from typing import NoReturn

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
from rich.text import Text

from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.language import _


class _Rate(ProgressColumn):
    """Pages or articles a second, of the last seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "")


@dataclass
class Pass:
    """A pass over *total* things with a bar; see :func:`shown_pass`."""

    total: int
    done: int
    _progress: Progress
    _stopped: Event

    def advance(self, number: int) -> bool:
        """Count *number* more; False when the pass is to stop."""
        self.done += number
        self._progress.advance(self._progress.task_ids[0], number)
        return not self._stopped.is_set()

    @property
    def is_cut(self) -> bool:
        """Whether Ctrl-C ended it before its time."""
        return self._stopped.is_set() and self.done < self.total

    def leave(self, console: Console) -> NoReturn:
        """Leave the command whose pass was stopped.

        Raises:
            Exit: with 130.
        """
        console.print(
            _(
                "stopped after {done} of {total}; the same command begins anew",
                done=self.done,
                total=self.total,
            )
        )
        raise typer.Exit(INTERRUPTED)


@contextmanager
def shown_pass(name: str, total: int, console: Console, stopped: Event) -> Iterator[Pass]:
    """Show a bar of *total* things until the block ends; *stopped* asks the pass to stop."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TextColumn(_("left")),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        progress.add_task(name, total=total)
        yield Pass(total, 0, progress, stopped)


@contextmanager
def stopping() -> Iterator[Event]:
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
