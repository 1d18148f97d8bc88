"""Hosts and registrable domains."""

from __future__ import annotations

from functools import lru_cache

import tldextract

from qiaocrawl.urls.canonical import canonical_url

# The Public Suffix List's snapshot inside the package: no download, no cache folder.
# With private suffixes, since sites under github.io belong to different owners.
SUFFIX_LIST = tldextract.TLDExtract(
    cache_dir=None, suffix_list_urls=(), fallback_to_snapshot=True, include_psl_private_domains=True
)


def canonical_host(canonical: str) -> str:
    """The host of an already canonical URL: text work only."""
    return canonical.split("/", 3)[2]


def host_of(url: str) -> str:
    """The host of *url*: lower case, punycode, the port only when not the default; "" if none."""
    canonical = canonical_url(url)
    return canonical_host(canonical) if canonical else ""


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """The domain someone registered (``news.example.com.cn`` -> ``example.com.cn``).

    A port is ignored. Addresses, single labels and bare suffixes come back as they are. Under
    a top-level domain that the list lacks (``.test``, an intranet's) it is the last two labels,
    as the list's own algorithm has it (its rule ``*``).
    """
    # "[::1]:8080" has colons in its host.
    name = host if host.startswith("[") else host.partition(":")[0]
    name = name.lower().rstrip(".")
    parts = SUFFIX_LIST(name)
    if parts.suffix or parts.ipv4 or parts.ipv6:
        return parts.top_domain_under_public_suffix or name
    return ".".join(name.split(".")[-2:])
