"""Shared output of commands: tables that cut nothing off, and files."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.zones import china_time

# What stands in one row: a word or a Chinese character, with marks and spaces behind it.
_CHINESE, _MARKS = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef", "，。、；：！？）》」』”’…"
_PIECE = re.compile(f"[（《「『“‘]*(?:[{_CHINESE}]|[^\\s{_CHINESE}]+)[{_MARKS}]*\\s*|\\s+")
# Columns of a console that is a file or a pipe: rows stay whole for grep and the like.
_WIDE = 10_000


def table_console() -> Console:
    """A console for tables: as wide as the terminal, or as the rows where there is none."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDE)


def folding_table(*names: str) -> Table:
    """A table whose values go on in the next line where they do not fit; none is cut."""
    table = Table()
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def print_hanging(console: Console, line: str, hang: int = 2) -> None:
    """Print *line*, of which further rows at the terminal are set in by *hang* more than it is."""
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    # The last column stays free: some terminals wrap when it is written.
    width = max(console.width - indent - hang - 1, 20)
    rows = wrapped(text, width) if console.is_terminal else [text]
    for number, row in enumerate(rows):
        lead = " " * (indent + (hang if number else 0))
        console.print(f"{lead}{row}", markup=False, highlight=False, soft_wrap=True)


def wrapped(text: str, width: int) -> list[str]:
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


def shown_moment(when: datetime | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment as people read it, in China's time; "" for none."""
    return china_time(when, form) if when is not None else ""


def shown_seconds(epoch_seconds: float | None) -> str:
    """As :func:`shown_moment`; "" for none and for 0, which is never."""
    if not epoch_seconds:
        return ""
    return shown_moment(datetime.fromtimestamp(epoch_seconds, UTC))


def check_output(file: Path, option: str) -> None:
    """Refuse a file that cannot be written, before the work that fills it.

    Raises:
        ConfigError: its folder does not exist, or it is a folder itself; begins with *option*.
    """
    if not file.parent.is_dir():
        raise ConfigError(f"{option} {str(file)!r}: the folder {file.parent} does not exist")
    if file.is_dir():
        raise ConfigError(f"{option} {str(file)!r} is a folder")


def say_written(file: Path, facts: str = "", *, err: bool = False) -> None:
    """Say that *file* is there now, with *facts* about it in words."""
    details = f" ({facts})" if facts else ""
    typer.echo(f"已写入 written: {file}{details}", err=err)
