"""Feeds, sitemaps, robots.txt, home pages and lists of the demo's sites."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from email.utils import format_datetime
from html import escape

from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.furniture import channel_path
from qiaocrawl.demo.inventory import Site
from qiaocrawl.demo.model import DemoPage, Gold, Kind, script_converter
from qiaocrawl.demo.publishing import Posting

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


# --- Renders the home page and the paged lists of a site, and pages that only say something -------

_HOME_ITEMS = 6
# Characters of a title that one-line lists show, and of the first words below one.
_SHORT_TITLE, _SUMMARY = 20, 60


def list_pages(frame: SiteFrame) -> Iterator[tuple[str, DemoPage]]:
    """The home page and every list page of every channel, by path."""
    yield "/", _home(frame)
    for position in range(len(frame.site.channels)):
        newest = _newest(frame, position)
        size = frame.site.per_page
        chunks = [newest[at : at + size] for at in range(0, len(newest), size)]
        for number, chunk in enumerate(chunks, start=1):
            pager = _pager(frame, position, number, len(chunks))
            path = channel_path(frame.site, position, number)
            yield path, _list(frame, path, position, chunk, pager)


def notice_page(frame: SiteFrame, path: str, kind: Kind, heading: str, markup: str) -> DemoPage:
    """A page of the site's look that says *markup*: a form, a "not found", a calendar."""
    slots = frame.furniture.slots(frame.rng(path))
    main = f"<div><h2>{escape(frame.text(heading))}</h2>\n{frame.text(markup)}\n</div>"
    # A theme made of table rows would lose a bare div.
    if frame.theme.sections["list"].template.startswith("<tr>"):
        main = f"<tr><td colspan=2>{main}</td></tr>"
    return frame.plain_page(path, kind, slots, main, heading)


def _newest(frame: SiteFrame, position: int) -> list[Posting]:
    channel = frame.site.channels[position]
    listed = [posting for posting in frame.postings if posting.robots_allowed]
    return [posting for posting in listed if posting.channel is channel][::-1]


def _list(
    frame: SiteFrame, path: str, position: int, chunk: Sequence[Posting], pager: str
) -> DemoPage:
    channel = frame.site.channels[position]
    slots = {
        **frame.furniture.slots(frame.rng(path), channel.slug),
        "channel": frame.text(channel.name),
        "channel_url": escape(channel_path(frame.site, position)),
        "items": "\n".join(_item(frame, posting) for posting in chunk),
        "listpager": pager,
    }
    main = frame.theme.fill("list", slots)
    return frame.plain_page(path, Kind.LIST, slots, main, channel.name)


def _item(frame: SiteFrame, posting: Posting) -> str:
    title = frame.text(posting.title)
    short = title if len(title) <= _SHORT_TITLE else title[:_SHORT_TITLE] + "…"
    return frame.furniture.row(
        "item",
        posting.path,
        posting.title,
        date=posting.published_at.strftime("%Y-%m-%d"),
        short_text=escape(short),
        summary=escape(frame.text(posting.lines[0][:_SUMMARY])),
    )


def _pager(frame: SiteFrame, position: int, number: int, count: int) -> str:
    if count == 1:
        return ""
    pages = [(page, str(page)) for page in range(1, count + 1)]
    if number > 1:
        pages.insert(0, (number - 1, "上一页"))
    if number < count:
        pages.append((number + 1, "下一页"))
    links = [
        f'<a href="{escape(channel_path(frame.site, position, page))}">{frame.text(text)}</a>'
        for page, text in pages
    ]
    return f'<div class="pagebar">{" ".join(links)}</div>'


def _home(frame: SiteFrame) -> DemoPage:
    blocks = [_block(frame, position) for position in range(len(frame.site.channels))]
    extras = [frame.furniture.row("rel", path, text) for path, text in frame.strays]
    slots = {
        **frame.furniture.slots(frame.rng("/")),
        "blocks": "\n".join(blocks),
        "extras": "\n".join(extras),
    }
    return frame.plain_page("/", Kind.HOME, slots, frame.theme.fill("home", slots), "")


def _block(frame: SiteFrame, position: int) -> str:
    rng = frame.rng(f"/#{position}")
    rows = [
        frame.furniture.row("rel", frame.furniture.href(rng, posting.path), posting.title)
        for posting in _newest(frame, position)[:_HOME_ITEMS]
    ]
    values = {
        "channel": frame.text(frame.site.channels[position].name),
        "channel_url": escape(channel_path(frame.site, position)),
        "items": "\n".join(rows),
    }
    return frame.theme.fill("block", values)
