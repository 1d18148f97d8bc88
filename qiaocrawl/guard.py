"""Which addresses a crawler may connect to: public ones, and origins the operator names.

Pure decisions; :mod:`qiaocrawl.crawl.resolver` and :mod:`qiaocrawl.crawl.handler` apply them
to every connection.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from qiaocrawl.errors import ConfigError

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
        return True
    last = bare.rstrip(".").rpartition(".")[2]
    return last.isdigit() or last.lower().startswith("0x")


def _carried_v4(address: _V6) -> _V4 | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _NAT64) or address in _V4_COMPATIBLE:
        return _V4(int(address) & 0xFFFFFFFF)
    return None


@dataclass(frozen=True, slots=True)
class Allowance:
    """Origins inside private networks that may be fetched all the same.

    ``origins`` holds (host, port); port 0 stands for any port.
    """

    origins: frozenset[tuple[str, int]]

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Allowance:
        """Read ``host``, ``host:port`` and ``[v6]:port`` entries.

        Raises:
            ConfigError: an entry is no host, or its port is no number.
        """
        return cls(frozenset(_origin(entry) for entry in entries))

    def names(self, host: str) -> bool:
        """Whether *host* is named, on whatever port."""
        return any(name == host for name, _ in self.origins)

    def permits(self, host: str, port: int) -> bool:
        """Whether exactly this host and port may be fetched."""
        return (host, port) in self.origins or (host, 0) in self.origins


def _origin(entry: str) -> tuple[str, int]:
    if entry.count(":") > 1 and not entry.startswith("["):
        entry = f"[{entry}]"
    try:
        parts = urlsplit(f"//{entry}")
        host, port = parts.hostname or "", parts.port or 0
    except ValueError:
        host, port = "", 0
    if not host or parts.path or "@" in entry:
        raise ConfigError(
            f"QIAO_ALLOW_ADDRESSES: {entry!r} is no host, address or host:port"
        )
    return host, port
