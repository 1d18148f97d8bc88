"""A name service that answers with public addresses only (faults F-S1, F-S2).

Twisted connects to exactly the addresses returned here, one after the other as RFC 8305 has
it, also for hosts that are addresses already. One address inside among several refuses all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import CannotResolveHostError
from scrapy.resolver import HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

from qiaocrawl.crawl.network.address_guard import AddressGuard, address_guard_of
from qiaocrawl.errors import AddressRefusedError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IAddress

logger = logging.getLogger(__name__)


@implementer(IHostnameResolver)
class GuardedResolver:
    """Answers out of *guard*, which refuses private, loopback, link-local and special addresses."""

    def __init__(self, guard: AddressGuard, reactor: ReactorBase) -> None:
        self._guard = guard
        self._reactor = reactor
        self._answering: set[asyncio.Task[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Scrapy's constructor."""
        return cls(address_guard_of(crawler), reactor)

    def install_on_reactor(self) -> None:
        """Make every connection of the process use this resolver from now on."""
        self._reactor.installNameResolver(self)  # type: ignore[arg-type]

    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> HostResolution:
        """Twisted's question; no address is the answer for what is refused."""
        resolution = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        wanted = tuple(addressTypes or (IPv4Address, IPv6Address))

        # As a task: Twisted wants the resolution object at once, and the answer later.
        async def answer() -> None:
            for address in await self._allowed(hostName, portNumber):
                kind = IPv6Address if ":" in address else IPv4Address
                if kind in wanted:
                    resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
            resolutionReceiver.resolutionComplete()

        task = asyncio.ensure_future(answer())
        # asyncio keeps only a weak reference to a task.
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return resolution

    async def _allowed(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._guard.to_connect(host, port)
        except CannotResolveHostError:
            # No address is Twisted's way to say that a name is unknown.
            return ()
        except AddressRefusedError as error:
            logger.warning("no connection to %s: %s", host, error)
            return ()
