"""Asks the hosts the operator named through the proxy pool, and never directly.

``qiaocrawl.fetch.proxies`` chooses the proxy and judges its answers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    NotConfigured,
)
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.access import access_of, host_of_request
from qiaocrawl.crawl.network.address_guard import address_guard_of
from qiaocrawl.crawl.network.proxy_source import DOWNLOAD_ERRORS
from qiaocrawl.crawl.retry import retry_request
from qiaocrawl.errors import AddressRefusedError, ProxiesRestError, ProxyError
from qiaocrawl.fetch.addresses import leads_inside

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from qiaocrawl.fetch.proxies import Proxy

_PROXY_AUTHENTICATION_REQUIRED = 407
_REDIRECTS = (301, 302, 303, 307, 308)
_LONGEST_WAIT_SECONDS = 10.0
# Scrapy's TunnelError tells the proxy's status in words only.
_REFUSES_US = ("'status': 401", "'status': 407")

logger = logging.getLogger(__name__)


class ProxyPauseMiddleware:
    """Runs before robots.txt: a host without a living proxy gets no request at all."""

    def __init__(self, crawler: Crawler) -> None:
        self._access = access_of(crawler)
        self._or_direct: bool = runtime_of(crawler).options["QIAO_PROXY_OR_DIRECT"]
        if self._or_direct or self._access.source is None:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Raise ProxiesRestError when all proxies for the host rest."""
        host = host_of_request(request)
        access = self._access
        if access.source is None or not access.is_proxied(host):
            return
        await access.source.keep_fresh()
        scheme = urlparse_cached(request).scheme
        seconds, all_rest = access.pool.wait_seconds(host, scheme, time.monotonic())
        if all_rest:
            raise ProxiesRestError(f"no proxy is left for {host}", seconds)


class ProxyMiddleware:
    """Gives each request its proxy and tells the pool how it went."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._access = access_of(crawler)
        if self._access.source is None and not self._access.shows_identities:
            raise NotConfigured
        self._named: set[Proxy] = set()
        self._or_direct: bool = runtime_of(crawler).options["QIAO_PROXY_OR_DIRECT"]
        crawler.signals.connect(self._left_downloader, signal=signals.request_left_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Choose the proxy of the host's session, and its cookie jar.

        Raises:
            ProxiesRestError: none is left, and the operator allowed no direct connection.
        """
        host = host_of_request(request)
        _forget_old(request)
        # A redirect keeps to the pool it began with, wherever it leads.
        proxy = None
        if self._access.is_proxied(host) or request.meta.get("access_pooled"):
            proxy = await self._take(request, host)
        if proxy is not None:
            request.meta["access_pooled"] = True
            request.meta["access_proxy"] = proxy
            request.meta["access_proxy_in_use"] = True
            # Scrapy's proxy middleware makes the header of it and takes the password out.
            request.meta["proxy"] = proxy.secret_url
            self._name(proxy)
            self._access.counts["proxies/requests"] += 1
        jar = self._access.jar(host, proxy)
        given = request.meta.get("cookiejar")
        if jar is not None and (given is None or str(given).startswith("access:")):
            request.meta["cookiejar"] = jar

    def process_response(self, request: Request, response: Response) -> Response | Request:
        """A proxy that asks who we are is of no use; the answer is not the site's.

        Nor is one that sends us to a private address, as gateways do that want a login.
        """
        proxy = self._proxy_of(request)
        if proxy is None:
            return response
        if response.status == _PROXY_AUTHENTICATION_REQUIRED:
            return self._fail_proxy(request, proxy, sure=True, why="asks for a login")
        if _sends_inside(response):
            # It may be the site after all, so this speaks against the two together only.
            return self._fail_proxy(request, proxy, sure=False, why="leads to a private address")
        return response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Without an answer try another proxy, then give the URL back to the frontier.

        Raises:
            ProxyError: instead of *exception*, whose words may come from the proxy.
        """
        self._release(request)
        proxy = self._proxy_of(request)
        # Neither of the two is the proxy's fault.
        passing = (AddressRefusedError, DownloadCancelledError)
        if proxy is None or isinstance(exception, passing):
            return None
        if not isinstance(exception, DOWNLOAD_ERRORS):
            return None
        refused = isinstance(exception, (DownloadConnectionRefusedError, CannotResolveHostError))
        if isinstance(exception, TunnelError):
            refused = any(words in str(exception) for words in _REFUSES_US)
        return self._fail_proxy(request, proxy, sure=refused, why=type(exception).__name__)

    # --- behind it ----------------------------------------------------------------------

    async def _take(self, request: Request, host: str) -> Proxy | None:
        access, pool = self._access, self._access.pool
        assert access.source is not None
        await access.source.keep_fresh()
        scheme = urlparse_cached(request).scheme
        until = time.monotonic() + _LONGEST_WAIT_SECONDS
        while True:
            now = time.monotonic()
            proxy = pool.take(host, scheme, now, request.meta.get("access_tried", ()))
            if proxy is not None:
                return proxy
            seconds, all_rest = pool.wait_seconds(host, scheme, now)
            if all_rest and self._or_direct:
                logger.warning("no proxy is left for %s: it is asked directly", host)
                access.counts["proxies/direct"] += 1
                return None
            if all_rest or now >= until:
                raise ProxiesRestError(f"no proxy is left for {host}", seconds)
            await asyncio.sleep(seconds)

    def _fail_proxy(self, request: Request, proxy: Proxy, *, sure: bool, why: str) -> Request:
        host, now = host_of_request(request), time.monotonic()
        if sure:
            self._access.pool.note_failure(proxy, now)
        else:
            self._access.pool.note_no_answer(proxy, host, now)
        self._access.counts["proxies/failures"] += 1
        request.meta["access_tried"] = (*request.meta.get("access_tried", ()), proxy)
        again = retry_request(self._crawler, request, f"proxy {why}")
        if again is None:
            raise ProxyError(f"proxy {proxy}: {why}")
        return again

    def _name(self, proxy: Proxy) -> None:
        """Allow connections to *proxy*, even if it is internal: the operator named the pool."""
        if proxy not in self._named:
            self._named.add(proxy)
            host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
            guard = address_guard_of(self._crawler)
            guard.connect_through(f"{proxy.scheme}://{host}:{proxy.port}", "QIAO_PROXY_POOL")

    def _proxy_of(self, request: Request) -> Proxy | None:
        return request.meta.get("access_proxy")

    def _left_downloader(self, request: Request) -> None:
        self._release(request)

    def _release(self, request: Request) -> None:
        if request.meta.pop("access_proxy_in_use", False):
            self._access.pool.release(request.meta["access_proxy"])


def _sends_inside(response: Response) -> bool:
    """Whether *response* redirects to a host whose name alone shows that it is internal."""
    location = (response.headers.get(b"Location") or b"").decode("latin-1")
    if not location or response.status not in _REDIRECTS:
        return False
    try:
        host = urlsplit(response.urljoin(location)).hostname
    except ValueError:
        return False
    return host is not None and leads_inside(host)


def _forget_old(request: Request) -> None:
    """Remove what an earlier try of this request, or the one it was redirected from, had set."""
    old = request.meta.pop("access_proxy", None)
    request.meta.pop("access_proxy_in_use", None)
    if old is not None:
        for name in ("proxy", "_auth_proxy", "_scheme_proxy"):
            request.meta.pop(name, None)
        request.headers.pop(b"Proxy-Authorization", None)
