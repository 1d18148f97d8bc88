"""Browser identities: a user agent with the other headers this browser sends.

A user agent is unmasked by headers that belong to another program. What is beyond
headers (TLS and HTTP/2 as a browser speaks them, scripts) is not imitated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictBool, model_validator

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import Texts, check_table, parse_toml, raise_faults

ROTATE = "rotate"
HONEST = "honest"
"""The crawler's own user agent: it exempts a host from a wider rule."""

# Only what this program can unpack: a server uses whatever is named.
_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})
# Set by the connection; a second one would break the request.
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


def _header(pair: object) -> tuple[str, str]:
    if not isinstance(pair, list) or [type(word) for word in pair] != [str, str]:
        raise ValueError(f"must be pairs [NAME, VALUE], got {pair!r}")
    name, text = pair
    # isprintable() keeps line breaks out, which would begin another header.
    if name.lower() in _OWN_LINES or not (name + text).isprintable() or not text.isascii():
        raise ValueError(f"header {name!r} cannot be set here")
    return name, text


def _encodings(written: str) -> str:
    unknown = {word.strip() for word in written.split(",") if word.strip()} - _DECODED
    if unknown:
        raise ValueError(f"Accept-Encoding: {min(unknown)!r} cannot be decoded here")
    return written


@dataclass(frozen=True, slots=True)
class _Browser:
    """One table of the file; see the shipped one."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    headers: tuple[Annotated[tuple[str, str], BeforeValidator(_header)], ...]
    plain_encoding: Annotated[str, AfterValidator(_encodings)] | None = None
    secure_only: Texts = ()
    mobile: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> _Browser:
        named = {name.lower(): value for name, value in self.headers}
        if "user-agent" not in named or len(named) < len(self.headers):
            raise_faults([("headers", "need a User-Agent, and each only once")])
        if "user-agent" in map(str.lower, self.secure_only):
            raise_faults([("secure_only", "a User-Agent is sent over http too")])
        _encodings(named.get("accept-encoding", ""))
        return self

    def identity(self, name: str) -> Identity:
        """The identity that it describes."""
        secure_only = set(map(str.lower, self.secure_only))
        plain = tuple(
            (key, value if self.plain_encoding is None or key.lower() != "accept-encoding"
             else self.plain_encoding)
            for key, value in self.headers if key.lower() not in secure_only
        )  # fmt: skip
        return Identity(name, self.headers, plain, mobile=self.mobile)


def load_identities(file: str = "") -> dict[str, Identity]:
    """The identities of *file* by name, or those that come with the program.

    Raises:
        ConfigError: the file cannot be read, or an identity in it is not whole.
    """
    where = file or _("the shipped identities")
    try:
        source = Path(file) if file else files("qiaocrawl.fetch") / "data/identities.toml"
        tables = parse_toml(source.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(
            _("QIAO_IDENTITIES_FILE {where!r} cannot be read: {error}", where=where, error=error)
        ) from None
    identities: dict[str, Identity] = {}
    faults: list[str] = []
    for name, table in tables.items():
        browser, browser_faults = check_table(_Browser, table)
        faults += [f"identity {name!r}: {fault}" for fault in browser_faults]
        if name in (ROTATE, HONEST):
            faults.append(f"identity {name!r}: the name has another meaning")
        elif browser is not None:
            identities[name] = browser.identity(name)
    if faults or not identities:
        raise ConfigError(f"{where}: " + ("\n  ".join(faults) or _("there is no identity in it")))
    return identities


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
    # Phones get other pages, so phone identities are used only where there is no other.
    usable = [identity for identity in identities if not identity.mobile] or list(identities)
    # Keyed: the same within a run, another from run to run.
    digest = hashlib.blake2b(host.encode(), key=salt, digest_size=8).digest()
    return usable[(int.from_bytes(digest, "big") + number) % len(usable)]
