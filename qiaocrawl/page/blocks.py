"""The blocks of a page: runs of text between block borders, and the elements that hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from selectolax.lexbor import LexborNode

_HIDDEN = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "textarea",
        "select",
        "svg",
        "iframe",
        "object",
        "head",
        "button",
        "datalist",
        "map",
        "canvas",
        "audio",
        "video",
        "-comment",
        "math",
        # How the characters of <ruby> are read.
        "rp",
        "rt",
        "rtc",
    )
)
# Inline elements: a block runs on through them.
_RUNNING = frozenset(
    ("abbr", "acronym", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
     "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "ruby", "s", "samp",
     "small", "span", "strike", "sub", "sup", "time", "tt", "u", "var", "wbr")
)  # fmt: skip
# From _INLINE on all are inline elements: one comparison tells them apart.
SKIP, TEXT, BREAK, IMAGE, BLOCK, _INLINE, _LINK, _STRONG = range(8)
# What a node is to the walk; everything else begins a block.
_KINDS = {
    **dict.fromkeys(_HIDDEN, SKIP),
    "br": BREAK,
    "img": IMAGE,
    **dict.fromkeys(_RUNNING, _INLINE),
    "a": _LINK,
    "b": _STRONG,
    "strong": _STRONG,
}
_WIDE = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u2018-\u201d\u2026"
# Old pages break their source lines within sentences; between wide characters that is no space
# (segment breaks, CSS Text Module Level 3).
_LINE_END = re.compile(f"(?<=[{_WIDE}])[ \\t\\r]*\\n[ \\t\\r\\n]*(?=[{_WIDE}])")
MAX_BLOCKS = 20_000
"""A page is read up to this many blocks; :attr:`PageBlocks.left_out` says that there were more."""


@dataclass(slots=True)
class Element:
    """A block-level element with text below it.

    Attributes:
        node: its node in the tree; not to be changed.
        tag: its name, lower case.
        parent: index of the element around it; -1 for the root.
        depth: elements above it.
        names: class and id, lower case, with a space between.
        first, end: the range of blocks inside it, ``blocks[first:end]``.
        images: ``<img>`` nodes directly inside, not within a deeper element.
    """

    node: LexborNode
    tag: str
    parent: int
    depth: int
    names: str
    first: int = 0
    end: int = 0
    images: int = 0


@dataclass(slots=True)
class Block:
    """A run of text without a block border or ``<br>`` in it.

    Attributes:
        text: on one line, white space collapsed.
        element: index of the innermost element it stands in.
        linked: characters of *text* inside links, white space apart.
        bold: characters of *text* inside ``<b>`` or ``<strong>``, white space apart.
        links: links that begin in it.
        after_break: whether a ``<br>`` separates it from the block before.
    """

    text: str
    element: int
    linked: int
    bold: int
    links: int
    after_break: bool


class Sight(NamedTuple):
    """Elements that are read against their markup, by their ``mem_id``.

    Attributes:
        passed: nothing in them is read, though their names do not say so.
        shown: read, though they are hidden or buttons.
    """

    passed: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()


PLAIN_SIGHT = Sight()
"""Nothing is read against its markup."""


@dataclass(slots=True)
class PageBlocks:
    """The blocks of a page in document order, and their elements, parents before children."""

    blocks: list[Block]
    elements: list[Element]
    left_out: bool = False
    sight: Sight = PLAIN_SIGHT

    def path(self, element: int) -> list[int]:
        """Indexes of *element* and of all around it, innermost first."""
        indexes = []
        while element >= 0:
            indexes.append(element)
            element = self.elements[element].parent
        return indexes


class _Collector:
    """Cuts a subtree into blocks; one object per page.

    The walk touches every node of a page, so it keeps what it needs in local names and calls
    a method only where a block begins or ends.
    """

    def __init__(self, sight: Sight) -> None:
        self.found = PageBlocks([], [], sight=sight)
        # What the current block holds: all text, the text inside links, inside <b>.
        self._parts: list[str] = []  # empty, or begins with more than white space
        self._linked: list[str] = []
        self._bold: list[str] = []
        self._links = self._links_before = 0
        self._open = -1
        self._after_break = False

    def walk(self, node: LexborNode | None) -> None:
        found, parts, linked, bold = self.found, self._parts, self._linked, self._bold
        sight = found.sight
        in_link = in_bold = 0
        path: list[tuple[LexborNode, int]] = []
        while node is not None and not found.left_out:
            inner = None
            text = node.text_content  # None for what is no text
            if text is not None:
                if parts or not text.isspace():  # most of all nodes are white space
                    parts.append(text)
                    if in_link:
                        linked.append(text)
                    if in_bold:
                        bold.append(text)
            else:
                kind = _KINDS.get(tag := node.tag or "", BLOCK)
                if sight is not PLAIN_SIGHT:
                    kind = kind_in(sight, node, kind)
                if kind == BLOCK:
                    if parts:
                        self._flush()
                    inner = self._enter(node, tag)
                elif kind >= _INLINE:
                    inner = node.first_child
                    if kind == _LINK and "href" not in node.attributes:
                        kind = _INLINE  # an anchor; left open, it would make the rest a link
                    if inner is not None and kind != _INLINE:
                        in_link += kind == _LINK
                        in_bold += kind == _STRONG
                        self._links += kind == _LINK
                elif kind == BREAK:
                    if parts:
                        self._flush()
                    self._after_break = True
                elif kind == IMAGE and self._open >= 0:
                    found.elements[self._open].images += 1
                if inner is not None:
                    path.append((node, kind))
                    node = inner
                    continue
            after = node.next if path else None  # the root's siblings are not walked
            while after is None and path:
                node, kind = path.pop()
                if kind == BLOCK:
                    self._leave()
                elif kind != _INLINE:
                    in_link -= kind == _LINK
                    in_bold -= kind == _STRONG
                after = node.next if path else None
            node = after
        while self._open >= 0:  # only when the page was cut off
            self._leave()

    def _flush(self) -> None:
        """End the current block; white space alone makes none."""
        parts = self._parts
        text = "".join(parts).strip()
        if not text.isascii() and "\n" in text:
            # All that stands between two elements is a space: 来源 <a>…</a> <a>…</a>.
            text = _LINE_END.sub("", "".join([" " if part.isspace() else part for part in parts]))
        text = " ".join(text.split())
        linked = bold = 0
        if self._linked:
            linked = _size(self._linked)
            self._linked.clear()
        if self._bold:
            bold = _size(self._bold)
            self._bold.clear()
        if text:
            blocks = self.found.blocks
            if len(blocks) < MAX_BLOCKS:
                links = self._links - self._links_before
                blocks.append(Block(text, self._open, linked, bold, links, self._after_break))
            else:
                self.found.left_out = True
            self._after_break = False
        parts.clear()
        self._links_before = self._links

    def _enter(self, node: LexborNode, tag: str) -> LexborNode | None:
        """Begin a block-level element; its first child, or None when nothing shows in it."""
        self._after_break = False
        inner = node.first_child
        if inner is None:
            return None
        names = ""
        if attributes := node.attributes:
            is_marked = "style" in attributes or "hidden" in attributes
            # The root is read, hidden or not: somebody asked for it.
            if is_marked and self._open >= 0 and is_hidden(attributes) and not self._shows(node):
                return None
            names = names_of(attributes)
        elements, parent = self.found.elements, self._open
        depth = elements[parent].depth + 1 if parent >= 0 else 0
        self._open = len(elements)
        elements.append(Element(node, tag, parent, depth, names, len(self.found.blocks)))
        if tag == "pre":
            self._lines_of(node)
            self._leave()
            return None
        return inner

    def _shows(self, node: LexborNode) -> bool:
        return node.mem_id in self.found.sight.shown

    def _lines_of(self, node: LexborNode) -> None:
        """Preformatted text: every line is a block; links in it are not told apart."""
        for line in node.text().split("\n"):
            if not line.isspace() and line:
                self._parts.append(line)
                self._flush()

    def _leave(self) -> None:
        if self._parts:
            self._flush()
        self._after_break = False
        element = self.found.elements[self._open]
        element.end = len(self.found.blocks)
        self._open = element.parent


def blocks_of(root: LexborNode | None, sight: Sight = PLAIN_SIGHT) -> PageBlocks:
    """The blocks under *root* (a body, as a rule); hidden elements and scripts hold none.

    Args:
        sight: what is read against that.
    """
    collector = _Collector(sight)
    if root is not None:
        collector.walk(root)
    return collector.found


kind_of = _KINDS.get
"""``kind_of(tag, BLOCK)`` is what an element is to a walk: SKIP, BREAK, IMAGE, BLOCK, or a greater
number for one that runs within a line."""


def kind_in(sight: Sight, node: LexborNode, kind: int) -> int:
    """*kind*, or what *node* is to a walk instead on a page of that *sight*."""
    if node.mem_id in sight.passed:
        return SKIP
    return _INLINE if kind == SKIP and node.mem_id in sight.shown else kind


def without_line_ends(text: str) -> str:
    """*text* without the source's line ends between wide characters, where they are no space."""
    return _LINE_END.sub("", text) if "\n" in text else text


def _size(parts: list[str]) -> int:
    """Characters in *parts*, white space apart."""
    return len("".join("".join(parts).split()))


def names_of(attributes: dict[str, str | None]) -> str:
    """Class and id of an element with these *attributes*, in lower case; "" for none."""
    css_class, identifier = attributes.get("class"), attributes.get("id")
    if css_class and identifier:
        return f"{css_class} {identifier}".strip().lower()
    return (css_class or identifier or "").strip().lower()


def is_hidden(attributes: dict[str, str | None]) -> bool:
    """Whether an element with these *attributes* is not displayed."""
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    if not style:
        return False
    # "visibility: hidden" hides until a script has run: bodies of real articles have it.
    # Spaces are free in CSS: "display : none".
    tight = style.replace(" ", "").lower()
    return "display:none" in tight


# --- Digests of blocks, to compare the pages of a site without their texts ------------------------
# Two blocks have one digest when they have the same text in the same kind of place. A teaser in
# a side bar so differs from the paragraph of the article it was taken from.

_NUMBER = re.compile(r"\d+")
# Elements looked at for a name: bounds the time on any markup.
_MAX_STEPS = 8


def block_digests(page_blocks: PageBlocks) -> NDArray[np.uint64]:
    """(n,) digests of the blocks: the upper half of the text, the lower one of its place.

    Each half is a CRC-32 **(ours)**: it is fast, and the same in every process. Two different
    blocks are taken for one once in 2**32 pairs of the same place and length.
    """
    # Pages are also read where nothing is compared, and NumPy takes long to import.
    import numpy as np

    elements = page_blocks.elements
    places: dict[int, int] = {}
    digests = []
    for block in page_blocks.blocks:
        at = block.element
        if at not in places:
            places[at] = _place_digest(
                elements[at].tag, elements[_nearest_named(elements, at)].names
            )
        text = block.text.encode("utf-8", "replace")
        digests.append(crc32(text) << 32 | places[at] ^ len(text))
    return np.array(digests, dtype=np.uint64)


def element_path(elements: list[Element], at: int) -> str:
    """Where an element stands: its tag within the nearest element with a class or id.

    Numbers in names become 0, since they count pages (``post-1234``). Written like CSS:
    ``div.entry.content > p``.
    """
    named = _nearest_named(elements, at)
    outer = ".".join((elements[named].tag, *general_names(elements[named].names).split()))
    return outer if named == at else f"{outer} > {elements[at].tag}"


def general_names(names: str) -> str:
    """Class and id *names* with every number as 0."""
    return _NUMBER.sub("0", names)


# Asked for every named element around a text.
_general_names = lru_cache(maxsize=20_000)(general_names)


def look_of(element: Element) -> tuple[str, str]:
    """Tag and general names of *element*, which are one for the items of a list."""
    return element.tag, _general_names(element.names)


def _nearest_named(elements: list[Element], at: int) -> int:
    """The nearest element with a name at or around *at*; one without where none is near."""
    for _ in range(_MAX_STEPS):
        if elements[at].names or elements[at].parent < 0:
            break
        at = elements[at].parent
    return at


# Pages of a site share their places. Arguments come cut, so that no page fills the memory.
@lru_cache(maxsize=4096)
def _digest_of(tag: str, names: str) -> int:
    return crc32(f"{tag} {general_names(names)}".encode("utf-8", "replace"))


def _place_digest(tag: str, names: str) -> int:
    return _digest_of(tag[:32], names[:256])
