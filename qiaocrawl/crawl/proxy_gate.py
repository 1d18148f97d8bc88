"""The last look before a request goes to a proxy: its target must not be inside (faults F-S6).

A proxy connects to what it is told, so the guard of our own connections sees nothing of the
target. Here the name is looked up and judged first. The proxy looks it up once more, later and
elsewhere: where its answers may differ, only a proxy that filters by itself is a sure guard.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.errors import AddressRefusedError, ProxyError
from qiaocrawl.guard import Allowance, is_public_address, looks_like_address

if TYPE_CHECKING:
    from scrapy import Request

_DEFAULT_PORTS = {"http": 80, "https": 443}
_FRESH_SECONDS = 60.0
_MOST_NAMES = 10_000

proxy_hosts: set[str] = set()
"""Hosts of the operator's proxies: they may be inside, as proxies and as nothing else.

Of the process, like the name service that asks it: Twisted has one for all crawls.
"""


class ProxyGate:
    """Judges where requests lead that a proxy is to carry.

    Args:
        allowance: private origins the operator named.
        proxy_resolves: names are looked up by the proxy alone (QIAO_PROXY_RESOLVES).
    """

    def __init__(self, allowance: Allowance, *, proxy_resolves: bool) -> None:
        self._allowance = allowance
        self._proxy_resolves = proxy_resolves
        self._judged: dict[str, tuple[float, str]] = {}

    async def check(self, request: Request) -> None:
        """Let *request* pass, or raise.

        Raises:
            AddressRefusedError: its target is no public address and not named by the operator;
                or it goes directly to a host that is only named as a proxy.
            ProxyError: the target's name cannot be looked up here.
        """
        parts = urlparse_cached(request)
        host = (parts.hostname or "").lower()
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        if self._allowance.permits(host, port):
            return
        if not request.meta.get("proxy"):
            if host in proxy_hosts:
                raise AddressRefusedError(f"{host}:{port} is the host of a proxy, and no site")
            return
        await self._check_target(host, port)

    async def _check_target(self, host: str, port: int) -> None:
        if looks_like_address(host):
            private = "" if is_public_address(host) else host
        elif self._proxy_resolves:
            private = host if host == "localhost" or host.endswith(".localhost") else ""
        else:
            private = await self._private_address(host)
        if private:
            raise AddressRefusedError(
                f"{host}:{port} ({private}) is no public address; it was not sent to the proxy"
            )

    async def _private_address(self, host: str) -> str:
        """An address of *host* that is not public; "" when all of them are."""
        known = self._judged.get(host)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise ProxyError(
                f"{host} cannot be looked up here; QIAO_PROXY_RESOLVES leaves that to proxies"
            ) from None
        addresses = [str(place[4][0]) for place in found]
        private = next((one for one in addresses if not is_public_address(one)), "")
        self._judged.pop(host, None)
        self._judged[host] = (time.monotonic() + _FRESH_SECONDS, private)
        while len(self._judged) > _MOST_NAMES:
            del self._judged[next(iter(self._judged))]
        return private
