"""The page: bytes become text and a tree once, and everything else is read from them."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qiaocrawl.items import Link
from qiaocrawl.page.blocks import PageBlocks, block_digests, blocks_of
from qiaocrawl.page.hidden import MARKED, place_streamed_parts, sight_of
from qiaocrawl.page.lines import SourceLines, is_single_line, source_lines, with_block_lines
from qiaocrawl.page.links import (
    LINK_SELECTOR,
    LINK_TAGS,
    LinkHarvest,
    LinkNodes,
    Regions,
    harvest_links,
)
from qiaocrawl.page.sanitize import sanitize_html
from qiaocrawl.text.charset import Decoded, decode_page
from qiaocrawl.text.normalise import collapse
from qiaocrawl.urls import UrlJoiner, canonical_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

# --- The metadata in a page's markup: meta, JSON-LD, refresh, canonical link ----------------------

MAX_META_CHARS = 2000
MAX_JSON_LD_BLOCKS = 8
MAX_JSON_LD_CHARS = 1_000_000
"""Of all scripts of a page; a live blog's declares every one of its entries."""
_MAX_JSON_LD_OBJECTS = 64
_META_KINDS = frozenset(("name", "property", "itemprop", "http-equiv"))
# Not strict: line breaks inside strings are common and harmless.
_JSON = json.JSONDecoder(strict=False)
_JSON_BEGIN = re.compile(r"(?<!CDATA)(?:\{|\[\s*\{)")
# A comma before a closing bracket, as hand-written templates leave.
_SURPLUS_COMMA = re.compile(r",\s*(?=[}\]])")
# "5; url=/x.html", "0;URL='x'"
_REFRESH = re.compile(
    r"""(?>[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?)(?:"([^"]*)"?|'([^']*)'?|([^"'\s][^\s]*))""",
    re.IGNORECASE,
)


def meta_of(nodes: Iterable[LexborNode]) -> dict[str, str]:
    """name, property, itemprop or http-equiv (lower case) -> content; the first one counts."""
    meta: dict[str, str] = {}
    for node in nodes:
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            continue
        for kind, name in attributes.items():
            if name and kind in _META_KINDS:
                name = name.strip().lower()
                if name not in meta:
                    meta[name] = collapse(content[:MAX_META_CHARS])
    return meta


def json_ld_of(scripts: Iterable[LexborNode]) -> list[dict[str, Any]]:
    """The objects of all ``application/ld+json`` scripts, graphs opened; broken ones skipped."""
    objects: list[dict[str, Any]] = []
    blocks, chars_left = 0, MAX_JSON_LD_CHARS
    for script in scripts:
        if "ld+json" not in (script.attributes.get("type") or "").lower():
            continue
        blocks += 1
        if blocks > MAX_JSON_LD_BLOCKS:
            break
        written = script.text()
        if len(written) <= chars_left:
            chars_left -= len(written)
            objects.extend(_objects(written))
    return objects[:_MAX_JSON_LD_OBJECTS]


def _objects(written: str) -> Iterator[dict[str, Any]]:
    data = _decode_json(written)
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            yield from (o for o in graph if isinstance(o, dict)) if isinstance(graph, list) else ()


def _decode_json(written: str) -> Any:
    """The JSON in *written*, whatever stands around it (comments, CDATA marks); None for none."""
    begin = _JSON_BEGIN.search(written)
    if begin is None:
        return None
    try:
        return _JSON.raw_decode(written, begin.start())[0]
    except ValueError:
        written = _SURPLUS_COMMA.sub("", written[begin.start() :])
    except RecursionError:
        return None
    try:
        return _JSON.raw_decode(written)[0]
    except (ValueError, RecursionError):
        return None  # not JSON: the page's fault, and the visible text remains


def refresh_target(content: str, joiner: UrlJoiner) -> str:
    """The canonical URL a meta refresh leads to, "" when it only reloads."""
    match = _REFRESH.match(content.strip())
    target = next((group for group in match.groups() if group), "") if match else ""
    return (joiner.canonical(target) or "") if target else ""


def header_refresh(value: str, joiner: UrlJoiner) -> str:
    """The canonical URL a ``Refresh:`` header leads to, "" when it only reloads or is not there."""
    # Header bytes were read as latin-1; an address has them as they were sent.
    written = quote(value.encode("latin-1", "replace"), safe=string.printable)
    return refresh_target(written, joiner) if written else ""


def safe_base(href: str, url: str) -> str:
    """The base a ``<base href>`` sets, or *url* when it is hostile or nonsense.

    Only http and https bases count: ``file:``, ``data:`` or ``javascript:`` would turn every
    relative link of the page into something no crawler may open.
    """
    return canonical_url(href, url) or url


# --- The page: bytes become text and a tree once, and everything else is read from them -----------

# A pass over the tree takes time, and every node it finds. So what all pages are asked for is
# found in one pass, and what only a crawl or a page with little text needs in two others.
_USUAL = (
    'meta,base[href],title,h1,time,script[type*="ld+json" i],link[rel*="canonical" i],'
    f'abbr[class][title],[itemprop^="date" i],[property*="date" i],{MARKED}'
)
_USUAL_TAGS = frozenset(("meta", "base", "title", "h1", "time", "script", "link", "abbr"))
_DATED = re.compile("date(?:published|modified|created|updated)|issued|pubdate")
_LINKS = f"{LINK_SELECTOR},link[rel]"
_SELDOM = "script,input[type]"
_FRAMES = re.compile(r"</?(?:frameset|noframes)\b[^>]*>", re.IGNORECASE)
MAX_TITLE_CHARS = 500
T = TypeVar("T")


class Page:
    """One parsed page. Build it with :func:`parse_page`; every view is worked out at most once.

    Attributes:
        url: where the page was fetched (after redirects).
        source: the decoded markup, as it was parsed.
        charset, charset_source, replaced: see :class:`qiaocrawl.text.charset.Decoded`.
        notes: what had to be dropped before parsing, in words; empty for ordinary pages.
        tree: the lexbor tree; not to be changed.
    """

    def __init__(self, decoded: Decoded, url: str) -> None:
        self.url = url
        self.charset = decoded.charset
        self.charset_source = decoded.source
        self.replaced = decoded.replaced
        self.source, self.notes = sanitize_html(decoded.text)
        self.tree = LexborHTMLParser(self.source)
        place_streamed_parts(self.tree, self.source)
        self._results: dict[Any, Any] = {}

    def once(self, work: Callable[[Page], T]) -> T:
        """``work(self)``, worked out at the first call; for views made in other packages."""
        if work not in self._results:
            self._results[work] = work(self)
        result: T = self._results[work]
        return result

    @cached_property
    def _usual_nodes(self) -> list[LexborNode]:
        return self.tree.css(_USUAL)

    @cached_property
    def _usual(self) -> dict[str, list[LexborNode]]:
        return _by_tag(self._usual_nodes)

    @cached_property
    def _seldom(self) -> dict[str, list[LexborNode]]:
        return _by_tag(self.tree.css(_SELDOM))

    @cached_property
    def _links(self) -> list[tuple[str, LexborNode]]:
        links = [(node.tag or "", node) for node in self.tree.css(_LINKS)]
        # Pages of frames repeat their links in <noframes>, which the parser leaves out.
        if any(tag == "frame" for tag, _ in links):
            links += [(node.tag or "", node) for node in self._without_frames.css("a[href]")]
        return links

    @cached_property
    def _without_frames(self) -> LexborHTMLParser:
        """What a page of frames shows where there are none; the tree leaves it out."""
        return LexborHTMLParser(_FRAMES.sub("", self.source))

    def nodes(self, tag: str) -> Sequence[LexborNode]:
        """The meta, base, title, h1, time, script or input nodes, in document order.

        Of links those that are canonical, of abbreviations those with a class and a title.
        """
        by_tag = self._seldom if tag in ("script", "input") else self._usual
        return by_tag.get(tag, ())

    @cached_property
    def dated_nodes(self) -> list[tuple[str, LexborNode]]:
        """(name, node) of the elements whose ``itemprop`` or ``property`` is a date.

        Without ``<meta>`` and ``<time>``; the name is in lower case.
        """
        nodes = [
            (name.lower(), node)
            for node in self._usual_nodes
            if node.tag not in _USUAL_TAGS
            and (name := node.attributes.get("itemprop") or node.attributes.get("property"))
        ]
        return [(name, node) for name, node in nodes if _DATED.search(name)]

    @cached_property
    def link_nodes(self) -> Sequence[tuple[str, LexborNode]]:
        """(tag, node) of every link, in document order."""
        return [link for link in self._links if link[0] in LINK_TAGS]

    @property
    def head_and_links(self) -> Sequence[tuple[str, LexborNode]]:
        """(tag, node) of every link and of every ``<link rel>``, in document order."""
        return self._links

    @cached_property
    def regions(self) -> Regions:
        """Tells where on the page its links stand."""
        return Regions()

    @cached_property
    def joiner(self) -> UrlJoiner:
        """Gives the canonical URLs of the page's links and pictures."""
        return UrlJoiner(self.base_url, self.charset)

    @cached_property
    def lines(self) -> SourceLines:
        """The source lines with their text; blocks are lines where the source has no line ends."""
        source = self.source
        return source_lines(with_block_lines(source) if is_single_line(source) else source)

    @cached_property
    def texts(self) -> list[str]:
        """The visible text of every line that has any."""
        return [text for text in self.lines.texts if text]

    @cached_property
    def blocks(self) -> PageBlocks:
        """The blocks of the body in document order, and the elements that hold them."""
        body = self.tree.body
        return blocks_of(body, sight_of(body, self._usual_nodes, self.title))

    @cached_property
    def block_digests(self) -> NDArray[np.uint64]:
        """One digest a block, alike for the same text in the same kind of place."""
        return block_digests(self.blocks)

    @cached_property
    def base_url(self) -> str:
        """What relative links are resolved against: ``<base href>`` unless it is hostile."""
        bases = self.nodes("base")
        href = (bases[0].attributes.get("href") or "").strip() if bases else ""
        return safe_base(href, self.url) if href else self.url

    @cached_property
    def meta(self) -> dict[str, str]:
        """name, property, itemprop or http-equiv (lower case) -> content."""
        return meta_of(self.nodes("meta"))

    @cached_property
    def json_ld(self) -> list[dict[str, Any]]:
        """JSON-LD objects, at most 64."""
        return json_ld_of(self._usual.get("script", ()))

    @cached_property
    def title(self) -> str:
        """The first ``<title>``, on one line; "" if there is none."""
        titles = self.nodes("title")
        return collapse(titles[0].text())[:MAX_TITLE_CHARS] if titles else ""

    @cached_property
    def canonical(self) -> str:
        """The canonical form of :attr:`url`; "" for what is no page URL."""
        return canonical_url(self.url) or ""

    @cached_property
    def canonical_link(self) -> str:
        """The canonical form of ``<link rel=canonical>``, or ""."""
        for node in self.nodes("link"):
            attributes = node.attributes
            if "canonical" in (attributes.get("rel") or "").lower().split():
                return self.joiner.canonical(attributes.get("href") or "") or ""
        return ""

    @cached_property
    def refresh_url(self) -> str:
        """Where a meta refresh leads, or "" when there is none or it only reloads."""
        target = refresh_target(self.meta.get("refresh", ""), self.joiner)
        return "" if target == self.canonical else target

    def harvest(self, max_links: int) -> LinkHarvest:
        """Links with their extended metadata, and counts of what was left out."""
        links = LinkNodes(
            self.link_nodes, self.joiner, self.charset, len(self.source), self.regions
        )
        return harvest_links(links, max_links)

    def links(self, max_links: int) -> list[Link]:
        """At most *max_links* links in document order, each URL once."""
        return list(self.harvest(max_links).links)


def parse_page(body: bytes, content_type: str = "", url: str = "") -> Page:
    """Decode and parse *body*; never raises for what a page may hold.

    Args:
        body: the bytes after content decoding.
        content_type: the Content-Type header, or "".
        url: the page's own URL; "" leaves relative links unresolved.
    """
    return Page(decode_page(body, content_type), url)


def _by_tag(nodes: Iterable[LexborNode]) -> dict[str, list[LexborNode]]:
    by_tag: dict[str, list[LexborNode]] = {}
    for node in nodes:
        by_tag.setdefault(node.tag or "", []).append(node)
    return by_tag


# --- What a page asks of robots, all or this one: meta tags and ``X-Robots-Tag`` headers ----------
# The form is Google's (*Robots meta tag, data-nosnippet, and X-Robots-Tag specifications*): words
# with commas between; a header may begin with the name of the robot it is meant for.

PRODUCT_TOKEN = "qiaocrawl"
_HEADER = "x-robots-tag"
# "name: rest", unless the name is a directive that has a value of its own.
_NAMED = re.compile(r"\s*([a-z][\w-]*)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset(
    {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """``nofollow``: no link of the page is to be followed; ``noindex``: no public index."""

    nofollow: bool = False
    noindex: bool = False


def robots_tags(meta: Mapping[str, str], headers: Iterable[tuple[str, str]] = ()) -> RobotsTags:
    """The wishes to all robots and to this one; those to other robots do not matter.

    Args:
        meta: name (lower case) -> content of the page's meta tags.
        headers: of the answer, names in lower case.
    """
    words: set[str] = set()
    for name in ("robots", PRODUCT_TOKEN):
        words |= _directives(meta.get(name, ""))
    for name, value in headers:
        if name == _HEADER:
            words |= _directives(_ours(value.lower()))
    # "none" means both "nofollow" and "noindex".
    nothing = "none" in words
    return RobotsTags("nofollow" in words or nothing, "noindex" in words or nothing)


def _ours(value: str) -> str:
    """The directives of a header; none if it names another robot."""
    named = _NAMED.match(value)
    if named is None or named[1] in _WITH_VALUE:
        return value
    return named[2] if named[1] == PRODUCT_TOKEN else ""


def _directives(text: str) -> set[str]:
    return {part.strip() for part in text.lower().split(",")}
