"""Proxies as records: read from a list, shown without their password.

Supported are http and https proxies as HTTP knows them (absolute URLs for http, CONNECT for
https); a site over https cannot be asked through a proxy that speaks https itself, and SOCKS
is not spoken at all: its lines are refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

_PORTS = {"http": 80, "https": 443}
# A name, or an IPv6 address without its brackets.
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MOST_LINES = 100_000
_LONGEST_PART = 255


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. ``str()`` and ``repr()`` show no password.

    Attributes:
        user: the user name to log in with; "" where it needs no login.
        password: never shown.
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.origin

    @property
    def origin(self) -> str:
        """Scheme, host and port: all of it that may be logged."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def secret_url(self) -> str:
        """The URL with user and password; for nobody but Scrapy's proxy middleware."""
        if not self.user:
            return self.origin
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        return self.origin.replace("://", f"://{login}@", 1)

    def serves(self, scheme: str) -> bool:
        """Whether sites of *scheme* can be asked through it."""
        return self.scheme == "http" or scheme == "http"


def parse_proxy(text: str, environment: Mapping[str, str]) -> Proxy:
    """Read ``[http://][USER:PASSWORD@]HOST:PORT``.

    Args:
        environment: fills ``${NAME}``, so that a file need not hold passwords.

    Raises:
        ValueError: says what is wrong, without showing user or password.
    """
    filled = _VARIABLE.sub(lambda match: _variable(match[1], environment), text.strip())
    # rpartition: a password may hold "://".
    scheme, _, rest = filled.rpartition("://")
    scheme = scheme.lower() or "http"
    if scheme not in _PORTS:
        if not _SCHEME.fullmatch(scheme):
            # Whatever stands there, such as USER:PASSWORD before the scheme, is not shown.
            raise ValueError("must be http://[USER:PASSWORD@]HOST:PORT")
        raise ValueError(f"{scheme} proxies are not supported, http and https ones are")
    # rpartition: a user name may be a mail address with an "@".
    login, _, place = rest.rpartition("@")
    try:
        parts = urlsplit(f"//{place}")
        host, port = (parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", None
    if not _HOST.fullmatch(host) or parts.path.strip("/") or parts.query:
        raise ValueError("must be http://[USER:PASSWORD@]HOST:PORT")
    user, _, password = login.partition(":")
    user, password = unquote(user), unquote(password)
    if max(len(user), len(password), len(host)) > _LONGEST_PART:
        raise ValueError("host, user or password is too long")
    return Proxy(scheme, host, port or _PORTS[scheme], user, password)


def _variable(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise ValueError(f"there is no environment variable {name}")
    # Quoted: the environment holds the password as it is, and the URL is unquoted below.
    return quote(environment[name], safe="")


@dataclass(frozen=True, slots=True)
class ProxyList:
    """What a list held; ``faults`` say line and reason of what could not be used."""

    proxies: tuple[Proxy, ...]
    faults: tuple[str, ...] = ()


def parse_list(text: str, environment: Mapping[str, str]) -> ProxyList:
    """Read a list: a proxy a line (``#`` begins a comment), or JSON.

    JSON is a list of strings as above, or of objects with ``host`` or ``ip``, ``port`` and
    perhaps ``scheme``, ``user``, ``password``; it may stand under ``data`` or ``proxies``.
    The same proxy counts once. Never raises.
    """
    parsed: dict[Proxy, None] = {}
    faults = []
    for number, line in enumerate(_lines(text)[:_MOST_LINES], 1):
        if not line:
            continue
        try:
            parsed.setdefault(parse_proxy(line, environment))
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    return ProxyList(tuple(parsed), tuple(faults))


# parsed is a dict: the order of the list is kept, doubles count once.


def _lines(text: str) -> list[str]:
    # A byte order mark stands at the beginning of files written on Windows.
    bare = text.lstrip("\ufeff \t\r\n")
    if bare[:1] in ("{", "["):
        try:
            return _json_lines(json.loads(bare))
        except (ValueError, RecursionError):
            # Fails in parse_proxy() and so becomes a fault with its line.
            return ["not.json://"]
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def _json_lines(value: object) -> list[str]:
    for key in ("data", "proxies"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    if not isinstance(value, list):
        return ["no.list://"]
    return [_json_line(entry) if isinstance(entry, dict) else str(entry) for entry in value]


def _json_line(entry: Mapping[str, object]) -> str:
    named = {key: quote(str(entry.get(key) or ""), safe="") for key in ("user", "password")}
    login = f"{named['user']}:{named['password']}@" if named["user"] else ""
    host = entry.get("host") or entry.get("ip") or ""
    return f"{entry.get('scheme') or 'http'}://{login}{host}:{entry.get('port') or ''}"
