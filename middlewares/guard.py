"""Only http and https leave this machine, whoever proposed the URL (faults F-S5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from qiaocrawl.errors import AddressRefusedError

if TYPE_CHECKING:
    from scrapy import Request

_SCHEMES = frozenset({"http", "https"})


class GuardMiddleware:
    """Refuses other schemes and credentials in URLs; addresses are the handler's matter."""

    def process_request(self, request: Request) -> None:
        """Raise AddressRefusedError for what must not be asked.

        The check reads ``request.url`` after Scrapy has built it: checked on the raw
        string, ``http://127.0.0.1\\\\@example.com/`` would look like example.com (F-S3).
        """
        parts = urlparse_cached(request)
        if parts.scheme not in _SCHEMES:
            raise AddressRefusedError(f"scheme {parts.scheme!r} is not http or https")
        if "@" in parts.netloc:
            raise AddressRefusedError(f"URL of {parts.hostname} carries credentials")
