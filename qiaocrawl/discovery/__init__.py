"""Finding a site's pages beside its links, and the traps where its links never end.

:func:`parse_feed`, :func:`parse_sitemap` and :func:`robots_sitemaps` are doors for everyone who
has such a file and no crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiaocrawl.discovery.url_sources import parse_feed, parse_sitemap, robots_sitemaps

__all__ = ["parse_feed", "parse_sitemap", "robots_sitemaps"]


def __getattr__(name: str) -> Any:
    # On demand: most importers need one module of this package, and no parser of XML.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from qiaocrawl.discovery import url_sources

    return getattr(url_sources, name)
