"""A spider as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class SpiderCommand:
    """One ``scrapy crawl``.

    Attributes:
        title: what an operator sees.
        arguments, settings: its ``-a`` and ``-s``, as NAME=VALUE.
        log: the file all it says goes to.
        environment: variables beside those of this process.
        on_start: is told the process's id.
    """

    spider: str
    title: str
    log: Path
    arguments: Sequence[str] = ()
    settings: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    on_start: Callable[[int], object] = lambda pid: None

    @property
    def words(self) -> list[str]:
        """The command line."""
        words = [sys.executable, "-m", "scrapy", "crawl", self.spider]
        for option, values in (("-a", self.arguments), ("-s", self.settings)):
            for value in values:
                words += [option, value]
        return words


def login_command(
    account_id: int, do: str, seconds: int, picture: Path | None, log: Path
) -> SpiderCommand:
    """A log-in (*do* = login) or a check (check) of an account; nothing is crawled.

    Args:
        seconds: how long a browser waits for a person.
        picture: where the QR code goes; None opens a window instead.
    """
    arguments = [f"account={account_id}", f"do={do}", f"seconds={seconds}"]
    if picture is not None:
        arguments.append(f"qr={picture.absolute()}")
    return SpiderCommand("login", "", log, arguments)


def start_process(
    words: Sequence[str], environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """Start a command line; what it says is added to *log*.

    It is in a session of its own: Ctrl-C at the terminal would reach it beside the signal its
    starter sends, and Scrapy takes a second signal for "at once".
    """
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
    with log.open("ab") as out:
        return subprocess.Popen(
            words,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
