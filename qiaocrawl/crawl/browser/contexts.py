"""Scrapy-playwright's handler, so that every context of the browser is a guarded one.

A context is a browser profile: cookies, storage, user agent, proxy. Requests share one only
where all of these are the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error
from scrapy_playwright.handler import DEFAULT_CONTEXT_NAME, ScrapyPlaywrightDownloadHandler

from qiaocrawl.crawl.browser.proxy import BrowserProxy, ProxySettings

if TYPE_CHECKING:
    from playwright.async_api import Page, Route
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy_playwright.handler import BrowserContextWrapper

# Profiles kept for requests to come; each holds some megabytes.
_MOST_CONTEXTS = 8
_GONE_SECONDS = 5.0


SETTLE = "qiaocrawl_settle"
"""In a request's meta: what waits until its page is still."""

logger = logging.getLogger(__name__)


class GuardedHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """Opens pages in contexts whose only way out is *proxy*; can be restarted."""

    def __init__(self, crawler: Crawler, proxy: BrowserProxy) -> None:
        super().__init__(crawler)
        self._proxy = proxy
        # The frontier decides whether a page gets another try.
        self.config.target_closed_max_retries = 0
        self.config.restart_disconnected_browser = True
        self._is_running = False

    async def _maybe_launch_in_thread(self) -> None:
        """Nothing is started with the crawl: see :meth:`make_ready`."""

    async def _create_browser_context(
        self, name: str, context_kwargs: dict[str, Any] | None, spider: Spider | None = None
    ) -> BrowserContextWrapper:
        # Makes room for the one about to be created.
        await self._close_idle()
        kwargs = {
            "proxy": await self._proxy.settings(), **(context_kwargs or {}),
            # Requests of service workers would pass by the page's routes, and so by the guard.
            "service_workers": "block", "accept_downloads": False,
        }  # fmt: skip
        wrapper = await super()._create_browser_context(name, kwargs, spider)
        # Pages we open have routes of their own; all others (popups) load nothing.
        await wrapper.context.route("**", _abort)
        return wrapper

    async def _close_idle(self) -> None:
        # Only contexts without an open page: closing a context closes its pages.
        idle = [wrapper for wrapper in self.context_wrappers.values() if not wrapper.context.pages]
        too_many = len(self.context_wrappers) - _MOST_CONTEXTS + 1
        for wrapper in idle[: max(too_many, 0)]:
            with suppress(Error):
                await wrapper.context.close()

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        # As a page method of its own `settle` would be followed by a wait for the event `load`,
        # which never comes on a page whose scripts were kept from navigating away.
        await super()._apply_page_methods(page, request, spider)
        if (settle := request.meta.get(SETTLE)) is not None:
            await settle(page)

    # --- starting, ending -----------------------------------------------------------------

    async def make_ready(self) -> None:
        """Start Playwright's driver with the first page; forget a browser that is gone."""
        if not self._is_running:
            await self._launch()
            self._is_running = True
        await self._wait_gone()

    async def _maybe_launch_browser(self) -> None:
        try:
            await super()._maybe_launch_browser()
        except Error as error:
            # The driver may be dead: try once with a new one.
            logger.warning("no browser: %s", str(error).split("\n")[0][:200])
            await self._launch()
            await super()._maybe_launch_browser()

    @property
    def is_gone(self) -> bool:
        """Whether there is no browser that answers."""
        browser = getattr(self, "browser", None)
        return browser is None or not browser.is_connected()

    async def has_gone(self) -> bool:
        """As :attr:`is_gone`, by asking the browser: its pages report a crash before it does."""
        if self.is_gone:
            return True
        try:
            async with asyncio.timeout(_GONE_SECONDS):
                # Any question will do: only a living browser answers.
                session = await self.browser.new_browser_cdp_session()
                await session.detach()
        except (Error, TimeoutError):
            return True
        return False

    async def restart(self) -> None:
        """Close the browser; the next page starts another. No page may be open."""
        browser = getattr(self, "browser", None)
        if browser is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_GONE_SECONDS):
                    await browser.close()
            await self._wait_gone(expected=True)

    async def _wait_gone(self, *, expected: bool = False) -> None:
        """Let scrapy-playwright notice that the browser is gone; do it ourselves if it cannot."""
        end = time.monotonic() + _GONE_SECONDS
        while (browser := getattr(self, "browser", None)) is not None:
            if not expected and browser.is_connected():
                return
            if time.monotonic() > end:
                self._forget()
                return
            await asyncio.sleep(0.02)

    def _forget(self) -> None:
        self.context_wrappers.clear()
        if hasattr(self, "browser"):
            del self.browser


def context_of(request: Request, proxy: ProxySettings) -> tuple[str, dict[str, Any]]:
    """Name and settings of the context for *request*.

    A context that a session names (``playwright_context``, ``playwright_context_kwargs``) keeps
    what it says, storage state above all; what goes by the request is added.
    """
    own: dict[str, Any] = dict(request.meta.get("playwright_context_kwargs") or {})
    identity = {
        name: (request.headers.get(header) or b"").decode("latin-1")
        for name, header in (("user_agent", "User-Agent"), ("language", "Accept-Language"))
    }
    jar = str(request.meta.get("cookiejar", ""))
    base = request.meta.get("playwright_context") or DEFAULT_CONTEXT_NAME
    # What two requests must have in common to share a profile.
    mark = repr((proxy["server"], identity, jar)).encode()
    kwargs = {**own, "proxy": proxy}
    if identity["user_agent"]:
        kwargs.setdefault("user_agent", identity["user_agent"])
    if identity["language"]:
        kwargs.setdefault("extra_http_headers", {"Accept-Language": identity["language"]})
    return f"{base}-{hashlib.blake2b(mark, digest_size=4).hexdigest()}", kwargs


async def _abort(route: Route) -> None:
    with suppress(Error):
        await route.abort("blockedbyclient")
