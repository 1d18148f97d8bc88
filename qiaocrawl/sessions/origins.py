"""Origins as browsers have them: scheme, host and port."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from qiaocrawl.urls.hosts import SUFFIX_LIST

# A backslash is a slash to browsers and Scrapy, but part of a user name to urlsplit:
# https://evil.cn\@good.cn/ would be judged as good.cn and sent to evil.cn.
_AMBIGUOUS = re.compile(r"[\\\x00-\x20\x7f]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def without_query(url: str) -> str:
    """*url* as messages may show it: its query may hold a ticket."""
    return url.partition("?")[0]


class Origin(NamedTuple):
    """Scheme, lower-case host and port, which is never left open."""

    scheme: str
    host: str
    port: int

    @property
    def netloc(self) -> str:
        """Host, with its port where that is not the scheme's own."""
        usual = self.port == _DEFAULT_PORTS[self.scheme]
        return self.host if usual else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}"


def origin_of(url: str) -> Origin | None:
    """The origin of an http or https *url*; None for anything else.

    None also for URLs that other software might read as another origin than this check does.
    """
    # The port is read lazily, and raises for "https://a.cn:x/".
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in _DEFAULT_PORTS or not host or _AMBIGUOUS.search(parts.netloc):
        return None
    return Origin(scheme, host, port or _DEFAULT_PORTS[scheme])


def is_same_origin(one: str, other: str) -> bool:
    """Whether both URLs are of one origin; False when either has none."""
    origin = origin_of(one)
    return origin is not None and origin == origin_of(other)


def joined(base: str, written: str) -> str:
    """The address *written* on a page at *base*; "" where it is none."""
    try:
        return urljoin(base, written.strip())
    except ValueError:
        return ""


def is_public_suffix(domain: str) -> bool:
    """Whether nobody owns *domain* as a whole: ``com.cn``, ``github.io`` (private rules count).

    Under a top-level domain the list lacks only that domain itself is one (its rule ``*``).
    """
    name = domain.lstrip(".").lower().rstrip(".")
    parts = SUFFIX_LIST(name)
    # Addresses have no suffix; tldextract would call them one.
    if parts.ipv4 or parts.ipv6:
        return False
    # No domain above the suffix, or a single word such as "localhost".
    return not parts.domain or name == parts.suffix or "." not in name
