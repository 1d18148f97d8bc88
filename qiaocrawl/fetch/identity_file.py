"""The file of browser identities, checked when it is read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictBool, model_validator

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.identities import HONEST, ROTATE, Identity
from qiaocrawl.language import _
from qiaocrawl.text.toml_file import Texts, check_table, parse_toml, raise_faults

# Only what this program can unpack: a server uses whatever is named.
_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})
# Set by the connection; a second one would break the request.
_OWN_LINES = frozenset({"host", "connection", "cookie", "content-length", "proxy-authorization"})


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
            (
                key,
                value
                if self.plain_encoding is None or key.lower() != "accept-encoding"
                else self.plain_encoding,
            )
            for key, value in self.headers
            if key.lower() not in secure_only
        )
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
