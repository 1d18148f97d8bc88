"""How this run approaches hosts: turns, identities, proxies and pauses.

One per crawler, like the runtime; middlewares, scheduler and spider ask it.
"""

from __future__ import annotations

import random
import secrets
import time
from collections import Counter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.proxy_source import ProxySource
from qiaocrawl.fetch.addresses import DEFAULT_PORTS
from qiaocrawl.fetch.block_detection import UsualSizes
from qiaocrawl.fetch.host_rules import (
    HostHealth,
    HostRules,
    Strike,
    parse_crawl_windows,
    parse_rules,
)
from qiaocrawl.fetch.identities import HONEST, ROTATE, Identity, choice_of, pick
from qiaocrawl.fetch.proxies import ProxyLimits, ProxyPool
from qiaocrawl.items import Lease

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.fetch.block_detection import BlockSign
    from qiaocrawl.options import Options
    from qiaocrawl.runtime.runtime import Runtime

_DIRECT = "direct"

_by_crawler: WeakKeyDictionary[Crawler, HostAccess] = WeakKeyDictionary()


class HostAccess:
    """What the operator chose for each host, and what the run has learnt of it.

    Raises:
        ConfigError: an option names no site, engine, identity or pool that there is.
    """

    def __init__(self, crawler: Crawler, runtime: Runtime) -> None:
        options = runtime.options
        self._options = options
        self.off = bool(options["QIAO_REPLAY"])
        """A recorded web blocks nobody and needs no crawl windows."""
        engine_hosts = _engine_hosts(runtime)
        self.windows = parse_crawl_windows(options["QIAO_CRAWL_WINDOWS"], engine_hosts)
        self._shipped = _identities(options)
        self._identities: HostRules[str] = parse_rules(
            "QIAO_IDENTITIES", options["QIAO_IDENTITIES"], engine_hosts, choice_of(self._shipped)
        )
        self._proxied: HostRules[bool] = parse_rules(
            "QIAO_PROXIES", options["QIAO_PROXIES"], engine_hosts, _through_pool
        )
        self.pool = ProxyPool(_limits(runtime), random.Random(secrets.randbits(64)))
        # The proxy list is fetched only if some site uses it.
        uses_pool = any(through for _, through in self._proxied.items()) and not self.off
        self.source = ProxySource(crawler, runtime, self.pool) if uses_pool else None
        self.health = HostHealth(options["QIAO_BLOCK_PAUSE_SECONDS"])
        self.sizes = UsualSizes()
        self.counts: Counter[str] = Counter()
        # Drawn for this run: a host must not see the same choice in every run.
        self._salt = secrets.token_bytes(16)
        self._sessions: Counter[str] = Counter()

    # --- what the operator chose ------------------------------------------------------------

    def rest_seconds(self, host: str) -> float:
        """How long until the crawl window of *host* opens; 0 while it is open."""
        if self.off or not self.windows:
            return 0.0
        rest = self.windows.rest_seconds(host, time.time())
        if rest > 0:
            self.counts["rests"] += 1
        return rest

    def is_on_trial(self, host: str) -> bool:
        """Whether *host* gets one request at a time, since it blocked us or kept silent."""
        return not self.off and self.health.is_on_trial(host)

    def identity(self, host: str) -> Identity | None:
        """The browser *host* is to see; None for our own user agent."""
        name = self._identities.find(host)
        if name is None or name == HONEST:
            return None
        if name != ROTATE:
            return self._shipped[name]
        return pick(list(self._shipped.values()), host, self._sessions[host], self._salt)

    @property
    def shows_identities(self) -> bool:
        """Whether any host is to see a browser."""
        return bool(self._identities)

    def is_proxied(self, host: str) -> bool:
        """Whether *host* is asked through the pool."""
        return self.source is not None and bool(self._proxied.find(host))

    def can_switch(self, host: str) -> bool:
        """Whether *host* can be tried again under another identity."""
        return self._identities.find(host) == ROTATE or self.is_proxied(host)

    # --- sessions ---------------------------------------------------------------------------

    def switch(self, host: str) -> None:
        """Begin a new session with *host*: other cookies, and another identity if they rotate."""
        self._sessions[host] += 1
        self.counts["sessions_switched"] += 1

    def jar(self, host: str, proxy: object | None) -> str | None:
        """Name of the cookie jar of *host*'s session; None where one jar serves all."""
        if not self.can_switch(host):
            return None
        # The proxy is part of the name: cookies of one address must not turn up at another.
        return f"access:{host}:{self._sessions[host]}:{proxy or _DIRECT}"

    # --- what became of it ------------------------------------------------------------------

    def note_answer(self, host: str) -> None:
        """Note that *host* gave a proper page."""
        self.health.note_answer(host)

    def struck(self, host: str, sign: BlockSign) -> Strike | None:
        """Note that *host* blocked us, or seems to; returns the strike that this makes, if any."""
        return self._count_strike(self.health.note_block(host, sign, time.monotonic()))

    def silent(self, host: str) -> Strike | None:
        """Note that *host* gave no answer; returns the strike that this makes, if any."""
        return self._count_strike(self.health.silent(host, time.monotonic()))

    def unavailable(self, host: str) -> Strike:
        """Note that no proxy is left for *host*; returns the strike that this makes."""
        strike = self._count_strike(self.health.unavailable(host, time.monotonic()))
        assert strike is not None
        return strike

    def _count_strike(self, strike: Strike | None) -> Strike | None:
        if strike is not None:
            self.counts["hosts_given_up" if strike.give_up else "host_pauses"] += 1
        return strike

    def numbers(self) -> dict[str, int]:
        """Figures for the run's statistics."""
        numbers = {f"qiaocrawl/access/{name}": count for name, count in self.counts.items()}
        if self.source is not None:
            listed = {**self.source.numbers, "alive": self.pool.alive(time.monotonic())}
            numbers |= {f"qiaocrawl/access/proxies/{name}": n for name, n in listed.items()}
        return numbers

    async def close(self) -> None:
        """Keep what was learnt of the proxies."""
        if self.source is not None:
            await self.source.save()


def access_of(crawler: Crawler) -> HostAccess:
    """The access of *crawler*'s run, built at the first call.

    Raises:
        ConfigError: see :class:`HostAccess`.
    """
    if crawler not in _by_crawler:
        _by_crawler[crawler] = HostAccess(crawler, runtime_of(crawler))
    return _by_crawler[crawler]


def host_of_request(request: Request) -> str:
    """The host a request is for, as leases name hosts: the port only when not the default."""
    lease = request.meta.get("lease")
    if isinstance(lease, Lease):
        return lease.host
    parts = urlparse_cached(request)
    host = (parts.hostname or "").lower()
    port = parts.port
    return host if port in (None, DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


def _engine_hosts(runtime: Runtime) -> dict[str, str]:
    names = ("QIAO_CRAWL_WINDOWS", "QIAO_IDENTITIES", "QIAO_PROXIES")
    if not any(runtime.options[name] for name in names):
        # Engines are read from files, and most runs need none of them here.
        return {}
    return {name: engine.host for name, engine in runtime.catalogue.engines.items()}


def _identities(options: Options) -> dict[str, Identity]:
    # A crawl that shows no browser reads none: what checks their file takes time to import.
    if not options["QIAO_IDENTITIES"] and not options["QIAO_IDENTITIES_FILE"]:
        return {}
    from qiaocrawl.fetch.identity_file import load_identities

    return load_identities(options["QIAO_IDENTITIES_FILE"])


def _limits(runtime: Runtime) -> ProxyLimits:
    options = runtime.options
    return ProxyLimits(
        at_once=options["QIAO_PROXY_AT_ONCE"],
        per_minute=options["QIAO_PROXY_PER_MINUTE"],
        first_pause_seconds=options["QIAO_PROXY_PAUSE_SECONDS"],
    )


def _through_pool(value: str) -> bool:
    if value not in ("", _DIRECT):
        raise ValueError(f"must be SITE alone, or SITE={_DIRECT}")
    return value != _DIRECT
