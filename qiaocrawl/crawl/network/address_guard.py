"""Decides where this process may connect (faults F-S1, F-S2, F-S6).

Handler, name service and browser ask an :class:`AddressGuard`, and all guards of a process have one
memory of names. What was looked up for the check is what is connected to, so an answer cannot
change between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from scrapy.exceptions import CannotResolveHostError, DownloadFailedError

from qiaocrawl.crawl.network.names import Names
from qiaocrawl.crawl.wiring import options_from_settings
from qiaocrawl.errors import AddressRefusedError, ProxyError
from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address, leads_inside

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# What a guard of this process lets connections be made to. Twisted has one name service, with a
# guard of its own, for all crawls.
_connectable: set[Origin] = set()


class AddressGuard:
    """What one crawl may ask, and connect to.

    Args:
        pages: origins inside that may be fetched like any page (QIAO_ALLOW_ADDRESSES).
        services: origins of the operator's own services, which answer only what is asked of
            them on purpose (QIAO_SEARXNG_URL); no page can lead there.
        proxy_resolves: names asked through a proxy are looked up by the proxy alone
            (QIAO_PROXY_REMOTE_DNS); only addresses among them are judged then.
        names: what hosts are looked up in; all guards of a process have one.
    """

    def __init__(
        self,
        pages: Allowance,
        services: Allowance | None = None,
        *,
        proxy_resolves: bool = False,
        names: Names | None = None,
    ) -> None:
        self._pages = pages
        self._services = services or Allowance()
        self._hidden = Allowance()
        self._proxy_resolves = proxy_resolves
        self._names = names or Names()

    def connect_through(self, entry: str, option: str) -> None:
        """Let connections be made to *entry* (a proxy, the demo's server) that is no page's.

        Raises:
            ConfigError: *entry* is none of http://host:port, host:port and host.
        """
        named = Allowance.parse([entry], option)
        self._hidden |= named
        _connectable.update(named.origins)

    async def check(
        self, origin: Origin, *, for_service: bool = False, by_proxy: bool = False
    ) -> None:
        """Let a request to *origin* pass, or refuse it.

        Args:
            for_service: asked on purpose of one of the operator's services.
            by_proxy: a proxy connects for us. It looks the name up once more, later and
                elsewhere: where its answers may differ, only one that filters is a sure guard.

        Raises:
            AddressRefusedError: it leads inside, or to what is named for another purpose.
            CannotResolveHostError: the host has no address.
            ProxyError: the same, where a proxy is to connect.
        """
        # A service of the operator may be asked on purpose; no link leads there.
        if self._pages.permits(origin) or (for_service and self._services.permits(origin)):
            return
        if self._named.names(origin.host, origin.port):
            raise AddressRefusedError(f"{origin} is not named for what is asked of it", origin.host)
        if leads_inside(origin.host):
            raise AddressRefusedError(
                f"{origin} is no public address; QIAO_ALLOW_ADDRESSES can name it", origin.host
            )
        # After the checks of the name itself: a private address is refused through a proxy as well.
        if by_proxy and self._proxy_resolves:
            return
        try:
            _refuse_inside(origin.host, await self._names.addresses(origin.host))
        except CannotResolveHostError:
            if not by_proxy:
                raise
            # A ProxyError, so that the proxy is not blamed for our name service.
            raise ProxyError(
                f"{origin.host} cannot be looked up here; QIAO_PROXY_REMOTE_DNS leaves that to "
                "proxies"
            ) from None

    async def check_proxy(self, origin: Origin) -> None:
        """Let requests go through the proxy at *origin*, or refuse it.

        Raises:
            DownloadFailedError: it stands inside and nobody named it (:meth:`connect_through`);
                the page it was to fetch is not at fault.
            CannotResolveHostError: the host has no address.
        """
        if self._hidden.permits(origin) or self._pages.permits(origin):
            return
        try:
            _refuse_inside(origin.host, await self._names.addresses(origin.host))
        except AddressRefusedError as error:
            raise DownloadFailedError(f"proxy {origin}: {error}") from error

    async def to_connect(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses a connection to *host* may use, those that :meth:`check` judged.

        Args:
            port: 0 = any.

        Raises:
            AddressRefusedError: one of them is inside, and nobody named it.
            CannotResolveHostError: there is none.
        """
        # The addresses that were checked, even if they have expired since (see Names).
        addresses = await self._names.addresses(host, is_checked=True)
        named = self._named | Allowance(frozenset(_connectable))
        # Twisted asks without a port at times; then any port that is named will do.
        if port == 0:
            is_named = any(origin.host == host for origin in named.origins)
        else:
            is_named = named.names(host, port)
        if not is_named:
            _refuse_inside(host, addresses)
        return addresses

    @property
    def _named(self) -> Allowance:
        return self._pages | self._services | self._hidden


def _refuse_inside(host: str, addresses: Sequence[str]) -> None:
    inside = [address for address in addresses if not is_public_address(address)]
    if inside:
        raise AddressRefusedError(
            f"{host!r} resolves to {inside[0]}, which is no public address", host
        )


_guards: WeakKeyDictionary[Crawler, AddressGuard] = WeakKeyDictionary()


def address_guard_of(crawler: Crawler) -> AddressGuard:
    """The guard of *crawler*'s run, built at the first call.

    Raises:
        ConfigError: an option that names an origin is wrong.
    """
    if crawler not in _guards:
        options = options_from_settings(crawler.settings)
        searxng = options["QIAO_SEARXNG_URL"]
        guard = AddressGuard(
            Allowance.parse(options["QIAO_ALLOW_ADDRESSES"]),
            service_origins(searxng),
            proxy_resolves=options["QIAO_PROXY_REMOTE_DNS"],
            names=_names_of_process(),
        )
        _names_of_process().timeout_seconds = crawler.settings.getfloat("DNS_TIMEOUT")
        if options["QIAO_DEMO"]:
            guard.connect_through(options["QIAO_DEMO"], "QIAO_DEMO")
        for origin in _environment_proxies():
            guard.connect_through(str(origin), "http_proxy")
        _guards[crawler] = guard
    return _guards[crawler]


@cache
def _names_of_process() -> Names:
    # Scrapy makes the resolver's guard once a process, before there is a crawler.
    return Names()


def _environment_proxies() -> Iterator[Origin]:
    """The proxies of ``http_proxy`` and the like, which Scrapy uses: the operator has set them."""
    # getproxies() reads http_proxy and its like, as Scrapy's own middleware does.
    for proxy in getproxies().values():
        with suppress(ValueError):
            yield Origin.of(proxy if "//" in proxy else f"http://{proxy}")


def service_origins(searxng_url: str) -> Allowance:
    """The origin of QIAO_SEARXNG_URL; nothing for "" and for a value the engines will refuse."""
    try:
        return Allowance(frozenset({Origin.of(searxng_url)}))
    except ValueError:
        return Allowance()
