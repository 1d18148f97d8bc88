"""An article's stored HTML for our pages: known elements only, topic words marked.

The extractor writes nothing active. What stands in a database may have come there otherwise, so
all is written anew here. Pictures are links: to load them would tell their sites who reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape
from selectolax.lexbor import LexborHTMLParser, LexborNode

from qiaocrawl.language import _
from qiaocrawl.text.visible import marked_pieces

_KEPT = frozenset((
    "p", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "caption", "blockquote",
    "figure", "figcaption", "pre", "code", "strong", "b", "em", "i", "u", "s", "sub", "sup",
))  # fmt: skip
# The page has headings of its own above these.
_RENAMED = {f"h{level}": f"h{min(level + 2, 6)}" for level in range(1, 7)}
_DROPPED = frozenset(("script", "style", "template", "noscript", "svg", "math", "iframe", "object"))
_MOST_DEPTH = 40


def shown_html(html: str, words: Sequence[str]) -> Markup:
    """*html* as it may stand in a page of ours, with *words* in ``<mark>``."""
    body = LexborHTMLParser(html).body
    return Markup("").join(_inside(body, words, 0)) if body is not None else Markup("")


def marked_text(text: str, words: Sequence[str]) -> Markup:
    """Plain *text* with *words* in ``<mark>``."""
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if is_word else escape(piece)
        for piece, is_word in marked_pieces(text, words)
    )


def is_web_address(url: str) -> bool:
    """Whether a link may lead there."""
    return url.lower().startswith(("http://", "https://"))


def _inside(parent: LexborNode, words: Sequence[str], depth: int) -> Iterator[Markup]:
    node = parent.child
    while node is not None:
        if node.tag == "-text":
            yield marked_text(node.text(deep=False), words)
        elif node.tag and node.tag not in _DROPPED and not node.tag.startswith(("-", "_")):
            yield _element(node, words, depth)
        node = node.next


def _element(node: LexborNode, words: Sequence[str], depth: int) -> Markup:
    tag = node.tag or ""
    if depth > _MOST_DEPTH:
        return marked_text(node.text(), words)
    if tag == "br":
        return Markup("<br>")
    attributes = {name: value or "" for name, value in node.attributes.items()}
    if tag == "img":
        return _picture(attributes)
    inside = Markup("").join(_inside(node, words, depth + 1))
    if tag == "a" and is_web_address(attributes.get("href", "")):
        return _link(attributes["href"], inside)
    tag = _RENAMED.get(tag, tag)
    if tag not in _KEPT and tag not in _RENAMED.values():
        return inside
    return Markup("<{0}{1}>{2}</{0}>").format(tag, _spans(attributes), inside)


def _spans(attributes: dict[str, str]) -> Markup:
    """How many rows and columns a cell spans."""
    return Markup("").join(
        Markup(' {}="{}"').format(name, attributes[name])
        for name in ("colspan", "rowspan")
        if attributes.get(name, "").isascii() and attributes.get(name, "").isdigit()
    )


def _picture(attributes: dict[str, str]) -> Markup:
    text = attributes.get("alt") or _("picture")
    address = attributes.get("src", "")
    shown = Markup('<i class="fa-regular fa-image" aria-hidden="true"></i> {}').format(text)
    return _link(address, shown) if is_web_address(address) else shown


def _link(address: str, inside: Markup) -> Markup:
    return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(
        address, inside
    )
