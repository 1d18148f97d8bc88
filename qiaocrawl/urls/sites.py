"""Whether a host belongs to a site."""

from __future__ import annotations

_WWW = "www."


def in_site(host: str, site: str) -> bool:
    """Whether *host* is *site*, its ``www.`` twin or a subdomain of it.

    Both are host names as :func:`~qiaocrawl.urls.host_of` gives them; a port counts, so
    ``a.com:8080`` is not in ``a.com``.
    """
    base = site.removeprefix(_WWW)
    return host in (site, base) or host.endswith(f".{base}")
