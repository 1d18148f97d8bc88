"""What a rendered page may load: its own markup, scripts and data; no media, no inside."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from qiaocrawl.guard import Allowance, is_public_address, looks_like_address

if TYPE_CHECKING:
    from playwright.async_api import Request

_MEDIA = frozenset({"image", "media", "font"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


class BrowserGuard:
    """Decides about the browser's own requests; names are resolved by the browser itself.

    A page may still name a host that resolves to a private address: where that matters, give
    the browser's machine no route inside.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance

    def should_abort(self, request: Request) -> bool:
        """Scrapy-playwright's hook: True stops a request before it is sent."""
        return request.resource_type in _MEDIA or not self.may_open(request.url)

    def may_open(self, url: str) -> bool:
        """Whether a page may load *url*."""
        parts = urlsplit(url)
        if parts.scheme in {"data", "blob"}:
            return True
        host = parts.hostname or ""
        if parts.scheme not in _DEFAULT_PORTS:
            return False
        if self._allowance.permits(host, parts.port or _DEFAULT_PORTS[parts.scheme]):
            return True
        literal = looks_like_address(host) and not is_public_address(host)
        return not literal and host != "localhost" and not self._allowance.names(host)
