"""The download handler of http and https: network, recorded web or demo web.

It checks every request's origin (robots.txt, redirects and start pages alike come through
here), and can cut running downloads short when the crawl must stop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.archive import RecordedPage
from qiaocrawl.crawl.proxy_gate import ProxyGate
from qiaocrawl.crawl.wiring import runtime_of
from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.guard import Allowance, is_public_address, looks_like_address

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.crawl.rendered import RenderedDownloads

_DEFAULT_PORTS = {"http": 80, "https": 443}
_DEMO_SUFFIX = ".test"


class GuardedDownloadHandler:
    """Downloads what may be downloaded, from where this run takes its pages."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        runtime = runtime_of(crawler)
        options = runtime.options
        self._allowance = Allowance.parse(options["QIAO_ALLOW_ADDRESSES"])
        self._gate = ProxyGate(self._allowance, proxy_resolves=options["QIAO_PROXY_RESOLVES"])
        self._demo: str = options["QIAO_DEMO"]
        self._replay = runtime.recorded_web
        self._network = HTTP11DownloadHandler(crawler)
        self._browser = _browser(crawler) if options["QIAO_RENDER"] != "off" else None
        self._running: set[asyncio.Future[Response]] = set()
        # Scrapy builds a handler for http and another for https.
        runtime.downloaders.append(self.cancel_all)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GuardedDownloadHandler:
        """Scrapy's constructor."""
        return cls(crawler)

    async def download_request(self, request: Request) -> Response:
        """Fetch *request*.

        Raises:
            AddressRefusedError: the host is a private address nobody allowed.
        """
        if self._replay is not None:
            return _recorded_response(self._replay.get(request.url), request)
        if self._browser is not None and request.meta.get("playwright"):
            return await self._cancellable(self._browser.download(request, self._download))
        return await self._download(request)

    async def _download(self, request: Request) -> Response:
        parts = urlparse_cached(request)
        host = parts.hostname or ""
        if self._demo and host.endswith(_DEMO_SUFFIX):
            return await self._download_demo(request)
        self._check_origin(host, parts.port or _DEFAULT_PORTS.get(parts.scheme, 0))
        await self._gate.check(request)
        return await self._cancellable(self._network.download_request(request))

    def cancel_all(self) -> int:
        """Cut all running downloads short; returns how many there were."""
        running = list(self._running)
        for task in running:
            task.cancel()
        return len(running)

    async def close(self) -> None:
        """Close the connections."""
        await self._network.close()
        if self._browser is not None:
            await self._browser.close()

    def _check_origin(self, host: str, port: int) -> None:
        if self._allowance.permits(host, port):
            return
        # A host that is allowed on another port resolves to its private address, so it is
        # refused here; other names are judged by what they resolve to.
        literal = looks_like_address(host) and not is_public_address(host)
        if literal or self._allowance.names(host):
            raise AddressRefusedError(
                f"{host}:{port} is no public address; QIAO_ALLOW_ADDRESSES can name it"
            )

    async def _download_demo(self, request: Request) -> Response:
        """Every *.test host lives on the demo server: same request, its Host header."""
        parts = urlparse_cached(request)
        headers = request.headers.copy()
        headers[b"Host"] = parts.netloc.encode("ascii")
        inner = request.replace(
            url=parts._replace(scheme="http", netloc=self._demo).geturl(), headers=headers
        )
        inner.meta["download_slot"] = request.meta.get("download_slot")
        response = await self._cancellable(self._network.download_request(inner))
        return response.replace(url=request.url)

    async def _cancellable(self, download: Coroutine[Any, Any, Response]) -> Response:
        task = asyncio.ensure_future(download)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await task
        except asyncio.CancelledError:
            raise DownloadCancelledError("the crawl is stopping") from None


def _browser(crawler: Crawler) -> RenderedDownloads:
    # Imported only when asked for: it brings the browser's driver with it.
    from qiaocrawl.crawl.rendered import rendered_downloads

    return rendered_downloads(crawler)


def _recorded_response(recorded: RecordedPage | None, request: Request) -> Response:
    if recorded is None:
        return Response(request.url, status=404)
    headers = Headers()
    for name, value in recorded.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=request.url, body=recorded.body)
    return kind(
        url=request.url, status=recorded.status, headers=headers, body=recorded.body
    )
