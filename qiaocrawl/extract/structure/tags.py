"""The tags of a structured body: from a fixed list, with no attributes but those written here."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from qiaocrawl.page.page import Page

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_INLINE = {
    "b": "strong", "strong": "strong", "i": "em", "em": "em", "code": "code", "tt": "code",
    "kbd": "code", "samp": "code", "sub": "sub", "sup": "sup", "del": "del", "s": "del",
    "strike": "del",
}  # fmt: skip
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
