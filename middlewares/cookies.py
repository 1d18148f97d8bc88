"""Cookies without a look at the network.

Scrapy asks tldextract which domains are public suffixes, and tldextract downloads their list at
the first cookie: past the guard, and while the event loop waits. The list in the package
serves (faults F-C7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class OfflineCookiesMiddleware(cookies.CookiesMiddleware):
    """Scrapy's middleware over tldextract's bundled list."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        # A module global of Scrapy's; it offers no other place to say so.
        cookies._split_domain = TLDExtract(include_psl_private_domains=True, suffix_list_urls=())
        return super().from_crawler(crawler)
