"""Refuses requests with other schemes (F-S5) and answers packed too often (F-R1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.errors import AddressRefusedError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_SCHEMES = frozenset({"http", "https"})
# Servers use one; each further one may blow up what the last one left.
_MOST_ENCODINGS = 2


class GuardMiddleware:
    """Refuses other schemes and credentials in URLs; the handler checks addresses."""

    def process_request(self, request: Request) -> None:
        """Raise AddressRefusedError for requests that must not be sent.

        The check reads ``request.url`` after Scrapy has built it: checked on the raw
        string, ``http://127.0.0.1\\\\@example.com/`` would look like example.com (F-S3).
        """
        parts = urlparse_cached(request)
        if parts.scheme not in _SCHEMES:
            raise AddressRefusedError(f"scheme {parts.scheme!r} is not http or https")
        if "@" in parts.netloc:
            raise AddressRefusedError(f"URL of {parts.hostname} carries credentials")


class EncodingsMiddleware:
    """Runs before unpacking, whose size limit counts only the last result."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Raise IgnoreRequest for a body packed more than twice; a crawl calls it too large."""
        lines = response.headers.getlist("Content-Encoding")
        names = [name for line in lines for name in line.split(b",") if name.strip()]
        if len(names) > _MOST_ENCODINGS:
            raise IgnoreRequest(f"{len(names)} content encodings, one upon the other")
        return response
