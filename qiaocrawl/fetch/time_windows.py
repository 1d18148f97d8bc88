"""Crawl windows (Q3): a host is asked for a while, then rests while other hosts are asked.

Windows follow the wall clock, so that several processes keep the same ones and a restart does
not shorten a rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from qiaocrawl.fetch.host_rules import HostRules, parse_rules

_LONGEST_SECONDS = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class CrawlWindow:
    """Seconds of work, then seconds of rest, over and over."""

    work_seconds: float
    rest_seconds: float

    @property
    def cycle_seconds(self) -> float:
        """Seconds from one beginning of work to the next."""
        return self.work_seconds + self.rest_seconds


class CrawlWindows:
    """The crawl windows of all hosts.

    Args:
        rules: windows by host. Hosts named exactly begin their work one after the other,
            spread evenly over their cycle; hosts below a ``*`` begin by a hash of their name.
    """

    def __init__(self, rules: HostRules[CrawlWindow]) -> None:
        self._rules = rules
        # Those below a "*" are unknown beforehand, so they cannot be spread by place.
        exact = [pattern for pattern, _ in rules.items() if not pattern.startswith("*")]
        self._places = {host: place / len(exact) for place, host in enumerate(exact)}

    def __bool__(self) -> bool:
        """Whether any host rests at all."""
        return bool(self._rules)

    def rest_seconds(self, host: str, now: float) -> float:
        """How long *host* still rests at *now* (Unix seconds); 0 while it works."""
        window = self._rules.find(host)
        if window is None or not window.rest_seconds:
            return 0.0
        at = (now - self._place(host) * window.cycle_seconds) % window.cycle_seconds
        return 0.0 if at < window.work_seconds else window.cycle_seconds - at

    def _place(self, host: str) -> float:
        """Where in the cycle the work of *host* begins, in [0, 1)."""
        if host in self._places:
            return self._places[host]
        # A hash of the name, not Python's own: every process must find the same place.
        digest = hashlib.blake2b(host.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


def parse_crawl_windows(entries: tuple[str, ...], engine_hosts: Mapping[str, str]) -> CrawlWindows:
    """Read QIAO_CRAWL_WINDOWS.

    Raises:
        ConfigError: an entry is not ``SITE=WORK/REST`` with seconds.
    """
    return CrawlWindows(parse_rules("QIAO_CRAWL_WINDOWS", entries, engine_hosts, _window))


def _window(value: str) -> CrawlWindow:
    work, _, rest = value.partition("/")
    try:
        window = CrawlWindow(float(work), float(rest))
    except ValueError:
        window = CrawlWindow(0.0, 0.0)
    if not (1 <= window.work_seconds <= _LONGEST_SECONDS
            and 0 <= window.rest_seconds <= _LONGEST_SECONDS):  # fmt: skip
        raise ValueError("must be WORK/REST in seconds, such as 120/600 (work from 1 s)")
    return window
