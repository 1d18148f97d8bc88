"""Time-shared visits (Q3): a host is asked for a while and then rests while others work.

Windows follow the clock of the wall, so that several processes keep the same ones, and a
restart does not shorten a rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from qiaocrawl.fetch.host_rules import HostRules, parse_rules

_LONGEST_SECONDS = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds of work and of rest, in turn."""

    work_seconds: float
    rest_seconds: float

    @property
    def cycle_seconds(self) -> float:
        """Seconds from one beginning of work to the next."""
        return self.work_seconds + self.rest_seconds


class Turns:
    """Says how long hosts rest.

    Args:
        rules: windows by host. Hosts named exactly begin their work one after the other,
            spread evenly over their cycle; hosts below a ``*`` begin by a hash of their name.
    """

    def __init__(self, rules: HostRules[Window]) -> None:
        self._rules = rules
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
        digest = hashlib.blake2b(host.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


def parse_turns(entries: tuple[str, ...], engine_hosts: Mapping[str, str]) -> Turns:
    """Read QIAO_TURNS.

    Raises:
        ConfigError: an entry is not ``SITE=WORK/REST`` with seconds.
    """
    return Turns(parse_rules("QIAO_TURNS", entries, engine_hosts, _window))


def _window(value: str) -> Window:
    work, _, rest = value.partition("/")
    try:
        window = Window(float(work), float(rest))
    except ValueError:
        window = Window(0.0, 0.0)
    if not (1 <= window.work_seconds <= _LONGEST_SECONDS
            and 0 <= window.rest_seconds <= _LONGEST_SECONDS):  # fmt: skip
        raise ValueError("must be WORK/REST in seconds, such as 120/600 (work from 1 s)")
    return window
