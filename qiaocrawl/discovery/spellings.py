"""Spellings of one address that stay distinct in canonical form, as on a few servers (F-T6).

A folder and its default page, double slashes, a bare ``sid=``: a crawl follows the one it
meets first. No URL is rewritten: the server gets the spelling that was found. A file under its
plain name is not remembered (most URLs are one): linked with ``sid=`` later, it is fetched again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import lru_cache

from qiaocrawl.urls import url_key

# "/index.html", "/Default.aspx", "/index.php5" at the end of a path.
_DEFAULT_PAGE = re.compile(
    r"/(?:index|default)\.(?:html?|aspx?|php\d?|phtml|cfm|cgi|jsp[xa]?|jsf|shtml)$", re.IGNORECASE
)
# "sid=3f2a": a session of forum software that was written into links.
_SESSION = re.compile(r"(?:^|(?<=&))sid=[0-9a-zA-Z]+(?:&|$)", re.IGNORECASE)
_SLASHES = re.compile(r"/{2,}")
_MAX_KNOWN = 200_000


def plain_spelling(canonical: str) -> str:
    """The one spelling that stands for all spellings of a page; it need not be linked anywhere."""
    scheme, _, rest = canonical.partition("://")
    rest, mark, query = rest.partition("?")
    path = _DEFAULT_PAGE.sub("/", _SLASHES.sub("/", rest))
    # rstrip: the session may have been the last parameter.
    if query and (plain_query := _SESSION.sub("", query).rstrip("&")) != query:
        mark, query = ("?" if plain_query else ""), plain_query
    return f"{scheme}://{path}{mark}{query}"


class Spellings:
    """Remembers which spelling of a page has a row; thread-safe."""

    def __init__(self) -> None:
        self._first: dict[bytes, str] = {}
        self._lock = threading.Lock()

    def earlier_spelling(self, url: str, here: dict[bytes, str]) -> str:
        """The spelling under which the page of canonical *url* was met before; "" for this one.

        Args:
            here: spellings met on the same page, which has not been stored yet; added to.
        """
        plain = _plain_key(url)
        if plain is None:
            return ""
        with self._lock:
            first = self._first.get(plain)
        first = here.setdefault(plain, url) if first is None else first
        return first if first != url else ""

    def remember(self, urls: Iterable[str]) -> None:
        """Remember that canonical *urls* have rows: their spelling is the one to follow."""
        spelt = [(plain, url) for url in urls if (plain := _plain_key(url)) is not None]
        if not spelt:
            return
        with self._lock:
            for plain, url in spelt:
                self._first.setdefault(plain, url)
                if len(self._first) > _MAX_KNOWN:
                    # The oldest is dropped; its page may then be fetched under two spellings.
                    del self._first[next(iter(self._first))]


# Cached: the links of a site's navigation stand on every page, and each is asked for twice a page.
@lru_cache(maxsize=8_192)
def _plain_key(url: str) -> bytes | None:
    """The key of a page whatever its spelling; None where there can be no other one."""
    plain = plain_spelling(url)
    # Only folders, queries and unusual spellings can have another one: most URLs need no entry.
    if plain == url and not url.endswith("/") and "?" not in url:
        return None
    return url_key(plain)
