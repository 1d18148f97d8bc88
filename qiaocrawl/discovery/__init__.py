"""Where a site's pages are found beside its links, and where its links lead without end."""

from __future__ import annotations

from qiaocrawl.discovery.entries import Entry, EntryList
from qiaocrawl.discovery.feeds import read_feed
from qiaocrawl.discovery.sitemaps import read_sitemap, robots_sitemaps
from qiaocrawl.discovery.url_sources import entry_moment, read_entrance

__all__ = [
    "Entry",
    "EntryList",
    "entry_moment",
    "read_entrance",
    "read_feed",
    "read_sitemap",
    "robots_sitemaps",
]
