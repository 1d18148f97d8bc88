"""Shared output of commands: tables that cut nothing off, and files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.zones import china_time

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
