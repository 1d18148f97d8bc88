"""Sites that a navigation page, bookmarks of a browser or OPML name, for people to judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from qiaocrawl.page import parse_page
from qiaocrawl.text.normalise import collapse
from qiaocrawl.text.opml import outlines_in
from qiaocrawl.urls import canonical_url, host_of

_MOST_LINKS = 10_000
_MOST_NAME_CHARS = 100
# Links within the page itself lead here: whose page it is, nobody said.
_OWN = "http://navigation.invalid/"


@dataclass(frozen=True, slots=True)
class NamedSite:
    """A site by the address that is its first page or nearest to it; *links*: how many lead there.

    Attributes:
        name: as it is called there; "" where nothing is said.
    """

    url: str
    name: str
    links: int


class NamedSites(NamedTuple):
    """The sites a file names; *is_cut*: it has more links than are read."""

    sites: list[NamedSite]
    is_cut: bool


def sites_in(data: bytes) -> NamedSites:
    """The sites that *data* names, each host once, in the order they come.

    A page of HTML, bookmarks as browsers export them (which are HTML), or OPML. No bytes raise.
    """
    named: dict[str, NamedSite] = {}
    links = _outlines(data)
    if links:
        links, is_cut = links[:_MOST_LINKS], len(links) > _MOST_LINKS
    else:
        harvest = parse_page(data, url=_OWN).harvest(_MOST_LINKS)
        links = [(link.url, link.anchor) for link in harvest.links]
        is_cut = bool(harvest.unread or harvest.over_limit)
    for address, text in links:
        url = canonical_url(address.strip())
        if url is None or url.startswith(_OWN):
            continue
        host, name = host_of(url), collapse(text)[:_MOST_NAME_CHARS]
        known = named.get(host)
        if known is None:
            named[host] = NamedSite(url, name, 1)
            continue
        # Of several pages of a site the one nearest to its first, called as it is there.
        nearer = _depth(url) < _depth(known.url)
        named[host] = NamedSite(
            url if nearer else known.url,
            (name if nearer else "") or known.name or name,
            known.links + 1,
        )
    return NamedSites(list(named.values()), is_cut)


def _depth(url: str) -> tuple[int, int]:
    parts = urlsplit(url)
    return len([part for part in parts.path.split("/") if part]), len(parts.query)


def _outlines(data: bytes) -> list[tuple[str, str]]:
    """Addresses and names of OPML; none for anything else."""
    found = []
    for _line, given in outlines_in(data) or ():
        # The site itself, where a feed names one.
        address = given.get("htmlurl") or given.get("url") or given.get("xmlurl", "")
        if address:
            found.append((address, given.get("title") or given.get("text", "")))
    return found
