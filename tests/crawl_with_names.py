"""`scrapy …` with a name service of the test's own: NAMES_OF_TEST, JSON of name to addresses.

Addresses and localhost are answered as the system does; other names do not exist. With
START_TOGETHER, a folder, it says there that it is ready and waits for the file "go".
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import time
from pathlib import Path

from scrapy.cmdline import execute

import qiaocrawl.crawl.gate as gate
from qiaocrawl.guard import looks_like_address

_names: dict[str, list[str]] = json.loads(os.environ.get("NAMES_OF_TEST", "{}"))
_system = gate.look_up


def look_up(host: str) -> list[str]:
    """The test's answer; a name that begins with "slow" takes three seconds."""
    if host.startswith("slow"):
        time.sleep(3)
    if host in _names:
        return _names[host]
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


if __name__ == "__main__":
    gate.look_up = look_up
    if "START_TOGETHER" in os.environ:
        start_together(Path(os.environ["START_TOGETHER"]))
    execute()
