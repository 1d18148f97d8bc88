"""The browser itself: guarded contexts, how much memory it uses, how many pages are open.

A context is a browser profile: cookies, storage, user agent, proxy. Requests share one only
where all of these are the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
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
            "proxy": await self._proxy.settings(),
            **(context_kwargs or {}),
            # Requests of service workers would pass by the page's routes, and so by the guard.
            "service_workers": "block",
            "accept_downloads": False,
        }
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


# --- How much memory the browser uses, all its processes together ---------------------------------

_PROC = Path("/proc")
_KIB_PER_MIB = 1024
_DRIVER = b"run-driver"


def browser_mib(pid: int) -> float:
    """Memory of Playwright's driver, started by process *pid*, and of all its browsers, in MiB.

    Chromium's processes share much, and their resident sizes together would count that many
    times: each process counts with its proportional share (PSS). 0.0 where the system does not
    tell (no ``/proc``) or no driver runs.
    """
    children = children_by_parent()
    # Only the driver's children: analysis workers are children of this process too.
    waiting = [child for child in children.get(pid, ()) if _DRIVER in _command(child)]
    kib = 0
    while waiting:
        process = waiting.pop()
        kib += _pss_kib(process)
        waiting += children.get(process, ())
    return kib / _KIB_PER_MIB


def children_by_parent() -> dict[int, list[int]]:
    """The processes each process has started."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        try:
            # The process name may hold anything, brackets too: the fields begin after the last one.
            parent = int((folder / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
        children[parent].append(int(folder.name))
    return children


def _command(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _pss_kib(pid: int) -> int:
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text("ascii").splitlines():
            # smaps_rollup: the sums over all mappings, made by the kernel in one go.
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return 0  # it has ended meanwhile
    return 0


# --- How many pages are open in the browser at once: a few, or one alone --------------------------


class PageSlots:
    """A semaphore of *most* pages with an exclusive mode, which waits until no page is open.

    A page that once went down with the browser is opened alone, so that a second crash is surely
    its own; and the browser is restarted only while no page is open.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting_exclusive = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold one slot."""
        async with self._changed:
            await self._changed.wait_for(
                # A waiting page that wants to be alone goes first.
                lambda: self._taken < self._most and not self._waiting_exclusive
            )
            self._taken += 1
        try:
            yield
        finally:
            await self._release(1)

    @asynccontextmanager
    async def acquire_exclusive(self) -> AsyncIterator[None]:
        """Hold all slots: nobody else has a page open."""
        async with self._changed:
            # Counted before waiting: no further page is let in, or the wait might never end.
            self._waiting_exclusive += 1
            try:
                await self._changed.wait_for(lambda: self._taken == 0)
                self._taken = self._most
            finally:
                self._waiting_exclusive -= 1
        try:
            yield
        finally:
            await self._release(self._most)

    async def _release(self, slots: int) -> None:
        async with self._changed:
            self._taken -= slots
            self._changed.notify_all()
