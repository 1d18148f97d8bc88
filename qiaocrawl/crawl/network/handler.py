"""The download handler of http and https: network, recorded web or demo web.

It checks every request's origin (robots.txt, redirects and start pages alike come through
here), and can cut running downloads short when the crawl must stop.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.address_guard import address_guard_of
from qiaocrawl.crawl.network.http_limits import LimitedHTTPHandler
from qiaocrawl.crawl.network.pacing import BeforeSending, Turn, rate_limiter_of
from qiaocrawl.crawl.slow_pages import suspects_of
from qiaocrawl.errors import AddressRefusedError
from qiaocrawl.fetch.addresses import Origin
from qiaocrawl.fetch.replay.recording_index import RecordedPage
from qiaocrawl.items import Lease, Queue

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.crawl.browser.downloads import RenderedDownloads

_DEMO_SUFFIX = ".test"


class GuardedDownloadHandler:
    """Downloads allowed requests from this run's source of pages."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        runtime = runtime_of(crawler)
        options = runtime.options
        self._crawler = crawler
        self._guard = address_guard_of(crawler)
        self._turns = rate_limiter_of(crawler)
        self._demo: str = options["QIAO_DEMO"]
        self._replay = runtime.recorded_web
        self._network = LimitedHTTPHandler(crawler)
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
            HostParkedError: the host asked to be left alone, this worker or another one.
        """
        if self._replay is not None:
            return _recorded_response(self._replay.get(request.url), request)
        return await self._cancellable(self._download(request))

    async def _download(self, request: Request) -> Response:
        await self._check_ways(request)
        if self._browser is None or not request.meta.get("playwright"):
            return await self._fetch(request)
        if request.meta.get("playwright_context"):
            # The browser asks the host itself, with the cookies of its session.
            await self._turn(request)
        return await self._browser.download(request, self._fetch)

    async def _check_ways(self, request: Request) -> None:
        """Refuse requests to internal addresses, also through a proxy that connects for us."""
        proxy = request.meta.get("proxy")
        if proxy:
            await self._guard.check_proxy(_origin(proxy if "//" in proxy else f"http://{proxy}"))
        if self._is_in_demo(request):
            return
        lease: Lease | None = request.meta.get("lease")
        for_service = lease is not None and lease.queue is Queue.SEARCH
        await self._guard.check(_origin(request.url), for_service=for_service, by_proxy=bool(proxy))

    async def _fetch(self, request: Request) -> Response:
        lease: Lease | None = request.meta.get("lease")
        async with suspects_of(self._crawler).alone(lease, lambda: self._turn(request)) as turn:
            assert turn is not None
            before_sending = partial(self._turns.before_sending, turn)
            if self._is_in_demo(request):
                return await self._download_demo(request, before_sending)
            return await self._send(request, before_sending)

    async def _send(self, request: Request, before_sending: BeforeSending) -> Response:
        try:
            return await self._network.download_request(request, before_sending)
        except CannotResolveHostError:
            # The name may lead inside since it was checked; then the right error is a refusal.
            await self._check_ways(request)
            raise

    async def _turn(self, request: Request) -> Turn:
        host = urlparse_cached(request).hostname or ""
        return await self._turns.wait(host, self._gap_seconds(request))

    def _is_in_demo(self, request: Request) -> bool:
        host = urlparse_cached(request).hostname or ""
        return bool(self._demo) and host.endswith(_DEMO_SUFFIX)

    def _gap_seconds(self, request: Request) -> float:
        """The delay that Scrapy's slot keeps between two requests of this process."""
        engine = self._crawler.engine
        slot_name = request.meta.get("download_slot", "")
        slot = engine.downloader.slots.get(slot_name) if engine is not None else None
        # The delay of the slot: AutoThrottle may have made it longer than DOWNLOAD_DELAY.
        return 0.0 if slot is None else slot.delay

    def cancel_all(self) -> int:
        """Cancel all running downloads; returns how many there were."""
        running = list(self._running)
        for task in running:
            task.cancel()
        return len(running)

    async def close(self) -> None:
        """Close the connections."""
        await self._network.close()
        if self._browser is not None:
            await self._browser.close()

    async def _download_demo(self, request: Request, before_sending: BeforeSending) -> Response:
        """Every *.test host lives on the demo server: same request, its Host header."""
        if not request.meta.get("proxy"):
            return await self._network.download_request(request, before_sending, self._demo)
        # A proxy has to be told where that is.
        parts = urlparse_cached(request)
        url = parts._replace(scheme="http", netloc=self._demo).geturl()
        inner = request.replace(url=url, headers={**request.headers, "Host": parts.netloc})
        return (await self._network.download_request(inner, before_sending)).replace(
            url=request.url
        )

    async def _cancellable(self, download: Coroutine[Any, Any, Response]) -> Response:
        task = asyncio.ensure_future(download)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await task
        except asyncio.CancelledError:
            raise DownloadCancelledError("the crawl is stopping") from None


def _origin(url: str) -> Origin:
    try:
        return Origin.of(url)
    except ValueError as error:
        raise AddressRefusedError(str(error)) from None


def _browser(crawler: Crawler) -> RenderedDownloads:
    # Imported only when asked for: it brings the browser's driver with it.
    from qiaocrawl.crawl.browser.downloads import rendered_downloads

    return rendered_downloads(crawler)


def _recorded_response(recorded: RecordedPage | None, request: Request) -> Response:
    if recorded is None:
        return Response(request.url, status=404)
    # appendlist: a header may come several times.
    headers = Headers()
    for name, value in recorded.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=request.url, body=recorded.body)
    return kind(url=request.url, status=recorded.status, headers=headers, body=recorded.body)
