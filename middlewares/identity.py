"""Shows the browser identity the operator chose for a host; by default our own user agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.crawl.network.access import access_of, host_of_request

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from qiaocrawl.fetch.identities import HeaderList, Identity

_SHOWN = "access_identity"


class IdentityMiddleware:
    """Sets all headers of the host's identity, in the browser's order.

    What a request brings of its own, such as an engine's Accept-Language, stays, in the place
    where the browser has that header.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._access = access_of(crawler)
        if not self._access.shows_identities:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Set the headers, and remove those of an identity shown before (retry, redirect)."""
        shown: HeaderList = request.meta.pop(_SHOWN, ())
        for name, value in shown:
            # Only if it is still as this middleware set it: a header of the request itself stays.
            if request.headers.get(name) == value.encode():
                del request.headers[name]
        identity = self._access.identity(host_of_request(request))
        if identity is not None:
            _show(request, identity)
            self._access.counts[f"identity/{identity.name}"] += 1


def _show(request: Request, identity: Identity) -> None:
    headers = identity.headers(urlparse_cached(request).scheme)
    own = request.headers.copy()
    request.headers.clear()
    added = []
    for name, value in headers:
        if name in own:
            request.headers[name] = own.getlist(name)
        else:
            request.headers[name] = value
            added.append((name, value))
    for name in own:
        if name not in request.headers:
            request.headers[name] = own.getlist(name)
    request.meta[_SHOWN] = tuple(added)
