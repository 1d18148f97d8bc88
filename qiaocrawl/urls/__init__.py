"""URLs: the canonical form, its 16-byte key, hosts and registrable domains. No I/O."""

from __future__ import annotations

from qiaocrawl.urls.canonical import (
    MAX_URL_CHARS,
    UrlJoiner,
    canonical_url,
    url_key,
    without_feed_scheme,
)
from qiaocrawl.urls.hosts import (
    canonical_host,
    host_of,
    in_site,
    looks_like_document,
    looks_like_file,
    registrable_domain,
)

__all__ = [
    "MAX_URL_CHARS",
    "UrlJoiner",
    "canonical_host",
    "canonical_url",
    "host_of",
    "in_site",
    "looks_like_document",
    "looks_like_file",
    "registrable_domain",
    "url_key",
    "without_feed_scheme",
]
