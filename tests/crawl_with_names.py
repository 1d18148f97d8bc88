"""`scrapy …` with a name service of the test's own: NAMES_OF_TEST, JSON of name to addresses.

Addresses and localhost are answered as the system does; other names do not exist.
"""

from __future__ import annotations

import json
import os
import socket
import time

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


if __name__ == "__main__":
    gate.look_up = look_up
    execute()
