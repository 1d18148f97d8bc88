"""``qiaocrawl schedule``: a systemd timer that runs a topic every day."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl.cli.db import connection_to
from qiaocrawl.cli.output import say_written
from qiaocrawl.cli.project.start import filled
from qiaocrawl.errors import ConfigError, QiaoError
from qiaocrawl.storage.topics.topic_ids import find_topic_id
from qiaocrawl.topic.check import pack_name_reason

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


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
    """Print (or --install) a systemd user timer that runs TOPIC every day, in this folder. 定时"""
    if reason := pack_name_reason(topic):
        raise ConfigError(f"topic {topic!r}: {reason}")
    _warn_of_missing(topic)
    units = units_for(topic, at, hours, Path.cwd())
    if not install:
        for name, text in units.items():
            typer.echo(f"# ~/.config/systemd/user/{name}\n{text}")
        typer.echo("# --install 写入并启用 writes them and switches the timer on")
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
        typer.echo(
            f"注意 note: 主题 {topic} 尚未导入 is not imported: qiaocrawl topic import {topic}",
            err=True,
        )


def units_for(topic: str, at: str, hours: float, folder: Path) -> dict[str, str]:
    """Name and text of the service and of the timer.

    Raises:
        ConfigError: *at* is no list of times.
    """
    times = [time.strip() for time in at.split(",")]
    if wrong := next((time for time in times if not _TIME.fullmatch(time)), None):
        raise ConfigError(f"--at {wrong!r} is no time of day such as 06:00")
    command = [sys.executable, "-m", "qiaocrawl", "run", topic, "--hours", f"{hours:g}"]
    values = {
        "topic": topic,
        "folder": _escaped(str(folder)),
        "command": _escaped(shlex.join(command)),
        "times": "\n".join(f"OnCalendar=*-*-* {time}:00" for time in times),
        # Time for the last stage to end in order, then the system ends it.
        "limit": f"{hours * 3600 + 900:.0f}",
    }
    name = f"qiaocrawl-{topic}"
    return {f"{name}.service": filled("service", values), f"{name}.timer": filled("timer", values)}


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _install(units: dict[str, str]) -> None:
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    folder = home / "systemd" / "user"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in units.items():
            (folder / name).write_text(text, "utf-8")
            say_written(folder / name)
    except OSError as error:
        raise ConfigError(f"cannot write into {folder}: {error.strerror}") from error
    timer = next(name for name in units if name.endswith(".timer"))
    for arguments in (("daemon-reload",), ("enable", "--now", timer)):
        command = ["systemctl", "--user", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise ConfigError(
                "there is no systemctl here: use cron, see the service file"
            ) from None
        if done.returncode != 0:
            raise ConfigError(f"`{shlex.join(command)}` failed: {done.stderr.strip()}")
    typer.echo(f"已启用 on: {timer}；未登录时也运行 also when logged out: loginctl enable-linger")
