"""The blocks of a page: runs of text between block borders, and the elements that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HIDDEN = frozenset(
    ("script", "style", "noscript", "template", "textarea", "select", "svg", "iframe", "object",
     "head", "button", "datalist", "map", "canvas", "audio", "video", "-comment", "math")
)  # fmt: skip
_INLINE = frozenset(
    ("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
     "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp",
     "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr")
)  # fmt: skip
_BOLD = frozenset(("b", "strong"))
MAX_BLOCKS = 20_000
"""Blocks past this are not made; :attr:`PageBlocks.left_out` says so."""
_TEXT = "-text"


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


@dataclass(slots=True)
class PageBlocks:
    """The blocks of a page in document order, and their elements, parents before children."""

    blocks: list[Block]
    elements: list[Element]
    left_out: bool = False

    def path(self, element: int) -> list[int]:
        """Indexes of *element* and of all around it, innermost first."""
        indexes = []
        while element >= 0:
            indexes.append(element)
            element = self.elements[element].parent
        return indexes


class _Collector:
    """Cuts a subtree into blocks; one object per page."""

    def __init__(self) -> None:
        self.found = PageBlocks([], [])
        self._parts: list[str] = []
        self._linked = self._bold = self._links = 0
        self._in_link = self._in_bold = 0
        self._open = -1
        self._after_break = False

    def text(self, text: str) -> None:
        self._parts.append(text)
        if self._in_link or self._in_bold:
            size = len("".join(text.split()))
            if self._in_link:
                self._linked += size
            if self._in_bold:
                self._bold += size

    def flush(self) -> None:
        """End the current block; white space alone makes none."""
        if not self._parts:
            return
        text = " ".join("".join(self._parts).split())
        if text:
            if len(self.found.blocks) < MAX_BLOCKS:
                self.found.blocks.append(
                    Block(text, self._open, self._linked, self._bold, self._links,
                          self._after_break)
                )
            else:
                self.found.left_out = True
            self._after_break = False
        self._parts = []
        self._linked = self._bold = self._links = 0

    def line_break(self) -> None:
        self.flush()
        self._after_break = True

    def enter(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> None:
        self.flush()
        self._after_break = False
        elements = self.found.elements
        depth = elements[self._open].depth + 1 if self._open >= 0 else 0
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".strip().lower()
        elements.append(
            Element(node, tag, self._open, depth, names, first=len(self.found.blocks))
        )
        self._open = len(elements) - 1

    def leave(self) -> None:
        self.flush()
        self._after_break = False
        element = self.found.elements[self._open]
        element.end = len(self.found.blocks)
        self._open = element.parent

    def enter_inline(self, tag: str) -> None:
        if tag == "a":
            self._in_link += 1
            self._links += 1
        elif tag in _BOLD:
            self._in_bold += 1

    def leave_inline(self, tag: str) -> None:
        if tag == "a":
            self._in_link -= 1
        elif tag in _BOLD:
            self._in_bold -= 1

    def image(self) -> None:
        if self._open >= 0:
            self.found.elements[self._open].images += 1


def blocks_of(root: LexborNode | None) -> PageBlocks:
    """The blocks under *root* (a body, as a rule); hidden elements and scripts hold none."""
    collector = _Collector()
    if root is None:
        return collector.found
    path: list[tuple[LexborNode, str]] = []
    node: LexborNode | None = root
    while node is not None:
        inner = _visit(node, collector)
        if inner is not None:
            path.append((node, node.tag or ""))
            node = inner
            continue
        node = _next(node, path, collector)
    return collector.found


def _visit(node: LexborNode, collector: _Collector) -> LexborNode | None:
    """Take in *node*; its first child when the walk goes down, with *node* entered."""
    tag = node.tag or ""
    if tag == _TEXT:
        text = node.text_content
        if text:
            collector.text(text)
        return None
    if tag == "br":
        collector.line_break()
        return None
    if tag == "img":
        collector.image()
        return None
    if tag in _HIDDEN:
        return None
    inner = node.first_child
    if tag in _INLINE:
        if inner is not None:
            collector.enter_inline(tag)
        return inner
    if inner is None:
        collector.flush()
        return None
    attributes = node.attributes
    if _is_hidden(attributes):
        collector.flush()
        return None
    collector.enter(node, tag, attributes)
    return inner


def _next(
    node: LexborNode, path: list[tuple[LexborNode, str]], collector: _Collector
) -> LexborNode | None:
    """The node after *node* in document order, leaving what ends on the way."""
    after = node.next
    while after is None and path:
        node, tag = path.pop()
        if tag in _INLINE:
            collector.leave_inline(tag)
        else:
            collector.leave()
        after = node.next if path else None
    return after


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    if not style:
        return False
    tight = style.replace(" ", "").lower()
    return "display:none" in tight or "visibility:hidden" in tight
