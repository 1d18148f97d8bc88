"""All that commands print: lines, tables that cut nothing off, bars, files."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any, NoReturn

import rich._wrap
import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
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
from rich.table import Column, Table
from rich.text import Text

from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.language import _
from qiaocrawl.text.visible import Terminal, visible, visible_json

# --- The terminal: all that commands print goes through here, so that no page can steer it --------


def echo(text: str = "", *, err: bool = False) -> None:
    """Print *text* as a line, on stderr if *err*."""
    typer.echo(visible(text), err=err)


def print_line(line: str) -> None:
    """Print *line* for people: nothing in it is markup, and it may be longer than the terminal."""
    Terminal(soft_wrap=True, highlight=False).print(line, markup=False)


def echo_json(value: Any) -> None:
    """Print *value* as JSON for programs; what JSON has no form for as text."""
    typer.echo(visible_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)))


# What stands in one row: a word or a Chinese character, with marks and spaces behind it.
_CHINESE, _MARKS = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef", "，。、；：！？）》」』”’…"
_PIECE = re.compile(f"[（《「『“‘]*(?:[{_CHINESE}]|[^\\s{_CHINESE}]+)[{_MARKS}]*\\s*|\\s+")
# Rich breaks lines at spaces only, of which Chinese has none: whole sentences would go to the next
# row, or be cut. It has no setting for it.
rich._wrap.re_word = _PIECE


def _rstrip_end(text: Text, size: int) -> None:
    """Take off the spaces at the end of a line that are beyond *size* cells.

    Rich counts characters here: of wide ones the space stayed, and was cut off with a letter.
    """
    spaces = len(text.plain) - len(text.plain.rstrip())
    beyond = min(text.cell_len - size, spaces)
    if beyond > 0:
        text.right_crop(beyond)


Text.rstrip_end = _rstrip_end  # type: ignore[assignment, method-assign]
# Columns of a console that is a file or a pipe: rows stay whole for grep and the like.
_WIDE = 10_000
# Cells of a column below which its values are hard to read, where they are longer.
_READABLE = 16


def table_console() -> Console:
    """A console for tables: as wide as the terminal, or as the rows where there is none."""
    console = Terminal(highlight=False)
    return console if console.is_terminal else Terminal(highlight=False, width=_WIDE)


class FoldingTable(Table):
    """A table whose values go on in the next line where they do not fit; none is cut.

    At a terminal that is too narrow for its columns to be read, each row is a block instead: its
    first value, and below it the others with what they are.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, or its rows as blocks."""
        # Each column has a margin of two and a border, and there is one border more.
        needed = sum(_readable_cells(column) + 3 for column in self.columns) + 1
        if not console.is_terminal or needed <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        width = options.max_width - 1
        names = [_plain(column.header) for column in self.columns]
        yield Text(f"── {' · '.join(filter(None, (_plain(self.title or ''), names[0])))}")
        for row in zip(*(column.cells for column in self.columns), strict=True):
            first, *values = (_plain(cell) for cell in row)
            facts = [
                f"{name} {value}"
                for name, value in zip(names[1:], values, strict=True)
                if value.strip()
            ]
            for line in first.splitlines():
                yield from (Text(part, "bold", overflow="fold") for part in wrap(line, width))
            yield from (
                Text(f"  {part}", overflow="fold") for part in _join_facts(facts, width - 2)
            )
        if self.caption:
            yield Text(_plain(self.caption), "dim")


def _readable_cells(column: Column) -> int:
    """The least width, in cells, at which *column* can be read."""
    lines = [line for cell in column.cells for line in _plain(cell).splitlines()]
    words = _plain(column.header).split()
    widest = max((cell_len(line) for line in lines), default=0)
    return max(min(widest, _READABLE), *map(cell_len, words), 1)


def _plain(value: RenderableType) -> str:
    return value.plain if isinstance(value, Text) else Text.from_markup(str(value)).plain


def _join_facts(facts: Iterable[str], width: int) -> list[str]:
    """*facts* one behind the other in rows of at most *width* cells, each whole if it can be."""
    rows: list[str] = []
    for fact in facts:
        if rows and cell_len(f"{rows[-1]} · {fact}") <= width:
            rows[-1] = f"{rows[-1]} · {fact}"
        else:
            rows += [row for line in fact.splitlines() for row in wrap(line, width)]
    return rows


def folding_table(*names: str, title: str = "") -> FoldingTable:
    """A table whose values go on in the next line where they do not fit; none is cut."""
    table = FoldingTable(title=title or None, title_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def print_hanging(console: Console, line: str, hang: int = 2) -> None:
    """Print *line*, of which further rows at the terminal are set in by *hang* more than it is."""
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    # The last column stays free: some terminals wrap when it is written.
    width = max(console.width - indent - hang - 1, 20)
    rows = wrap(text, width) if console.is_terminal else [text]
    for number, row in enumerate(rows):
        lead = " " * (indent + (hang if number else 0))
        console.print(f"{lead}{row}", markup=False, highlight=False, soft_wrap=True)


def wrap(text: str, width: int) -> list[str]:
    """*text* in rows of at most *width* cells, parted between words and Chinese characters.

    A word that is wider (an address) has a row of its own, whole.
    """
    rows = [""]
    used = 0
    for piece in _PIECE.findall(text):
        size = cell_len(piece)
        if used and used + cell_len(piece.rstrip()) > width:
            rows[-1] = rows[-1].rstrip()
            rows.append("")
            used = 0
        rows[-1] += piece
        used += size
    return rows


def not_an_address(text: str) -> str:
    """What is said of a text that is no URL of a page."""
    return _("{text!r} is no http(s) address of a page, such as http://www.a.cn/1.html", text=text)


def check_output(file: Path, option: str) -> None:
    """Refuse a file that cannot be written, before the work that fills it.

    Raises:
        ConfigError: its folder does not exist, or it is a folder itself; begins with *option*.
    """
    if not file.parent.is_dir():
        raise ConfigError(
            _(
                "{option} {file!r}: the folder {parent} does not exist",
                option=option,
                file=str(file),
                parent=file.parent,
            )
        )
    if file.is_dir():
        raise ConfigError(_("{option} {file!r} is a folder", option=option, file=str(file)))


def require_free(file: Path, *, force: bool) -> None:
    """Refuse to replace what is there, unless it is a file and *force* says so.

    Raises:
        StorageError: there is something already.
    """
    if file.exists() and not (force and file.is_file()):
        raise StorageError(
            _("{target!r} exists already; --force replaces a file", target=str(file))
        )


def join_with_commas(parts: Iterable[str]) -> str:
    """*parts* one after the other, with commas as the operator's language writes them."""
    return _(", ").join(parts)


def say_written(file: Path, facts: str = "", *, err: bool = False) -> None:
    """Say that *file* is there now, with *facts* about it in words."""
    details = f" ({facts})" if facts else ""
    echo(_("written: {file}{details}", file=file, details=details), err=err)


# --- A progress bar for a long pass, which Ctrl-C ends between two steps --------------------------


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


# --- Text files that commands of the analysis write -----------------------------------------------


def write_text(file: Path, content: str) -> None:
    """Write *file* whole or not at all, and say so."""
    from qiaocrawl.storage.backup import growing_file

    with growing_file(file) as part:
        part.write_text(content, encoding="utf-8")
    say_written(file)
