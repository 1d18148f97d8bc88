"""The links of a page with their extended metadata (T5), canonical, each URL once.

T5 lists img, body and applet among the tags with links. What their attributes name are pictures
and programs, which are no pages: they are not followed **(ours)**. The picture inside a link gives
its alt text, name and address to the link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from qiaocrawl.items import Link
from qiaocrawl.page.sanitize import MAX_LINKS
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import canonical_host, looks_like_file, url_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

    from qiaocrawl.urls import UrlJoiner

# --- Where on the page a link stands: the elements around it, as a short name ---------------------

# Elements named; links of one list differ further in only.
_NEAR = 3
# Elements looked at for a landmark.
_FAR = 12
_MAX_NAME_CHARS = 24
_ENDS = ("body", "html", "-undef")
_LANDMARKS = frozenset(("nav", "header", "footer", "aside", "main", "article"))
_NUMBERS = re.compile(r"\d+")


class _Around:
    """An element around links: its tag, its node, and the one around it."""

    __slots__ = ("above", "name", "node", "tag")

    def __init__(self, node: LexborNode, tag: str) -> None:
        self.node = node
        self.tag = tag
        self.name = ""
        self.above: _Around | None = None


class Regions:
    """The regions of the links of one page.

    Links of a list stand in the same elements, so each element is looked at once. One object is
    for one tree, which must not change in between.
    """

    def __init__(self) -> None:
        self._seen: dict[int, _Around] = {}

    def of(self, node: LexborNode) -> str:
        """The three elements around *node*, innermost first, and the landmark they stand in.

        Such as ``li ul.news div.left main``; numbers in names are ``#``, since they count entries.
        """
        around = self._around(node.parent)
        names = []
        for level in range(_FAR):
            if around is None:
                break
            if level < _NEAR:
                if not around.name:
                    around.name = _name(around.node, around.tag)
                names.append(around.name)
            elif around.tag in _LANDMARKS:
                names.append(around.tag)
                break
            around = around.above
        return " ".join(names)

    def _around(self, node: LexborNode | None) -> _Around | None:
        """*node* with all around it; None where the page ends."""
        new: list[_Around] = []
        around = None
        while node is not None:
            key = node.mem_id
            if key in self._seen:
                around = self._seen[key]
                break
            tag = node.tag or ""
            if tag in _ENDS:
                break
            element = self._seen[key] = _Around(node, tag)
            new.append(element)
            node = node.parent
        for element in reversed(new):
            element.above = around
            around = element
        return around


def _name(node: LexborNode, tag: str) -> str:
    attributes = node.attributes
    word = (attributes.get("class") or attributes.get("id") or "").split(maxsplit=1)
    if not word:
        return tag
    return f"{tag}.{_NUMBERS.sub('#', word[0][:_MAX_NAME_CHARS])}"


# --- The links of a page with their extended metadata (T5), canonical, each URL once --------------

LINK_SELECTOR = "a[href],area[href],frame[src],iframe[src]"
LINK_TAGS = ("a", "area", "frame", "iframe")

MAX_CONTEXT_CHARS = 80
MAX_ANCHOR_CHARS = 200
MAX_TITLE_CHARS = 120
NEXT_TAG = "next"
"""``Link.tag`` of what the page itself calls its next page."""
_SIDE_CHARS = MAX_CONTEXT_CHARS // 2
# Nodes looked at for the text on one side: bounds the time on any markup.
_SIDE_NODES = 12
_NO_PAGE = ("javascript:", "mailto:", "tel:", "data:")
_PICTURE_NODES = 4
_RAW_CHARS = 4 * _SIDE_CHARS
_TEXT = "-text"
# What stands here is another link or no text: it says nothing about this link.
_NEIGHBOURS = frozenset(("a", "li", "ul", "ol", "nav", "script", "style", "-comment", "select"))


@dataclass(frozen=True, slots=True)
class LinkHarvest:
    """The links of one page, each URL once, and what was left out.

    ``found`` counts different page URLs, ``over_limit`` those beyond the limit, ``files``
    the different links to images, archives and documents, ``unread`` the links after the first
    MAX_LINKS, which are not looked at.
    """

    links: tuple[Link, ...]
    found: int
    over_limit: int
    files: int
    unread: int = 0


@dataclass(frozen=True, slots=True)
class LinkNodes:
    """Where the links of a page stand.

    Attributes:
        nodes: (tag, node) of every link, in document order.
        joiner: gives their canonical URLs.
        charset: of the page, in which its links' queries are written.
        source_chars: the length of the page's source.
        regions: tells where on the page each stands.
    """

    nodes: Sequence[tuple[str, LexborNode]]
    joiner: UrlJoiner
    charset: str
    source_chars: int
    regions: Regions


@dataclass(slots=True)
class _Entry:
    node: LexborNode
    tag: str
    attributes: dict[str, str | None]
    anchor: str


def harvest_links(page: LinkNodes, max_links: int) -> LinkHarvest:
    """At most *max_links* links of a page in document order.

    Of several links to one URL the first with a non-empty anchor counts (else the first).
    Links to the page itself by fragment, to scripts and to mail are none.
    """
    entries, files = _entries(page)
    chosen = tuple(
        _link(url, entry, page.regions) for url, entry in islice(entries.items(), max_links)
    )
    unread = max(len(page.nodes) - MAX_LINKS, 0)
    return LinkHarvest(chosen, len(entries), len(entries) - len(chosen), files, unread)


def _entries(page: LinkNodes) -> tuple[dict[str, _Entry], int]:
    join = page.joiner.canonical
    # Nested anchors (possible through <object>) would have their text copied over and over.
    text_budget = 4 * page.source_chars + 10_000
    entries: dict[str, _Entry] = {}
    files: set[str] = set()
    for tag, node in islice(page.nodes, MAX_LINKS):
        attributes = node.attributes
        href = _href(attributes, tag)
        url = join(href) if href else None
        if url is None:
            continue
        entry = entries.get(url)
        if "next" in (attributes.get("rel") or "").lower().split():
            tag = NEXT_TAG
        if entry is not None and NEXT_TAG in (tag, entry.tag):
            tag = entry.tag = NEXT_TAG
        # The first link with an anchor stays; only the mark of a next page is added to it.
        if entry is not None and entry.anchor:
            continue
        if looks_like_file(url):
            files.add(url)
            continue
        anchor = _anchor(node, attributes) if text_budget > 0 else ""
        text_budget -= len(anchor)
        if entry is None or anchor:
            entries[url] = _Entry(node, tag, attributes, anchor[:MAX_ANCHOR_CHARS])
    return entries, len(files)


def _link(url: str, entry: _Entry, regions: Regions) -> Link:
    attributes = entry.attributes
    title, rel = attributes.get("title"), attributes.get("rel")
    pictured = _picture(entry.node)
    name, names = attributes.get("name"), pictured.get("name")
    names = f"{name or ''} {names or ''}" if name or names else ""
    scripts = attributes.get("onmouseover") or pictured.get("onmouseover")
    return Link(
        url=url,
        key=url_key(url),
        host=canonical_host(url),
        anchor=entry.anchor,
        context=_context(entry.node),
        title=collapse(title)[:MAX_TITLE_CHARS] if title else "",
        tag=entry.tag,
        nofollow="nofollow" in (rel or "").lower(),
        region=regions.of(entry.node),
        name=collapse(names)[:MAX_TITLE_CHARS] if names else "",
        onmouseover=collapse(scripts)[:MAX_ANCHOR_CHARS] if scripts else "",
        src=_without_data(pictured.get("src") or "")[:MAX_ANCHOR_CHARS] if pictured else "",
    )


def _picture(node: LexborNode) -> dict[str, str | None]:
    """The attributes of the picture in a link, {} without one; only its first children count."""
    inner = node.first_child
    # Not by a selector, which costs more than all the rest of a link.
    for _ in range(_PICTURE_NODES):
        if inner is None:
            break
        if inner.tag == "img":
            return inner.attributes
        inner = inner.next
    return {}


def _without_data(address: str) -> str:
    """*address*, "" for one that is the picture itself."""
    return "" if address[:5].lower() == "data:" else address


def _href(attributes: dict[str, str | None], tag: str) -> str:
    """The link as written, or "" when it leads to no other page."""
    href = attributes.get("href" if tag in ("a", "area") else "src") or ""
    # [:11] is as long as the longest of them, "javascript:".
    if href[:1] == "#" or href[:11].lower().startswith(_NO_PAGE):
        return ""
    return href


def _anchor(node: LexborNode, attributes: dict[str, str | None]) -> str:
    text = collapse(node.text())
    if text:
        return text
    image = node.css_first("img[alt]") if node.first_child is not None else None
    alt = image.attributes.get("alt") if image is not None else attributes.get("alt")
    return collapse(alt or "")


def _context(node: LexborNode) -> str:
    """The text beside a link; beside its parent where the link stands alone."""
    before, after = _beside(node.prev, -1), _beside(node.next, 1)
    if not before and not after:
        parent = node.parent
        if parent is None or parent.tag in _NEIGHBOURS:
            return ""
        before, after = _beside(parent.prev, -1), _beside(parent.next, 1)
    return f"{before} {after}".strip()


def _beside(sibling: LexborNode | None, way: int) -> str:
    """Up to half a context of text at *sibling*, or past white space at the one after it."""
    if sibling is not None and sibling.tag == _TEXT:
        text = _clip(sibling.text_content, way)
        if text:
            return text
        sibling = sibling.next if way > 0 else sibling.prev
    if sibling is None or sibling.tag in _NEIGHBOURS:
        return ""
    return _clip(sibling.text_content if sibling.tag == _TEXT else _opening(sibling), way)


def _clip(text: str | None, way: int) -> str:
    if not text or text.isspace():
        return ""
    near = text.lstrip()[:_RAW_CHARS] if way > 0 else text.rstrip()[-_RAW_CHARS:]
    near = collapse(near)
    return near[:_SIDE_CHARS] if way > 0 else near[-_SIDE_CHARS:]


def _opening(element: LexborNode) -> str | None:
    """The first text inside *element*, unless a link or a script comes before it."""
    inner = element.first_child
    for _ in range(_SIDE_NODES):
        if inner is None:
            return None
        tag = inner.tag
        if tag == _TEXT:
            text = inner.text_content
            if text and not text.isspace():
                return text
            inner = inner.next
        elif tag in _NEIGHBOURS:
            return None
        else:
            inner = inner.first_child
    return None
