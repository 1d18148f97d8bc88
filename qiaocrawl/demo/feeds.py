"""Feeds, sitemaps and robots.txt of the sites that have them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from email.utils import format_datetime
from html import escape

from qiaocrawl.demo.inventory import Site
from qiaocrawl.demo.model import DemoPage, Gold, Kind
from qiaocrawl.demo.publishing import Posting
from qiaocrawl.demo.script import script_converter

_FEED_ITEMS = 15
_XML = '<?xml version="1.0" encoding="utf-8"?>\n'
_SITEMAP_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def feed_pages(site: Site, postings: Sequence[Posting]) -> Iterator[tuple[str, DemoPage]]:
    """Every feed, sitemap and robots.txt of *site*, by its features."""
    listed = [posting for posting in postings if posting.robots_allowed]
    if site.robots:
        yield "/robots.txt", _page(site, "/robots.txt", Kind.ROBOTS, "text/plain", site.robots)
    if "rss" in site.features:
        for channel in site.channels:
            newest = [posting for posting in listed if posting.channel is channel]
            path = f"/rss/{channel.slug}.xml"
            text = _rss(site, channel.name, newest[: -_FEED_ITEMS - 1 : -1])
            yield path, _page(site, path, Kind.FEED, "application/rss+xml", text)
    if "atom" in site.features:
        text = _atom(site, listed[: -_FEED_ITEMS - 1 : -1])
        yield "/feed/atom", _page(site, "/feed/atom", Kind.FEED, "application/atom+xml", text)
    yield from _sitemaps(site, listed)


def feed_links(site: Site) -> list[tuple[str, str]]:
    """Path and link text of every feed of *site*."""
    links = [("/feed/atom", "Atom订阅")] if "atom" in site.features else []
    if "rss" in site.features:
        links += [
            (f"/rss/{channel.slug}.xml", f"RSS订阅：{channel.name}") for channel in site.channels
        ]
    return links


def _sitemaps(site: Site, listed: Sequence[Posting]) -> Iterator[tuple[str, DemoPage]]:
    if "sitemap" in site.features:
        yield "/sitemap.xml", _sitemap(site, "/sitemap.xml", listed)
    if "sitemap_gz" in site.features:
        yield "/sitemap_news.xml.gz", _sitemap(site, "/sitemap_news.xml.gz", listed)
    if "sitemap_index" in site.features:
        paths = ("/sitemap-1.xml", "/sitemap-2.xml.gz")
        rows = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>\n" for path in paths)
        text = f"{_XML}<sitemapindex {_SITEMAP_SPACE}>\n{rows}</sitemapindex>\n"
        page = _page(site, "/sitemap.xml", Kind.SITEMAP, "application/xml", text)
        yield "/sitemap.xml", page
        for path, part in zip(paths, (listed[::2], listed[1::2]), strict=True):
            yield path, _sitemap(site, path, part)


def _rss(site: Site, name: str, postings: Sequence[Posting]) -> str:
    convert = script_converter(site.script)
    items = "".join(
        f"<item><title>{escape(convert(posting.title))}</title>"
        f"<link>{escape(site.url(posting.path))}</link>"
        f"<pubDate>{format_datetime(posting.published_at)}</pubDate>"
        f"<description>{escape(convert(posting.lines[0][:60]))}……</description></item>\n"
        for posting in postings
    )
    head = f"<title>{convert(f'{site.name} {name}')}</title><link>{site.url('/')}</link>"
    return (
        f'{_XML}<rss version="2.0"><channel>{head}<description>{convert(name)}</description>\n'
        f"{items}</channel></rss>\n"
    )


def _atom(site: Site, postings: Sequence[Posting]) -> str:
    entries = "".join(
        f"<entry><title>{escape(posting.title)}</title><id>{site.url(posting.path)}</id>"
        f'<link href="{site.url(posting.path)}"/>'
        f"<updated>{posting.published_at.isoformat()}</updated>"
        f"<author><name>{posting.author}</name></author></entry>\n"
        for posting in postings
    )
    updated = postings[0].published_at.isoformat()
    head = f"<title>{site.name}</title><id>{site.url('/')}</id><updated>{updated}</updated>"
    return f'{_XML}<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}</feed>\n'


def _sitemap(site: Site, path: str, postings: Sequence[Posting]) -> DemoPage:
    rows = "".join(
        f"<url><loc>{escape(site.url(posting.path))}</loc>"
        f"<lastmod>{posting.published_at.date()}</lastmod></url>\n"
        for posting in postings
    )
    text = f"{_XML}<urlset {_SITEMAP_SPACE}>\n{rows}</urlset>\n"
    return _page(site, path, Kind.SITEMAP, "application/xml", text)


def _page(site: Site, path: str, kind: Kind, content_type: str, text: str) -> DemoPage:
    gold = Gold(site.url(path), kind, "utf-8")
    body = text.encode("utf-8")
    header = f"{content_type}; charset=utf-8"
    if path.endswith(".gz"):
        # No time stamp inside: the same seed gives the same bytes.
        body, header = gzip.compress(body, mtime=0), "application/gzip"
    return DemoPage(200, (("Content-Type", header),), body, gold)
