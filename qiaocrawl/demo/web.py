"""The demo web: every page of every site by host and path, and what other paths answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from urllib.parse import urlsplit

from qiaocrawl.demo.articles import LOGIN_PATH, article_pages
from qiaocrawl.demo.feeds import feed_links, feed_pages, list_pages
from qiaocrawl.demo.frame import SiteFrame
from qiaocrawl.demo.happenings import is_happening, with_happenings
from qiaocrawl.demo.inventory import Site, load_furniture, load_sites
from qiaocrawl.demo.model import DemoPage, EngineSite, Gold, SiteRow, content_type, png_file
from qiaocrawl.demo.oddities import later_pages, oddities_of, soft_404
from qiaocrawl.demo.publishing import Posting, Publisher

SEED = 20261121
"""The seed of the demo that everybody sees."""

_MARKS = re.compile(r"(?<=[?&])(?:sid|spm|from|utm_\w+)=[^&]*&?")
_IMAGES = "/img/"


class DemoWeb:
    """A web of ``.test`` hosts that answers from memory.

    ``pages`` holds what exists by (host, path with query); ``sites`` the sites by host; ``later``
    what answers instead once :meth:`pass_time` was called.
    """

    def __init__(
        self,
        sites: Mapping[str, Site],
        pages: Mapping[tuple[str, str], DemoPage],
        frames: Mapping[str, SiteFrame],
        later: Mapping[tuple[str, str], DemoPage] | None = None,
    ) -> None:
        self.sites = sites
        self.pages = pages
        self.later = later or {}
        self.engines: dict[str, EngineSite] = {}
        self._frames = frames
        self._soft: dict[str, DemoPage] = {}
        self._is_later = False

    def add_engines(self, engines: Iterable[EngineSite]) -> None:
        """Let *engines* answer for their hosts."""
        self.engines.update({engine.host: engine for engine in engines})

    def pass_time(self) -> None:
        """From now on answer as a week later: some articles were corrected, one is deleted."""
        self._is_later = True

    def changing_urls(self) -> list[str]:
        """The addresses that answer otherwise then."""
        return [self.sites[host].url(path) for host, path in self.later]

    def gold(self) -> list[Gold]:
        """The truth about every page, in the order of the sites."""
        return [page.gold for page in self.pages.values() if page.gold is not None]

    def find(self, url: str) -> Gold | None:
        """The truth about *url*, whatever marks of visitors it carries; None if no such page."""
        parts = urlsplit(url)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        page = self._lookup(parts.hostname or "", target)
        return page.gold if page else None

    def respond(self, host: str, target: str, headers: Mapping[str, str] | None = None) -> DemoPage:
        """The answer to a GET of *target* (path and query) on *host* (a port may follow).

        Unknown paths answer as the site does: 404, a "not found" page with status 200, or a
        redirect home. Unknown hosts answer 421.
        """
        host = host.lower().partition(":")[0]
        target = target.partition("#")[0] or "/"
        if host in self.engines:
            return self.engines[host].respond(target, headers or {})
        if host not in self.sites:
            return _plain(421, f"no such host: {host}")
        page = self._lookup(host, target)
        if page is not None and page.gold is not None and self._is_later:
            path = page.gold.url.removeprefix(f"http://{host}")
            page = self.later.get((host, path), page)
        return page or self._unknown_page(host, target)

    def _lookup(self, host: str, target: str) -> DemoPage | None:
        page = self.pages.get((host, target))
        if page is None and "?" in target:
            page = self.pages.get((host, _MARKS.sub("", target).rstrip("?&")))
        if page is None and target.partition("?")[0] == LOGIN_PATH:
            page = self.pages.get((host, LOGIN_PATH))
        return page

    def _unknown_page(self, host: str, target: str) -> DemoPage:
        site = self.sites[host]
        if target.startswith(_IMAGES):
            return DemoPage(200, (("Content-Type", "image/png"),), png_file(64, 48))
        if target == "/robots.txt" or site.not_found == "hard":
            return _plain(404, "404 Not Found")
        if site.not_found == "home":
            return DemoPage(302, (("Location", "/"),), b"")
        if host not in self._soft:
            words = load_furniture()["soft_404"][0]
            self._soft[host] = soft_404(self._frames[host], "/404", words)
        return self._soft[host]


def build_web(seed: int = SEED, scale: float = 1.0, *, happenings: bool = True) -> DemoWeb:
    """The whole demo web, the same bytes for the same arguments.

    Args:
        seed: all chance comes from it.
        scale: factor on the number of articles of every channel, above 0.
        happenings: those of the last month too; what is learnt from the web's pages is without.

    Raises:
        ValueError: *scale* is not above 0.
    """
    if scale <= 0:
        raise ValueError(f"scale must be above 0, got {scale!r}")
    pages: dict[tuple[str, str], DemoPage] = {}
    frames: dict[str, SiteFrame] = {}
    later: dict[tuple[str, str], DemoPage] = {}
    postings = Publisher(seed, scale).publish()
    if happenings:
        postings = with_happenings(postings)
    for host, group in groupby(postings, key=lambda posting: posting.site.host):
        frames[host] = _print_site(seed, list(group), pages)
        later |= {(host, path): page for path, page in later_pages(seed, frames[host])}
    return DemoWeb({site.host: site for site in load_sites()}, pages, frames, later)


def demo_sites() -> list[SiteRow]:
    """The sites as a topic pack lists them: authoritative ones to crawl, targets to search."""
    return [
        SiteRow(site.host, site.name, site.role, site.tier, site.region, site.kind, site.url("/"))
        for site in load_sites()
    ]


def _print_site(
    seed: int, postings: list[Posting], pages: dict[tuple[str, str], DemoPage]
) -> SiteFrame:
    site = postings[0].site
    # What happened last leaves everything else as it was.
    oddities = oddities_of(seed, site, [own for own in postings if not is_happening(own)])
    strays = [(oddity.path, oddity.text) for oddity in oddities if oddity.text]
    strays += [(posting.path, posting.title) for posting in postings if not posting.robots_allowed]
    strays += feed_links(site)
    frame = SiteFrame(seed, site, postings, strays)
    site_pages = {**dict(list_pages(frame)), **dict(article_pages(frame))}
    site_pages |= feed_pages(site, postings)
    site_pages |= {oddity.path: oddity.build(frame) for oddity in oddities}
    pages.update({(site.host, path): page for path, page in site_pages.items()})
    return frame


def _plain(status: int, text: str) -> DemoPage:
    markup = f"<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>"
    return DemoPage(status, (content_type("text/html", "utf-8"),), markup.encode())
