"""A name service that answers with public addresses only (faults F-S1, F-S2).

Twisted connects to exactly the address returned here, so an answer cannot change between
the check and the connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.error import DNSLookupError

from qiaocrawl.crawl.proxy_gate import proxy_hosts
from qiaocrawl.crawl.wiring import options_from_settings
from qiaocrawl.guard import Allowance, is_public_address

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.defer import Deferred


class GuardedResolver(CachingThreadedResolver):
    """Refuses private, loopback, link-local and special addresses, also literal ones."""

    allowance: Allowance = Allowance(frozenset())

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Scrapy's constructor."""
        resolver = super().from_crawler(crawler, reactor)
        options = options_from_settings(crawler.settings)
        names = list(options["QIAO_ALLOW_ADDRESSES"])
        if options["QIAO_DEMO"]:
            names.append(options["QIAO_DEMO"])
        resolver.allowance = Allowance.parse(names)
        return resolver

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> Deferred[str]:
        """Resolve *name*; the Deferred fails with DNSLookupError on a refused address."""
        found: Deferred[str] = super().getHostByName(name, timeout)
        return found.addCallback(self._checked, name)

    def _checked(self, address: str, name: str) -> str:
        # Requests that would go to a proxy's host directly never come as far as here.
        named = self.allowance.names(name) or name in proxy_hosts
        if named or is_public_address(address):
            return address
        raise DNSLookupError(f"{name!r} resolves to {address}, which is no public address")
