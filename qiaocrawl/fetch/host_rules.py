"""The hosts that an option names: exact names, everything below a name, or all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from qiaocrawl.errors import ConfigError
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
