"""Redirects that Scrapy follows by itself: they carry no secret to another origin.

Pages and logins are not among them: a page's redirect is a candidate of the frontier, a login's
is judged step by step. robots.txt is, and whatever else is fetched beside. Scrapy drops Cookie
and Authorization where they would leave their origin, but keeps other headers that let someone
in, and posts a body again on 307 and 308 (faults F-C1 to F-C3).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest

from qiaocrawl.fetch.sessions.recipe import is_same_origin, origin_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

logger = logging.getLogger(__name__)

# What every request may carry; anything else a request was given may let someone in.
_HARMLESS = frozenset(
    name.encode()
    for name in (
        "Accept",
        "Accept-Encoding",
        "Accept-Language",
        "Cache-Control",
        "Dnt",
        "Pragma",
        "Upgrade-Insecure-Requests",
        "User-Agent",
        "If-None-Match",
        "If-Modified-Since",
    )
)
_HARMLESS_PREFIX = b"Sec-"
_NEVER = frozenset((b"Cookie", b"Authorization"))


class SafeRedirectMiddleware(RedirectMiddleware):
    """Scrapy's redirects without secrets."""

    def _build_redirect_request(
        self, source_request: Request, response: Response, *, url: str, **kwargs: Any
    ) -> Request:
        redirected = super()._build_redirect_request(source_request, response, url=url, **kwargs)
        if is_same_origin(source_request.url, redirected.url):
            return redirected
        for name in list(redirected.headers):
            if name in _NEVER or not (name in _HARMLESS or name.startswith(_HARMLESS_PREFIX)):
                del redirected.headers[name]
        if _shares_cookies(source_request.url, redirected.url):
            # A cookie's scope has no port, and no scheme unless it is Secure; an origin has both.
            redirected.meta["dont_merge_cookies"] = True
        return redirected

    def _redirect(self, redirected: Request, request: Request, reason: Any) -> Request:
        if redirected.body and not is_same_origin(request.url, redirected.url):
            self.crawler.stats.inc_value("qiaocrawl/session/alerts")
            logger.critical(
                "ALERT: %s asks to send a posted body on to %s (HTTP %s); nothing was sent there",
                origin_of(request.url),
                origin_of(redirected.url),
                reason,
            )
            raise IgnoreRequest(f"posted body asked for by {origin_of(redirected.url)}")
        return super()._redirect(redirected, request, reason)


def _shares_cookies(one: str, other: str) -> bool:
    """Whether a jar would send cookies of *one* to *other*, another origin of the same host."""
    first, second = origin_of(one), origin_of(other)
    if first is None or second is None or first.host != second.host:
        return False
    # http to https on the usual ports is an upgrade, and keeps its cookies.
    return not (
        first.scheme == "http"
        and second.scheme == "https"
        and (first.port, second.port) == (80, 443)
    )
