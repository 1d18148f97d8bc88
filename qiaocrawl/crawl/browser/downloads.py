"""Pages opened in Chromium by scrapy-playwright: guarded, bounded, and never lost.

The browser is started when the first page needs it, started anew when it has grown or gone, and
shared by all handlers of a crawl. Whatever happens to it, the page's request fails with a
:class:`~qiaocrawl.errors.RenderError` and goes back to the frontier.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils.misc import build_from_crawler

from qiaocrawl.crawl.browser.contexts import (
    SETTLE,
    GuardedHandler,
    PageSlots,
    browser_mib,
    context_of,
)
from qiaocrawl.crawl.browser.page import BrowserPage
from qiaocrawl.crawl.browser.proxy import BrowserProxy, Upstream
from qiaocrawl.crawl.context import runtime_of
from qiaocrawl.crawl.network.address_guard import address_guard_of
from qiaocrawl.crawl.slow_pages import suspects_of
from qiaocrawl.crawl.spider import CONNECTION_LOST, PICTURE, fetched_page
from qiaocrawl.errors import BrowserLostError, ExtractionError, RenderError
from qiaocrawl.fetch.rendering import (
    RENDER_IF_NEEDED,
    RENDERED_HEADER,
    lacks_content,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.items import Lease

Fetch = Callable[["Request"], Awaitable[Response]]

# For opening, reading, picture and layout, beyond the time a page may take to settle.
_GRACE_SECONDS = 25.0
_CLOSE_SECONDS = 5.0
# A page may name any number of addresses; only so many get a line in the log.
_MOST_TOLD = 100
_OF_THE_BODY = ("Content-Encoding", "Content-Length", "Transfer-Encoding", RENDERED_HEADER)

logger = logging.getLogger(__name__)
# It prints a traceback for every page that is given up; we log one line.
logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)

_downloads: WeakKeyDictionary[Crawler, RenderedDownloads] = WeakKeyDictionary()


def rendered_downloads(crawler: Crawler) -> RenderedDownloads:
    """The one browser of *crawler*'s run, made at the first call."""
    if crawler not in _downloads:
        _downloads[crawler] = RenderedDownloads(crawler)
    return _downloads[crawler]


class RenderedDownloads:
    """Fetches a page the usual way, then lets the browser run its scripts."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = runtime_of(crawler)
        self._options = options = self._runtime.options
        settings = crawler.settings
        self._stats = crawler.stats
        self._suspects = suspects_of(crawler)
        self._most_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._proxy = BrowserProxy(
            address_guard_of(crawler),
            demo=options["QIAO_DEMO"],
            refused=self._note_refusal,
        )
        self._handler = GuardedHandler(crawler, self._proxy)
        # Documents arrive compressed, since this handler sits below Scrapy's own
        # middleware for it.
        self._unpacking = build_from_crawler(HttpCompressionMiddleware, crawler)
        self._page_slots = PageSlots(settings.getint("PLAYWRIGHT_MAX_PAGES_PER_CONTEXT") or 4)
        # Two pages at once must not start two drivers.
        self._ready = asyncio.Lock()
        self._pages = self._milliseconds = 0
        self._is_worn = self._is_closed = False
        self._told: set[str] = set()

    async def download(self, request: Request, fetch: Fetch) -> Response:
        """The page of *request* as the browser shows it; anything but a page is left unchanged.

        Args:
            fetch: how the document is fetched without a browser.

        Raises:
            BrowserLostError: the page crashed or hung, or the browser did while it was open.
            RenderError: it could not be opened for another reason.
        """
        document = None
        # Where the context is a session's, the browser has to ask the host with its own cookies.
        if not request.meta.get("playwright_context"):
            document = await self._document(request, fetch)
            # Redirects, errors and files go the usual way; only a page is worth a browser.
            if not (isinstance(document, HtmlResponse) and document.status == 200):
                self._count("not_opened")
                return document
            if request.meta.get(RENDER_IF_NEEDED) and not await self._is_needed_for(document):
                self._count("not_needed")
                return document
        lease: Lease | None = request.meta.get("lease")
        # A page that failed before may have been the one that took the browser down.
        doubtful = lease is not None and bool(lease.failures or lease.crashes)
        if not doubtful:
            try:
                return await self._among_others(request, document)
            except BrowserLostError:
                if document is None or not await self._handler.has_gone():
                    raise  # its host would have to be asked again, or only this page is gone
                # One of the open pages took the browser down, not necessarily this one.
                self._count("tried_alone")
        return await self._alone(request, document)

    async def _among_others(self, request: Request, document: Response | None) -> Response:
        await self._renew_if_worn()
        async with self._page_slots.acquire():
            return await self._open(request, document)

    async def _alone(self, request: Request, document: Response | None) -> Response:
        await self._renew_if_worn()
        lease = request.meta.get("lease")
        async with self._page_slots.acquire_exclusive(), self._suspects.alone(lease):
            return await self._open(request, document)

    async def close(self) -> None:
        """End the browser; both handlers of a crawl ask for it."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._handler.close()
        await self._proxy.close()

    async def _document(self, request: Request, fetch: Fetch) -> Response:
        # Without the browser's keys, so that the request does not come here again.
        meta = {k: v for k, v in request.meta.items() if not k.startswith("playwright")}
        plain = request.replace(meta=meta)
        document = self._unpacking.process_response(plain, await fetch(plain))
        assert isinstance(document, Response)
        return document

    async def _is_needed_for(self, document: Response) -> bool:
        """Whether a page, of a form that needs the browser, is as empty as others of that form."""
        page = fetched_page(document)
        try:
            return lacks_content(page, await self._runtime.analysis.analyse(page))
        except ExtractionError:
            return False  # it fails again in the pipeline, where that is counted

    async def _renew_if_worn(self) -> None:
        if not self._is_worn:
            return
        async with self._page_slots.acquire_exclusive():
            # Asked again: another page may have renewed the browser while this one waited.
            if self._is_worn:
                self._is_worn, self._pages = False, 0
                await self._handler.restart()
                self._count("restarts")

    # --- one page ---------------------------------------------------------------------------

    async def _open(self, request: Request, document: Response | None) -> Response:
        started = time.monotonic()
        visit = BrowserPage(
            document,
            budget_seconds=self._options["QIAO_RENDER_SECONDS"],
            layout=self._options["QIAO_RENDER_LAYOUT"],
            with_picture=self._options["QIAO_RENDER_PICTURE"],
            data_hosts=self._options["QIAO_RENDER_DATA_HOSTS"],
            count=self._count,
        )
        try:
            inner = await self._prepare_request(request, visit)
            response = await self._watch_visit(inner, visit)
        except RenderError as error:
            self._count("crashes" if isinstance(error, BrowserLostError) else "failures")
            raise
        finally:
            # A page that cannot be closed keeps its memory: only a new browser gets rid of it.
            if not await visit.close(_CLOSE_SECONDS):
                self._is_worn = True
            self._pages += 1
            self._milliseconds += round((time.monotonic() - started) * 1000)
            self._stats.set_value("qiaocrawl/render/seconds", self._milliseconds / 1000)
            await self._check_wear()
        self._count("pages")
        # Of this request, not of the copy the browser got: the response bears this one.
        request.meta[PICTURE] = visit.picture
        return self._result(inner, document, response, visit)

    async def _prepare_request(self, request: Request, visit: BrowserPage) -> Request:
        upstream = request.meta.get("proxy")
        credentials = (request.headers.get("Proxy-Authorization") or b"").decode("latin-1")
        proxy = await self._proxy.settings(
            Upstream.parse(upstream, credentials) if upstream else None
        )
        name, kwargs = context_of(request, proxy)
        meta: dict[str, Any] = {
            **request.meta,
            "playwright": True,
            "playwright_context": name,
            "playwright_context_kwargs": kwargs,
            "playwright_page_init_callback": visit.prepare,
            # The rest of the waiting is the visit's.
            "playwright_page_goto_kwargs": {"wait_until": "commit"},
            SETTLE: visit.settle,
        }
        return request.replace(meta=meta)

    async def _watch_visit(self, request: Request, visit: BrowserPage) -> Response:
        """Open the page, and give it up when it crashes, hangs, or the crawl stops."""
        patience = self._options["QIAO_RENDER_SECONDS"] + _GRACE_SECONDS
        work = asyncio.ensure_future(self._open_page(request))
        ends: list[asyncio.Future[Any]] = [work, visit.crashed]
        try:
            await asyncio.wait(ends, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if visit.crashed.done():
                raise BrowserLostError(f"{request.url} crashed or hung in the browser")
            if not work.done():
                raise BrowserLostError(f"{request.url} hung in the browser for {patience:g} s")
            response = work.result()
        # Also when this coroutine itself is cancelled, as at the end of a crawl.
        finally:
            if not work.done():
                work.cancel()
            with suppress(asyncio.CancelledError, RenderError):
                await work
        # The hook for new pages was not called, so the page has bypassed the guard.
        if not visit.is_prepared:
            raise RenderError(f"{request.url} was not opened as it must be")
        return response

    async def _open_page(self, request: Request) -> Response:
        try:
            async with self._ready:
                await self._handler.make_ready()
            response: Response = await self._handler.download_request(request)
        except Exception as error:
            # Playwright has no one family of errors: a dead driver raises a bare Exception.
            reason = f"{type(error).__name__}: {error}".split("\n")[0][:200]
            if self._handler.is_gone or "TargetClosed" in reason or "crashed" in reason:
                raise BrowserLostError(f"the browser or its page is gone ({reason})") from error
            raise RenderError(f"{request.url} could not be opened ({reason})") from error
        return response

    async def _check_wear(self) -> None:
        if self._pages >= self._options["QIAO_RENDER_PAGES"]:
            self._is_worn = True
        elif not self._is_worn:
            used_mib = await asyncio.to_thread(browser_mib, os.getpid())
            self._stats.max_value("qiaocrawl/render/memory_mib", round(used_mib))
            self._is_worn = used_mib > self._options["QIAO_RENDER_MEMORY_MB"]

    def _result(
        self, request: Request, document: Response | None, response: Response, visit: BrowserPage
    ) -> Response:
        led_to = visit.led_to if visit.is_led_away else ""
        if request.meta.get("redirect_urls"):
            led_to = response.url  # the browser fetched the document, and was sent elsewhere
        if led_to:
            self._count("led_away")
            cookies = (document or response).headers.getlist("Set-Cookie")
            headers = {"Location": led_to, "Set-Cookie": cookies}
            # As a redirect: the target becomes a row of the frontier, as for any other page.
            return Response(request.url, status=302, headers=headers)
        if not isinstance(response, TextResponse):
            return response
        body = visit.with_answers(response.text).encode("utf-8", "replace")
        # DOWNLOAD_MAXSIZE holds for what scripts make of a page, too.
        if self._most_bytes and len(body) > self._most_bytes:
            raise DownloadCancelledError(f"rendered page of {len(body)} bytes")
        base = document or response
        # The headers of the document itself: those of the browser's answer are made up here.
        headers = base.headers.copy()
        for name in _OF_THE_BODY:
            headers.pop(name, None)
        headers["Content-Type"] = "text/html; charset=utf-8"
        headers[RENDERED_HEADER] = "1"
        return HtmlResponse(
            url=base.url,
            status=base.status,
            headers=headers,
            body=body,
            encoding="utf-8",
            # What scripts make of half a document is not whole either.
            flags=["rendered", *(flag for flag in base.flags if flag == CONNECTION_LOST)],
        )

    def _note_refusal(self, reason: str) -> None:
        self._count("refused")
        if reason not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(reason)
            logger.warning("the browser was refused: %s", reason)

    def _count(self, name: str) -> None:
        self._stats.inc_value(f"qiaocrawl/render/{name}")
