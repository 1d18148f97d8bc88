"""The hosts that an option names: exact names, everything below a name, or all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.block_detection import BlockKind, BlockSign
from qiaocrawl.fetch.failure_policy import backoff_seconds
from qiaocrawl.language import _
from qiaocrawl.urls import host_of

T = TypeVar("T")

EVERY_HOST = "*"
_BELOW = "*."


class HostRules(Generic[T]):
    """Values by host; the most exact rule that covers a host counts.

    Args:
        rules: values by ``host``, ``*.domain`` (the domain and all below it) or ``*`` (all).
    """

    def __init__(self, rules: Mapping[str, T]) -> None:
        self._rules = dict(rules)

    def __bool__(self) -> bool:
        """Whether there is any rule."""
        return bool(self._rules)

    def find(self, host: str) -> T | None:
        """The value for *host* (``host`` or ``host:port``, lower case); None without a rule."""
        # A rule for a host holds for all its ports, unless one names the port.
        name = host.partition(":")[0]
        for exact in (host, name):
            if exact in self._rules:
                return self._rules[exact]
        # "*.a.cn" covers a.cn too, so the search begins with the whole name.
        labels = name.split(".")
        for start in range(len(labels)):
            value = self._rules.get(_BELOW + ".".join(labels[start:]))
            if value is not None:
                return value
        return self._rules.get(EVERY_HOST)

    def items(self) -> Iterable[tuple[str, T]]:
        """The rules in the order they were given."""
        return self._rules.items()


def parse_rules(
    option: str,
    entries: Iterable[str],
    engine_hosts: Mapping[str, str],
    convert: Callable[[str], T],
) -> HostRules[T]:
    """Read entries ``SITE=VALUE``, or ``SITE`` alone for the value "".

    Args:
        option: its name, for messages.
        entries: SITE is a host, ``*.domain``, ``*`` or the name of a search engine.
        engine_hosts: host by name of engine.
        convert: makes the value; ValueError says what is allowed.

    Raises:
        ConfigError: an entry names no site or engine, a wrong value, or a site twice.
    """
    rules: dict[str, T] = {}
    for entry in entries:
        site, _equals, value = (part.strip() for part in entry.partition("="))
        pattern = _pattern(option, site, engine_hosts)
        try:
            converted = convert(value)
        except ValueError as error:
            raise ConfigError(f"{option}: {entry!r}: {error}") from None
        # Twice with the same value is no fault: an engine and its host may both be named.
        if rules.get(pattern, converted) != converted:
            raise ConfigError(
                _(
                    "{option}: {pattern} is named twice with different values",
                    option=option,
                    pattern=pattern,
                )
            )
        rules[pattern] = converted
    return HostRules(rules)


def _pattern(option: str, site: str, engine_hosts: Mapping[str, str]) -> str:
    if site == EVERY_HOST:
        return site
    if site in engine_hosts:
        return engine_hosts[site]
    below = site.startswith(_BELOW)
    host = host_of(f"http://{site.removeprefix(_BELOW)}") if "/" not in site else ""
    # Otherwise a misspelt engine would pass as a host that is never asked.
    if not host or ("." not in host and ":" not in host):
        engines = ", ".join(sorted(engine_hosts))
        raise ConfigError(
            _(
                "{option}: {site!r} is no host, *.domain, * or engine (engines: {engines})",
                option=option,
                site=site,
                engines=engines,
            )
        )
    return _BELOW + host if below else host


# --- Crawl windows (Q3): a host is asked for a while, then rests while other hosts are asked ------
# Windows follow the wall clock, so that several processes keep the same ones and a restart does
# not shorten a rest.

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
    if not (
        1 <= window.work_seconds <= _LONGEST_SECONDS
        and 0 <= window.rest_seconds <= _LONGEST_SECONDS
    ):
        raise ValueError("must be WORK/REST in seconds, such as 120/600 (work from 1 s)")
    return window


# --- Judges a host by its answers: when to pause it, and when to give it up -----------------------
# Pure: it counts strikes; the caller pauses the host or gives it up. Blocks and silence count
# alike: either way every further request now is one too many.

MOST_STRIKES = 2
"""Pauses a host gets in a run; one more strike and it is left until the next run."""
# URLs in a row whose answers may be blocks before the host is taken for blocking: a site may well
# forbid four of its folders.
_UNSURE_IN_ROW = 5.0
# A redirect to the login counts less: part of a site is often for members.
_LOGIN_WEIGHT = 0.25
# URLs in a row without any answer before the host is taken for dead; with those under way at that
# time no more than five are lost on it (faults F-K7).
_SILENT_IN_ROW = 3
_LONGEST_PAUSE_SECONDS = 3600.0


@dataclass(slots=True)
class _Record:
    unsure: float = 0.0
    silent: int = 0
    strikes: int = 0
    resting_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Strike:
    """What a strike costs: a pause of the host, or giving it up for this run."""

    pause_seconds: float
    give_up: bool


class HostHealth:
    """Strikes by host.

    Args:
        first_pause_seconds: of a host's first strike; each further one is four times as long.
    """

    def __init__(self, first_pause_seconds: float) -> None:
        self._first_pause_seconds = first_pause_seconds
        self._records: dict[str, _Record] = {}

    def note_answer(self, host: str) -> None:
        """*host* gave a proper page: its strikes are forgotten."""
        # The record is dropped, so most hosts cost nothing here.
        self._records.pop(host, None)

    def note_block(self, host: str, sign: BlockSign, now: float) -> Strike | None:
        """*host* gave a block, or what may be one; None while it is only a suspicion."""
        record = self._record(host)
        # A block is an answer: the host is not dead.
        record.silent = 0
        if sign.kind.is_sure:
            return self._strike(record, now)
        record.unsure += _LOGIN_WEIGHT if sign.kind is BlockKind.LOGIN else 1.0
        return self._strike(record, now) if record.unsure >= _UNSURE_IN_ROW else None

    def alive(self, host: str) -> None:
        """*host* gave an answer, whatever it was."""
        if host in self._records:
            self._records[host].silent = 0

    def silent(self, host: str, now: float) -> Strike | None:
        """*host* gave no answer at all; None while it may have been chance."""
        record = self._record(host)
        record.silent += 1
        return self._strike(record, now) if record.silent >= _SILENT_IN_ROW else None

    def unavailable(self, host: str, now: float) -> Strike:
        """*host* cannot be asked for a reason of ours, such as no proxy left for it."""
        return self._strike(self._record(host), now)

    def rest_seconds(self, host: str, now: float) -> float:
        """How long *host* still rests for its last strike; 0 when it may be asked."""
        record = self._records.get(host)
        return max(record.resting_until - now, 0.0) if record else 0.0

    def is_on_trial(self, host: str) -> bool:
        """Whether *host* was silent or blocked us and has not given a proper page since.

        One request at a time will show whether it does again.
        """
        record = self._records.get(host)
        return record is not None and (record.strikes > 0 or record.silent > 0)

    def _record(self, host: str) -> _Record:
        return self._records.setdefault(host, _Record())

    def _strike(self, record: _Record, now: float) -> Strike:
        left = record.resting_until - now
        if left > 0:
            # Requests that were under way when the host was paused count as the same strike.
            return Strike(left, give_up=record.strikes > MOST_STRIKES)
        record.strikes += 1
        # Capped: 4 to the power of a large number overflows a float.
        pause = backoff_seconds(min(record.strikes, 30), self._first_pause_seconds)
        pause = min(pause, _LONGEST_PAUSE_SECONDS)
        record.resting_until = now + pause
        return Strike(pause, give_up=record.strikes > MOST_STRIKES)
