"""`scrapy …` with a name service of the test's own: NAMES_OF_TEST, JSON of name to addresses.

Addresses and localhost are answered as the system does; other names do not exist. A name whose
addresses are a list of lists changes its mind: they are its answers in turn, the last one stays.
LOOKUPS_OF_TEST is a file that gets a line for each question, PUBLIC_OF_TEST an address on loopback
that counts as public, FRESH_SECONDS_OF_TEST how long an answer is remembered; ROBOTS_HOURS_OF_TEST
is a file that says how many hours later it is by the clock of robots.txt. With
START_TOGETHER, a folder, it says there that it is ready and waits for the file "go".
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scrapy.cmdline import execute

import qiaocrawl.crawl.gate as gate
import qiaocrawl.crawl.names as names
import qiaocrawl.guard as guard
from qiaocrawl.guard import looks_like_address

_names: dict[str, list[Any]] = json.loads(os.environ.get("NAMES_OF_TEST", "{}"))
_system = names.look_up


def look_up(host: str) -> list[str]:
    """The test's answer; a name that begins with "slow" takes three seconds."""
    if host.startswith("slow"):
        time.sleep(3)
    if "LOOKUPS_OF_TEST" in os.environ:
        with Path(os.environ["LOOKUPS_OF_TEST"]).open("a") as lookups:
            lookups.write(f"{host}\n")
    if host in _names:
        answers = _names[host]
        if not answers or isinstance(answers[0], str):
            return answers
        return answers.pop(0) if len(answers) > 1 else answers[0]
    if looks_like_address(host) or host.startswith("localhost") or not host.isascii():
        return _system(host)
    raise socket.gaierror(f"no {host} in this test")


def start_together(folder: Path) -> None:
    """Load what a crawl loads, say so, and wait for the others."""
    for module in ("qiaocrawl.crawl.scheduler", "spiders.site", "pipelines.extract"):
        importlib.import_module(module)
    (folder / f"ready-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)


def is_public_address(address: str) -> bool:
    """As the guard has it, and PUBLIC_OF_TEST."""
    return address == os.environ.get("PUBLIC_OF_TEST") or guard.is_public_address(address)


def move_the_clock(hours: Path) -> None:
    """Let the rules of robots.txt grow old."""
    robots = importlib.import_module("middlewares.robots")
    clock = SimpleNamespace(
        monotonic=lambda: time.monotonic() + 3600 * float(hours.read_text() or 0)
    )
    robots.time = clock  # type: ignore[attr-defined]


if __name__ == "__main__":
    if "ROBOTS_HOURS_OF_TEST" in os.environ:
        move_the_clock(Path(os.environ["ROBOTS_HOURS_OF_TEST"]))
    names.look_up = look_up
    gate.is_public_address = is_public_address
    if "FRESH_SECONDS_OF_TEST" in os.environ:
        names._FRESH_SECONDS = float(os.environ["FRESH_SECONDS_OF_TEST"])
    if "START_TOGETHER" in os.environ:
        start_together(Path(os.environ["START_TOGETHER"]))
    execute()
