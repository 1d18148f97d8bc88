"""The body as HTML, of tags from a fixed list with no attributes but theirs.

Nothing of the page's markup is copied. Tags are written from a fixed list, with these
attributes: ``href`` (http, https or mailto), ``src`` and ``alt``, ``colspan`` and ``rowspan``,
``start`` of a list, and the language of code as ``class``; all else is escaped text. So nothing
active can stand in it, whatever the page holds. A top-level element is one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.fields.metadata import IN_THE_BODY, Metadata, picture_url
from qiaocrawl.extract.structure.kept import Kept, kept_of
from qiaocrawl.page.blocks import (
    BLOCK,
    BREAK,
    IMAGE,
    PLAIN_SIGHT,
    SKIP,
    TEXT,
    Element,
    kind_in,
    kind_of,
    without_line_ends,
)
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import HAN_OR_KANA, clean_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# --- The tags of a structured body: from a fixed list, with no attributes but those written
# here

_INLINE = {
    "b": "strong",
    "strong": "strong",
    "i": "em",
    "em": "em",
    "code": "code",
    "tt": "code",
    "kbd": "code",
    "samp": "code",
    "sub": "sub",
    "sup": "sup",
    "del": "del",
    "s": "del",
    "strike": "del",
}
_MAX_SPAN = 100
_MAX_MAIL_CHARS = 254
_MAIL = re.compile(r"mailto:[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII | re.IGNORECASE)
_MAX_LEVELS = 6


def inline_tags(node: LexborNode, page: Page) -> tuple[str, str] | None:
    """Start and end tag for an element within a line; None for one that is not kept."""
    tag = node.tag or ""
    if tag == "a":
        url = _link_url((node.attributes.get("href") or "").strip(), page)
        return (f'<a href="{escape(url)}">', "</a>") if url else None
    name = _INLINE.get(tag)
    return (f"<{name}>", f"</{name}>") if name else None


def link_around(node: LexborNode, page: Page) -> tuple[str, str] | None:
    """The tags of the nearest ``<a>`` around *node* with nothing of a page's layout between."""
    around = node.parent
    for _ in range(_MAX_LEVELS):
        if around is None or around.tag == "a":
            break
        around = around.parent
    return inline_tags(around, page) if around is not None and around.tag == "a" else None


def _link_url(href: str, page: Page) -> str:
    """The absolute form of *href*; "" for what leads to no page and no mailbox."""
    if href[:7].lower() == "mailto:":
        match = _MAIL.match(href[:_MAX_MAIL_CHARS])
        return quote(match[0], safe=":@+") if match else ""
    if not href or href[0] == "#":
        return ""
    return page.joiner.canonical(href) or ""


def attributes_of(tag: str, node: LexborNode) -> str:
    """The attributes kept of a block-level element, with a space before each."""
    if tag in ("td", "th"):
        return spans_of(node)
    if tag == "ol":
        start = node.attributes.get("start") or ""
        if start.isascii() and start.isdigit() and int(start[:6]) > 1:
            return f' start="{int(start[:6])}"'
    return ""


def spans_of(node: LexborNode) -> str:
    """How many columns and rows a cell spans, where it is more than one."""
    attributes = node.attributes
    spans = ""
    for name in ("colspan", "rowspan"):
        value = attributes.get(name) or ""
        if value.isascii() and value.isdigit() and 1 < int(value[:6]) <= _MAX_SPAN:
            spans += f' {name}="{int(value)}"'
    return spans


_FLOW, _ITEM, _PHRASE, _ROWS = range(4)
_MODES = {
    **dict.fromkeys(("blockquote", "figure"), _FLOW),
    **dict.fromkeys(("li", "dd"), _ITEM),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _PHRASE),
    **dict.fromkeys(("td", "th", "dt", "caption", "figcaption"), _PHRASE),
    **dict.fromkeys(("ul", "ol", "dl", "table", "tr"), _ROWS),
}
"""The elements that are kept: paragraphs inside, one line of text inside, or rows and items."""
_WITHIN = {
    "li": ("ul", "ol"),
    "dt": ("dl",),
    "dd": ("dl",),
    "tr": ("table",),
    "td": ("tr",),
    "th": ("tr",),
    "caption": ("table",),
    "figcaption": ("figure",),
}
_WRAPPED = {"ul": "li", "ol": "li", "dl": "dd", "tr": "td"}
"""What text that stands directly in these gets around it."""
_MAX_OPEN = 12
_MAX_INLINE = 6
_NO_LINE = (-1, 0)
_SHORT_LINE_CHARS = 40
"""Lines of at most so many characters with one ``<br>`` between are lines of one paragraph."""
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|brush:\s?)([a-z0-9+#-]{1,20})(?=\s|;|$)")
_CODE_NAMES = re.compile(r"code|highlight|brush|lang|prettyprint|syntax|source")
_MAX_WIDE_SHARE = 0.3


def body_html(page: Page, body: Body, metadata: Metadata) -> str:
    """The body of *page* as HTML, "" for none; a method without blocks gives paragraphs."""
    if not body.blocks:
        return paragraphs(clean_text(body.text))
    images = metadata.fields.get("images")
    pictures = dict(images.value) if images is not None and images.origin == IN_THE_BODY else {}
    kept = kept_of(page, body, metadata.title, pictures)
    return _Writer(page, kept, pictures).html()


def paragraphs(text: str) -> str:
    """The lines of *text* as paragraphs, for a body of which no more is known."""
    lines = filter(None, map(str.strip, text.split("\n")))
    return "\n".join(f"<p>{escape(line, quote=False)}</p>" for line in lines)


class _Open(NamedTuple):
    """An element that was written and not ended: where in the output its content begins."""

    tag: str
    mode: int
    start: int


class _Entered(NamedTuple):
    """An element on the way to the place at hand: what is left to write in it, the block behind
    it, and whether it was opened."""

    inside: Iterator[int]
    end: int
    opened: bool


class _Writer:
    """Writes the kept blocks of one page.

    The walk cuts text into blocks exactly as :mod:`qiaocrawl.page.blocks` does, so that it
    knows the number of the block it stands in.
    """

    def __init__(self, page: Page, kept: Kept, pictures: Mapping[str, str]) -> None:
        self._page = page
        self._kept = kept
        self._pictures = pictures
        self._children: dict[int, list[int]] = {}
        last = page.once(BlockTexts).elements_until(max(kept.blocks, default=-1) + 1)
        for at, element in enumerate(page.blocks.elements[:last]):
            if element.parent in kept.elements:
                self._children.setdefault(element.parent, []).append(at)
        self._out: list[str] = []
        self._open: list[_Open] = [_Open("", _FLOW, 0)]
        self._run: list[str] = []  # of the block at hand
        self._inline: list[tuple[str, str]] = []  # start and end tags around the place at hand
        self._begun = 0  # how many of them are written in this block
        self._has_text = False
        self._block = 0
        self._breaks = 0
        self._line = _NO_LINE  # where the last paragraph stands in the output, and its size

    def html(self) -> str:
        """All of it."""
        path: list[_Entered] = []  # no recursion: elements may nest as deep as they like
        following: int | None = 0 if 0 in self._kept.elements else None
        while following is not None or path:
            if following is None:
                self._leave(path.pop())
            elif (entered := self._enter(following)) is not None:
                path.append(entered)
            following = next(path[-1].inside, None) if path else None
        return clean_text("".join(self._out)).strip()

    # --- the walk ---------------------------------------------------------------------------

    def _enter(self, place: int) -> _Entered | None:
        """Begin a block-level element; None if that was all of it."""
        element, children = self._page.blocks.elements[place], self._children.get(place, ())
        self._end_block()
        self._block = element.first
        if element.tag == "pre":
            self._write_preformatted(element)
            self._block = element.end
            return None
        opened = element.tag in _MODES and self._may_open(element.tag, place)
        if opened:
            self._begin(element.tag, attributes_of(element.tag, element.node))
        inside: Iterator[int] = iter(())
        if self._holds_elements_only(element, children):
            inside = filter(self._kept.elements.__contains__, children)
        elif children or not self._plain_text(element):
            inside = self._walk(element.node, children)
        return _Entered(inside, element.end, opened)

    def _leave(self, entered: _Entered) -> None:
        self._end_block()
        self._block = entered.end
        if entered.opened:
            self._end()

    def _holds_elements_only(self, element: Element, children: Sequence[int]) -> bool:
        """Whether no text and no picture stands directly in *element*."""
        if not children or element.images or element.tag == "tr":
            return False
        elements = self._page.blocks.elements
        inside = sum(elements[child].end - elements[child].first for child in children)
        return inside == element.end - element.first

    def _plain_text(self, element: Element) -> bool:
        """Write an element that holds one text and nothing else; False for any other."""
        child = element.node.first_child
        if child is None or not child.is_text_node or child.next is not None:
            return False
        if element.first in self._kept.blocks and element.first < element.end:
            block = self._page.blocks.blocks[element.first]
            content = escape(block.text, quote=False)
            if block.linked:  # the link is around the element
                link = link_around(element.node, self._page)
                content = f"{link[0]}{content}{link[1]}" if link else content
            self._put(content)
        return True

    def _walk(self, root: LexborNode, children: Sequence[int]) -> Iterator[int]:
        """Write the text in *root*; gives the places of its *children* that are to be written."""
        waiting = iter(children)
        following = next(waiting, -1)
        elements = self._page.blocks.elements
        path: list[tuple[LexborNode, bool]] = []  # elements within a line, and if one was begun
        node, sight = root.first_child, self._page.blocks.sight
        while node is not None:
            inner = None
            text = node.text_content  # None for what is no text
            kind = TEXT if text is not None else kind_of(node.tag or "", BLOCK)
            if sight is not PLAIN_SIGHT and kind != TEXT:
                kind = kind_in(sight, node, kind)
            if text is not None:
                if text and not text.isspace():
                    self._text(text)
                elif self._run:
                    self._run.append(" ")
            elif kind == BLOCK:
                if following >= 0 and elements[following].node.mem_id == node.mem_id:
                    if following in self._kept.elements:
                        yield following
                    else:
                        self._leap(node, elements[following].end)
                    following = next(waiting, -1)
                else:
                    self._leap(node)
            elif kind == BREAK:
                self._flush()
                self._breaks += 1
            elif kind == IMAGE:
                self._image(node)
            elif kind != SKIP:
                inner = node.first_child
            if inner is not None:
                path.append((node, self._begin_inline(node)))
                node = inner
                continue
            after = node.next
            while after is None and path:
                node, begun = path.pop()
                if begun:
                    self._end_inline()
                after = node.next
            node = after

    def _leap(self, node: LexborNode, end: int = -1) -> None:
        """Pass a block-level element of which nothing is shown, up to the block *end*."""
        self._end_block()
        if end >= 0:
            self._block = end
        if node.tag in ("td", "th") and self._open[-1].tag == "tr":
            self._out.append(f"<{node.tag}{spans_of(node)}></{node.tag}>")

    def _may_open(self, tag: str, place: int) -> bool:
        top = self._open[-1]
        if top.mode == _PHRASE or len(self._open) > _MAX_OPEN:
            return False
        if tag in _WITHIN:
            return top.tag in _WITHIN[tag]
        if tag == "table":
            return place in self._kept.tables
        if tag[0] == "h":
            return top.mode == _FLOW and top.tag != "figure"
        return top.mode != _ROWS or (tag in ("ul", "ol") and top.tag in ("ul", "ol"))

    def _begin(self, tag: str, attributes: str = "") -> None:
        self._out.append(f"<{tag}{attributes}>")
        self._open.append(_Open(tag, _MODES[tag], len(self._out)))

    def _end(self) -> None:
        tag, _, start = self._open.pop()
        if len(self._out) == start and tag not in ("td", "th"):
            self._out.pop()  # nothing in it is shown
            return
        self._out.append(f"</{tag}>")
        self._end_line()

    def _end_line(self) -> None:
        if len(self._open) == 1:
            self._out.append("\n")

    # --- one block --------------------------------------------------------------------------

    def _text(self, text: str) -> None:
        self._has_text = True
        if self._block in self._kept.blocks:
            if self._inline:
                self._write_inline_tags()
            self._run.append(escape(without_line_ends(text), quote=False))

    def _write_inline_tags(self) -> None:
        for start, _ in self._inline[self._begun :]:
            self._run.append(start)
        self._begun = len(self._inline)

    def _begin_inline(self, node: LexborNode) -> bool:
        tags = inline_tags(node, self._page)
        if tags is None or len(self._inline) >= _MAX_INLINE or tags in self._inline:
            return False
        if tags[1] == "</a>" and any(end == "</a>" for _, end in self._inline):
            return False
        if tags[1] == "</strong>" and self._open[-1].tag[:1] == "h":
            return False
        self._inline.append(tags)
        return True

    def _end_inline(self) -> None:
        _, end = self._inline.pop()
        if self._begun > len(self._inline):
            self._run.append(end)
            self._begun -= 1

    def _image(self, node: LexborNode) -> None:
        url = picture_url(self._page, node)
        if url is None or url not in self._pictures:
            return
        alt = " ".join((node.attributes.get("alt") or "").split())[: _SHORT_LINE_CHARS * 5]
        if not alt and self._open[-1].tag != "figure":
            alt = self._pictures[url]
        self._write_inline_tags()
        self._run.append(f'<img src="{escape(url)}" alt="{escape(alt)}">')

    def _flush(self) -> None:
        """End the block at hand, and write it if it is shown."""
        run = self._run
        if run:
            for _, end in reversed(self._inline[: self._begun]):
                run.append(end)
            content = " ".join("".join(run).split())
            run.clear()
            if content:
                self._put(content)
        self._begun = 0
        if self._has_text:
            self._block += 1
            self._has_text = False
            self._breaks = 0

    def _end_block(self) -> None:
        """End the block at hand at a border; lines beyond it are of another paragraph."""
        if self._run or self._has_text:
            self._flush()
        self._breaks = 0
        self._line = _NO_LINE

    def _put(self, content: str) -> None:
        out, top = self._out, self._open[-1]
        is_empty = len(out) == top.start
        if top.mode == _PHRASE:
            separator = " " if top.tag[0] == "h" else "<br>"
            out.append(content if is_empty else f"{separator}{content}")
        elif top.mode == _ITEM and is_empty:
            out.append(content)
        elif top.mode == _ROWS:
            tag = _WRAPPED.get(top.tag)
            if tag is not None:
                out.append(f"<{tag}>{content}</{tag}>")
        elif top.tag == "figure" and content.startswith("<img"):
            out.append(content)
        else:
            self._paragraph(content)

    def _paragraph(self, content: str) -> None:
        out = self._out
        at, size = self._line
        if self._breaks == 1 and at >= 0 and max(size, len(content)) <= _SHORT_LINE_CHARS:
            out[at] = f"{out[at][:-4]}<br>{content}</p>"
        else:
            at = len(out)
            out.append(f"<p>{content}</p>")
            self._end_line()
        self._line = (at, len(content))

    def _write_preformatted(self, element: Element) -> None:
        """A ``<pre>``: code, or lines of prose on old pages."""
        blocks, node, names = self._page.blocks.blocks, element.node, element.names
        span = range(element.first, element.end)
        lines = node.text().strip("\n").split("\n")
        if any(index not in self._kept.blocks for index in span):
            lines = [blocks[index].text for index in span if index in self._kept.blocks]
        text = "\n".join(line.rstrip() for line in lines)
        code = node.css_first("code")
        if code is not None:
            names = f"{names} {(code.attributes.get('class') or '').lower()}"
        is_code = (
            code is not None
            or _CODE_NAMES.search(names)
            or (len(HAN_OR_KANA.findall(text)) <= _MAX_WIDE_SHARE * len(text))
        )
        if is_code and self._open[-1].mode in (_FLOW, _ITEM):
            language = _LANGUAGE.search(names)
            shown = f' class="language-{language[1]}"' if language else ""
            # A top-level element is one line.
            written = escape(text, quote=False).replace("\n", "&#10;")
            self._out.append(f"<pre><code{shown}>{written}</code></pre>")
            self._end_line()
            return
        for line in filter(None, map(str.strip, text.split("\n"))):
            self._breaks = 1
            self._put(escape(line, quote=False))
