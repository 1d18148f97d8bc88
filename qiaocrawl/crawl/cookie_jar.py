"""The cookie jars of a crawl: bounded, and stricter than Python's own."""

from __future__ import annotations

from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import Any

from scrapy.http.cookies import CookieJar

# As browsers and RFC 6265 (6.1) bound it; every request carries all cookies of its domain.
_MAX_COOKIE_CHARS = 4096
_MAX_COOKIES = 180


class _BoundedPolicy(DefaultCookiePolicy):
    """Refuses cookies that are too long, and further ones of a domain that has set too many."""

    def __init__(self) -> None:
        super().__init__(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain)
        self.jar = CookieJar(self)

    def set_ok(self, cookie: Cookie, request: Any) -> bool:
        """Whether *cookie* may be kept."""
        # Longer than browsers accept: a site that sends it does not mean it for them.
        if len(cookie.name) + len(cookie.value or "") > _MAX_COOKIE_CHARS:
            return False
        paths = self.jar._cookies.get(cookie.domain, {})
        # A cookie that is there already is replaced, so it takes no further place.
        is_new = cookie.name not in paths.get(cookie.path, {})
        if is_new and sum(map(len, paths.values())) >= _MAX_COOKIES:
            return False
        return super().set_ok(cookie, request)


def new_jar() -> CookieJar:
    """An empty jar that keeps a cookie without a domain at its host (RFC 6265, 5.3).

    Python's own sends it to every subdomain as well (faults F-C1). It is bounded, so that a host
    that sets cookies without end costs no more with each page.
    """
    return _BoundedPolicy().jar
