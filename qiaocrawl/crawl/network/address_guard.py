"""Where this process may connect: names resolved once, public addresses only (F-S1, F-S2, F-S6).

Handler, name service and browser ask an :class:`AddressGuard`, and all guards of a process have one
memory of names. What was looked up for the check is what is connected to, so an answer cannot
change between the two.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from scrapy.resolver import HostResolution
from twisted.internet import endpoints
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

from qiaocrawl.crawl.context import options_from_settings
from qiaocrawl.errors import AddressRefusedError, ProxyError
from qiaocrawl.fetch.addresses import Allowance, Origin, is_public_address, leads_inside

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IAddress

# --- One answer for each name, for all of this process (fault F-S2) -------------------------------
# The check of a host and the connection to it use the same answer, so a name service that changes
# its answer in between (DNS rebinding) gains nothing.

# The system's answers carry no time to live. A host may move. One that could not be found may
# come back, but must not be looked up again for every waiting URL.
_FRESH_SECONDS = 600.0
_FAILED_SECONDS = 5.0
# Between its check and its connection a request may wait for its host's turn.
_GRACE_SECONDS = 300.0
_REMEMBERED = 10_000
# The system's look-up blocks a thread, and a dead name service holds it for its whole time-out.
_LOOKUPS_AT_ONCE = 32

Lookup = Callable[[str], Sequence[str]]


def look_up(host: str) -> list[str]:
    """Every address the system's name service gives for *host*, best first.

    Raises:
        OSError: there is none.
        UnicodeError: *host* cannot be a name.
    """
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    # Removes doubles; the order is the system's preference.
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))


class Names:
    """Remembers what the name service said.

    Args:
        lookup: the name service; None is :func:`look_up`.
        timeout_seconds: how long it may take.
    """

    def __init__(self, lookup: Lookup | None = None, *, timeout_seconds: float = 10.0) -> None:
        self._lookup = lookup
        self.timeout_seconds = timeout_seconds
        self._known: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._asking: dict[str, asyncio.Task[tuple[str, ...]]] = {}
        self._lookups = asyncio.Semaphore(_LOOKUPS_AT_ONCE)

    async def addresses(self, host: str, *, is_checked: bool = False) -> tuple[str, ...]:
        """All addresses of *host*; an answer is remembered for ten minutes, a failure for 5 s.

        Args:
            is_checked: a request to *host* has passed the check and is about to connect: the
                addresses it was judged by hold even if they have expired meanwhile.

        Raises:
            CannotResolveHostError: there is none, or no answer in time.
        """
        until, addresses = self._known.get(host, (0.0, ()))
        # Only known answers get a grace period: a failure is looked up again as soon
        # as it expires.
        if until + (_GRACE_SECONDS if addresses and is_checked else 0.0) <= time.monotonic():
            if host not in self._asking:
                self._asking[host] = asyncio.ensure_future(self._ask(host))
            # Shielded: one cancelled request must not cancel the look-up the others wait for.
            addresses = await asyncio.shield(self._asking[host])
        if not addresses:
            raise CannotResolveHostError(f"the name {host!r} leads to no address")
        return addresses

    async def _ask(self, host: str) -> tuple[str, ...]:
        try:
            async with self._lookups:
                look_up_task = _in_thread(self._lookup or look_up, host)
                addresses = tuple(await asyncio.wait_for(look_up_task, self.timeout_seconds))
        except (OSError, UnicodeError, TimeoutError):
            addresses = ()
        finally:
            del self._asking[host]
        seconds = _FRESH_SECONDS if addresses else _FAILED_SECONDS
        # Re-inserted at the end: the oldest answer goes first.
        self._known.pop(host, None)
        self._known[host] = (time.monotonic() + seconds, addresses)
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        return addresses


def _in_thread(lookup: Lookup, host: str) -> asyncio.Future[Sequence[str]]:
    """Run *lookup* in a thread the end of the process does not wait for: it may hang long."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Sequence[str]] = loop.create_future()

    def settle(found: Sequence[str], error: Exception | None) -> None:
        if not future.done():
            future.set_exception(error) if error else future.set_result(found)

    def run() -> None:
        addresses: Sequence[str] = ()
        failed: Exception | None = None
        try:
            addresses = lookup(host)
        except (OSError, UnicodeError) as error:
            failed = error
        # The crawl may have ended while the system was still looking.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, addresses, failed)

    # Not the loop's executor: the process would wait for its threads at exit.
    threading.Thread(target=run, name=f"look up {host}", daemon=True).start()
    return future


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
        if self._allowance.names(origin.host, origin.port):
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
        named = self._allowance | Allowance(frozenset(_connectable))
        # Twisted asks without a port at times; then any port that is named will do.
        if port == 0:
            is_named = any(origin.host == host for origin in named.origins)
        else:
            is_named = named.names(host, port)
        if not is_named:
            _refuse_inside(host, addresses)
        return addresses

    @property
    def _allowance(self) -> Allowance:
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


# --- A name service that answers with public addresses only (faults F-S1, F-S2) -------------------
# Twisted connects to exactly the addresses returned here, one after the other as RFC 8305 has
# it, also for hosts that are addresses already. One address inside among several refuses all.

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
            for address in await self._addresses_of(hostName, portNumber):
                kind = IPv6Address if ":" in address else IPv4Address
                if kind in wanted:
                    resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
            resolutionReceiver.resolutionComplete()

        task = asyncio.ensure_future(answer())
        # asyncio keeps only a weak reference to a task.
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return resolution

    async def _addresses_of(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._guard.to_connect(host, port)
        except CannotResolveHostError:
            # No address is Twisted's way to say that a name is unknown.
            return ()
        except AddressRefusedError as error:
            logger.warning("no connection to %s: %s", host, error)
            return ()


# --- Host names as the network writes them, worked out once a name --------------------------------


def remember_written_names() -> None:
    """Let Twisted remember the bytes (IDNA) of host names.

    It makes an endpoint for every request, most of which go over a connection that is open, and
    for each it looks through the characters of the host again.
    """
    # A name of Twisted's own, which another version may not have: it is only faster with it.
    names = vars(endpoints)
    write = names.get("_idnaBytes")
    if write is not None and not hasattr(write, "cache_info"):
        # What is no name is not remembered: lru_cache keeps no exceptions.
        names["_idnaBytes"] = lru_cache(_REMEMBERED)(write)
