"""Browser identities: a user agent with the other headers this browser sends.

A user agent whose other headers tell of another program gives itself away. What is beyond
headers (TLS and HTTP/2 as a browser speaks them, scripts) is not imitated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.toml_table import parse_toml

ROTATE = "rotate"
HONEST = "honest"
"""Our own user agent: how a host is taken out of a wider rule."""

_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})
_KEYS = {"headers", "plain_encoding", "secure_only", "mobile"}
_OWN_LINES = frozenset({"host", "connection", "cookie", "content-length", "proxy-authorization"})

HeaderList = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """The headers of one browser.

    Attributes:
        secure, plain: what it sends over https and over http, in its order.
        mobile: a phone's; sites answer it with other pages.
    """

    name: str
    secure: HeaderList
    plain: HeaderList
    mobile: bool = False

    def headers(self, scheme: str) -> HeaderList:
        """What is sent over *scheme*."""
        return self.secure if scheme == "https" else self.plain

    @property
    def user_agent(self) -> str:
        """Its user agent."""
        return next(value for name, value in self.plain if name.lower() == "user-agent")


def load_identities(file: str = "") -> dict[str, Identity]:
    """The identities of *file* by name, or those that come with the program.

    Raises:
        ConfigError: the file cannot be read, or an identity in it is not whole.
    """
    where = file or "the shipped identities"
    try:
        source = Path(file) if file else files("qiaocrawl.fetch") / "data/identities.toml"
        tables = parse_toml(source.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"QIAO_IDENTITIES_FILE {where!r} cannot be read: {error}") from None
    found = {}
    for name, table in tables.items():
        try:
            found[name] = _identity(name, table)
        except ValueError as error:
            raise ConfigError(f"{where}: identity {name!r}: {error}") from None
    if not found:
        raise ConfigError(f"{where}: there is no identity in it")
    return found


def _identity(name: str, table: object) -> Identity:
    if name in (ROTATE, HONEST):
        raise ValueError("the name has another meaning")
    if not isinstance(table, dict) or set(table) - _KEYS:
        raise ValueError(f"must be a table of {', '.join(sorted(_KEYS))}")
    headers = _pairs(table.get("headers"))
    named = {key.lower(): value for key, value in headers}
    if "user-agent" not in named or len(named) < len(headers):
        raise ValueError("headers need a User-Agent, and each only once")
    plain_encoding = str(table.get("plain_encoding", named.get("accept-encoding", "")))
    for given in (named.get("accept-encoding", ""), plain_encoding):
        unknown = {word.strip() for word in given.split(",") if word.strip()} - _DECODED
        if unknown:
            raise ValueError(f"Accept-Encoding: {sorted(unknown)[0]!r} cannot be decoded here")
    secure_only = {str(word).lower() for word in table.get("secure_only", ())}
    plain = tuple(
        (key, plain_encoding if key.lower() == "accept-encoding" else value)
        for key, value in headers if key.lower() not in secure_only
    )  # fmt: skip
    if "user-agent" in secure_only:
        raise ValueError("a User-Agent is sent over http too")
    return Identity(name, headers, plain, mobile=bool(table.get("mobile", False)))


def _pairs(value: object) -> HeaderList:
    pairs = []
    for pair in value if isinstance(value, list) else ():
        if not isinstance(pair, list) or [type(word) for word in pair] != [str, str]:
            raise ValueError(f"headers must be pairs [NAME, VALUE], got {pair!r}")
        name, text = pair
        if name.lower() in _OWN_LINES or not (name + text).isprintable() or not text.isascii():
            raise ValueError(f"header {name!r} cannot be set here")
        pairs.append((name, text))
    return tuple(pairs)


def choice_of(identities: Mapping[str, Identity]) -> Callable[[str], str]:
    """A converter of option values: a name of *identities*, ``rotate`` or ``honest``."""

    def convert(value: str) -> str:
        if value not in (*identities, ROTATE, HONEST):
            allowed = ", ".join((ROTATE, HONEST, *sorted(identities)))
            raise ValueError(f"must be one of {allowed}")
        return value

    return convert


def pick(identities: Sequence[Identity], host: str, number: int, salt: bytes) -> Identity:
    """The identity of *host*'s session *number* (0, 1, …): the same for the whole session.

    Later sessions of a host take the others in turn; *salt* is of the run.
    """
    usable = [one for one in identities if not one.mobile] or list(identities)
    digest = hashlib.blake2b(host.encode(), key=salt, digest_size=8).digest()
    return usable[(int.from_bytes(digest, "big") + number) % len(usable)]
