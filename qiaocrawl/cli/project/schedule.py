"""``qiaocrawl schedule``: a systemd timer that runs a topic every day."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.db import connection_to
from qiaocrawl.cli.moments import budget_seconds
from qiaocrawl.cli.output import say_written
from qiaocrawl.cli.project.start import PLAIN, filled
from qiaocrawl.cli.terminal import echo
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.language import _
from qiaocrawl.options.project import user_units_folder
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.topic.check import pack_name_reason

_COMMA = re.compile("[,，]")
_TIME = re.compile(r"([01]?\d|2[0-3])[:：]([0-5]\d)")


def schedule(
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    at: Annotated[str, typer.Option(help="Times of day, comma separated, 24 h: 06:00,18:00.")] = (
        "06:00"
    ),
    hours: Annotated[float, typer.Option(min=0.1, help="Time budget of one run.")] = 3.0,
    install: Annotated[
        bool, typer.Option("--install", help="Write the units and switch the timer on.")
    ] = False,
) -> None:
    """Print (or --install) a systemd user timer that runs TOPIC every day, in this folder."""
    if reason := pack_name_reason(topic):
        raise ConfigError(_("topic {topic!r}: {reason}", topic=topic, reason=reason))
    _warn_of_missing(topic)
    units = units_for(topic, at, hours, Path.cwd())
    if not install:
        for name, text in units.items():
            echo(f"# ~/.config/systemd/user/{name}\n{text}")
        echo(_("# --install writes them and switches the timer on"))
        return
    _install(units)


def _warn_of_missing(topic: str) -> None:
    """Say on stderr what the timer's runs would stop at: units may be for another machine."""
    try:
        with connection_to("") as c:
            known = find_topic_id(c, topic) is not None
    except QiaoError:
        known = False
    if not known:
        echo(
            _("note: topic {topic} is not imported: qiaocrawl topic import {topic}", topic=topic),
            err=True,
        )


def units_for(topic: str, at: str, hours: float, folder: Path) -> dict[str, str]:
    """Name and text of the service and of the timer.

    Raises:
        ConfigError: *at* is no list of times, *hours* no time, or a unit cannot name a path.
    """
    times = [_time_of_day(time.strip()) for time in _COMMA.split(at)]
    values = {
        "topic": topic,
        "folder": escaped(folder),
        "command": f"{quoted(Path(sys.executable))} -m qiaocrawl run {topic} --hours {hours:g}",
        "times": "\n".join(f"OnCalendar=*-*-* {time}:00" for time in times),
        # Time for the last stage to end in order, then the system ends it.
        "limit": f"{budget_seconds(hours) + 900:.0f}",
    }
    name = f"qiaocrawl-{topic}"
    return {f"{name}.service": filled("service", values), f"{name}.timer": filled("timer", values)}


def _time_of_day(text: str) -> str:
    """*text* (6:00) as systemd has it (06:00).

    Raises:
        ConfigError: it is none.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ConfigError(_("--at {text!r} is no time of day such as 6:00 or 18:30", text=text))
    return f"{int(match[1]):02}:{match[2]}"


def escaped(path: Path) -> str:
    """*path* in a unit; there is no way to write a line end, or a backslash or blank at its end.

    Raises:
        ConfigError: it has one.
    """
    text = str(path)
    if not text.isprintable() or text.endswith(("\\", " ")):
        raise ConfigError(_("a systemd unit cannot hold the path {text!r}: use cron", text=text))
    return text.replace("%", "%%")


def quoted(program: Path) -> str:
    """A program's path as systemd reads it (systemd.syntax, "Quoting"), which is not the shell."""
    text = escaped(program).replace("\\", "\\\\").replace('"', '\\"')
    return text if PLAIN.fullmatch(text) else f'"{text}"'


def write_units(folder: Path, units: dict[str, str]) -> None:
    """Write *units*, by their names, into *folder*, and say so.

    Raises:
        ConfigError: the folder cannot be made or written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in units.items():
            (folder / name).write_text(text, "utf-8")
            say_written(folder / name)
    except OSError as error:
        raise ConfigError(
            _("cannot write into {folder}: {strerror}", folder=folder, strerror=error.strerror)
        ) from error


def _install(units: dict[str, str]) -> None:
    try:
        folder = user_units_folder()
    except RuntimeError:
        raise ConfigError(
            _("this account has no home for units of its own: use cron, see the service file")
        ) from None
    write_units(folder, units)
    timer = next(name for name in units if name.endswith(".timer"))
    for arguments in (("daemon-reload",), ("enable", "--now", timer)):
        command = ["systemctl", "--user", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise ConfigError(
                _("there is no systemctl here: use cron, see the service file")
            ) from None
        if done.returncode != 0:
            text = _("`{command}` failed: {reason}")
            raise ConfigError(text.format(command=shlex.join(command), reason=done.stderr.strip()))
    echo(_("on: {timer}; to run when you are logged out too: loginctl enable-linger", timer=timer))
