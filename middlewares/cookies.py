"""Cookies without network access.

Scrapy asks tldextract which domains are public suffixes, and tldextract downloads their list at
the first cookie: past the guard, and while the event loop waits. The list in the package
serves (faults F-C7). A cookie without a domain stays at its host (F-C1), and COOKIES_DEBUG
shows names, never values (F-C8).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract

from qiaocrawl.crawl.cookie_jar import new_jar

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


class OfflineCookiesMiddleware(cookies.CookiesMiddleware):
    """Scrapy's middleware over tldextract's bundled list."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        # A module global of Scrapy's; it offers no other place to say so.
        cookies._split_domain = TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
        middleware = super().from_crawler(crawler)
        middleware.jars = defaultdict(new_jar)
        return middleware

    def _debug_cookie(self, request: Request) -> None:
        if self.debug:
            pairs = (request.headers.get("Cookie") or b"").split(b";")
            logger.debug("cookies for %s: %s", request, _names(pairs))

    def _debug_set_cookie(self, response: Response) -> None:
        if self.debug:
            logger.debug(
                "cookies from %s: %s", response, _names(response.headers.getlist("Set-Cookie"))
            )


def _names(cookies: list[bytes]) -> str:
    names = (cookie.partition(b"=")[0].strip().decode("latin-1") for cookie in cookies)
    return ", ".join(filter(None, names)) or "none"
