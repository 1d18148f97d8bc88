"""Which addresses a crawler may connect to: public ones, and origins the operator names.

Pure decisions; :mod:`qiaocrawl.crawl.network.address_guard` and
:mod:`qiaocrawl.crawl.network.handler` apply them to every connection.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _

DEFAULT_PORTS = {"http": 80, "https": 443}
"""Of the schemes a crawler speaks."""

_V4 = ipaddress.IPv4Address
_V6 = ipaddress.IPv6Address

# IPv6 ranges that carry an IPv4 address in their last or middle bits, or that Python 3.11
# calls global although they never are public hosts.
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_V4_COMPATIBLE = ipaddress.IPv6Network("::/96")
_SITE_LOCAL = ipaddress.IPv6Network("fec0::/10")
# Answers on the metadata port of one large cloud although it looks public.
_METADATA = frozenset({_V4("168.63.129.16")})


def is_public_address(text: str) -> bool:
    """Whether *text* is the address of a host on the public internet.

    Stricter than ``ipaddress.is_global``: multicast, NAT64, 6to4, Teredo, IPv4-mapped and
    IPv4-compatible forms are judged by the IPv4 address they carry. False for anything
    that is no IP address.
    """
    try:
        # Without the zone of a link-local address (fe80::1%eth0).
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, _V6):
        carried = _carried_v4(address)
        if carried is not None:
            return is_public_address(str(carried))
        if address in _SITE_LOCAL:
            return False
    elif address in _METADATA:
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def looks_like_address(host: str) -> bool:
    """Whether *host*, as a URL parser returned it, is an IP address rather than a name.

    Forms such as ``2130706433``, ``0x7f.1`` or full-width digits count: a resolver would
    read them as addresses.
    """
    bare = host.strip("[]").partition("%")[0]
    if ":" in bare:
        # A colon is in no name: an IPv6 address.
        return True
    last = bare.rstrip(".").rpartition(".")[2]
    # inet_aton() reads such forms: 2130706433 and 0x7f.1 are 127.0.0.1.
    return last.isdigit() or last.lower().startswith("0x")


def leads_inside(host: str) -> bool:
    """Whether the name *host* alone shows that it is internal: a private address, or localhost.

    Other names are judged by the addresses they have.
    """
    if looks_like_address(host):
        return not is_public_address(host.strip("[]"))
    # RFC 6761: every name below localhost is this machine.
    return host.rstrip(".").rpartition(".")[2].lower() == "localhost"


def _carried_v4(address: _V6) -> _V4 | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _NAT64) or address in _V4_COMPATIBLE:
        # The last 32 bits.
        return _V4(int(address) & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something is served: scheme, host as a URL parser gives it, and port."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """The origin of an http or https *url*; the port is the scheme's where none is given.

        Raises:
            ValueError: *url* has no host, another scheme, or a port that is none.
        """
        parts = urlsplit(url)
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.port == 0:
            raise ValueError(f"{url!r} is no http or https address")
        # Compared as numbers, so http://a and http://a:80 are one origin.
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        return cls(parts.scheme, _plain(parts.hostname), port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def _plain(host: str) -> str:
    """One spelling of an address; names as they are."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host


@dataclass(frozen=True, slots=True)
class Allowance:
    """Origins inside private networks that the operator allowed."""

    origins: frozenset[Origin] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str], option: str = "QIAO_ALLOW_ADDRESSES") -> Allowance:
        """Read entries of an option.

        ``http://host:port`` names one origin (without a port the scheme's own),
        ``host:port`` that port by both schemes, ``host`` the ports 80 of http and 443 of
        https. An IPv6 address with a port stands in brackets.

        Raises:
            ConfigError: an entry is no origin, or its port is no number.
        """
        return cls(frozenset(origin for entry in entries for origin in _origins(entry, option)))

    def permits(self, origin: Origin) -> bool:
        """Whether exactly this origin is named."""
        return origin in self.origins

    def names(self, host: str, port: int) -> bool:
        """Whether *host* and *port* are named, by whatever scheme."""
        plain = _plain(host)
        return any((origin.host, origin.port) == (plain, port) for origin in self.origins)

    def __or__(self, other: Allowance) -> Allowance:
        """The origins that either of them names."""
        return Allowance(self.origins | other.origins)


def _origins(entry: str, option: str) -> list[Origin]:
    scheme, has_scheme, rest = entry.partition("://")
    schemes = [scheme.lower()] if has_scheme else list(DEFAULT_PORTS)
    netloc = rest if has_scheme else entry
    # More than one colon without brackets: an IPv6 address without a port.
    if netloc.count(":") > 1 and not netloc.startswith("["):
        netloc = f"[{netloc}]"
    try:
        origins = [
            Origin.of(f"{each_scheme}://{netloc.removesuffix('/')}") for each_scheme in schemes
        ]
    except ValueError:
        origins = []
    # A path, a query or a login in an entry was meant to restrict it, which an origin cannot.
    if not origins or not netloc or set(netloc.removesuffix("/")) & set("/?#@\\ "):
        raise ConfigError(
            _(
                "{option}: {entry!r} is none of http://host:port, host:port and host",
                option=option,
                entry=entry,
            )
        )
    return origins
