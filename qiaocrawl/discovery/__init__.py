"""Finding a site's pages beside its links, and the traps where its links never end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiaocrawl import lazy_exports

if TYPE_CHECKING:
    from qiaocrawl.discovery.entries import Entry, EntryList
    from qiaocrawl.discovery.feeds import parse_feed
    from qiaocrawl.discovery.sitemaps import parse_sitemap, robots_sitemaps
    from qiaocrawl.discovery.url_sources import entry_moment, parse_url_source

__all__ = [
    "Entry",
    "EntryList",
    "entry_moment",
    "parse_url_source",
    "parse_feed",
    "parse_sitemap",
    "robots_sitemaps",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "entries": ("Entry", "EntryList"),
        "feeds": ("parse_feed",),
        "sitemaps": ("parse_sitemap", "robots_sitemaps"),
        "url_sources": ("entry_moment", "parse_url_source"),
    },
)
