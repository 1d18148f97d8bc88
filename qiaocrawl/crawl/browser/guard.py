"""What a rendered page may load: its own markup, scripts and data; no media, no internal hosts."""

from __future__ import annotations

import asyncio
import logging
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qiaocrawl.errors import ConfigError
from qiaocrawl.fetch.addresses import Allowance, Origin, leads_inside
from qiaocrawl.language import _
from qiaocrawl.page.layout import LAYOUT_SCRIPT

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as BrowserRequest

# Style sheets are among them: without them there is no layout. No images, media, fonts, event
# streams, pings, prefetches: they add nothing to the text.
_NEEDED = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})
_LAYOUT_SECONDS = 5.0

logger = logging.getLogger(__name__)


def require_playwright(what: str) -> None:
    """Check that the extra ``render`` is installed, which *what* needs.

    Raises:
        ConfigError: it is not; the message says how to install it.
    """
    if find_spec("scrapy_playwright") is None:
        command = f"{sys.executable} -m pip install scrapy-playwright"
        raise ConfigError(
            _("{what} needs scrapy-playwright: {command}", what=what, command=command)
        )


class BrowserGuard:
    """Decides about the browser's own requests before they are sent.

    It sees the URLs a page names. Where they lead by redirect or by name is judged by the proxy
    they go through (:mod:`qiaocrawl.crawl.browser.proxy`).
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance

    def should_abort(self, request: BrowserRequest) -> bool:
        """Scrapy-playwright's hook: True stops a request before it is sent."""
        return request.resource_type not in _NEEDED or not self.may_open(request.url)

    def may_open(self, url: str) -> bool:
        """Whether a page may load *url*."""
        parts = urlsplit(url)
        # Nothing leaves the machine: the bytes stand in the URL, or in the page's memory.
        if parts.scheme in {"data", "blob"}:
            return True
        try:
            origin = Origin.of(url)
        except ValueError:
            return False
        if self._allowance.permits(origin):
            return True
        # Named, but not this very origin: refused, as AddressGuard does for other requests.
        named = self._allowance.names(origin.host, origin.port)
        return not leads_inside(origin.host) and not named


async def stamp_layout(page: Page) -> None:
    """Write the layout of an open page into it; a page that hinders this is kept without.

    The script runs in the page's own world, where the page's scripts may have replaced what
    it calls. That can spoil the layout, so it is read like anything else a page says.
    """
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(page.evaluate(LAYOUT_SCRIPT), _LAYOUT_SECONDS)
    except (Error, TimeoutError) as error:
        logger.warning("no layout of %s: %s", page.url, str(error).split("\n")[0] or "timed out")
