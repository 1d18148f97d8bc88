"""What a template takes of a page, shown on the page itself; and where a body may stand."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence

from lxml import etree
from parsel import Selector as Document
from selectolax.lexbor import LexborHTMLParser

from qiaocrawl.extract.base import extractors
from qiaocrawl.extract.methods.template import FALLBACK, NO_XML
from qiaocrawl.extract.methods.template_file import Selector, Template
from qiaocrawl.page.blocks import Element
from qiaocrawl.page.page import Page

_STYLES = {
    "links": "outline: 3px dotted #8a5a00 !important; outline-offset: 2px",
    "body": "outline: 3px solid #1565c0 !important; background: #e3f2fd !important",
    "exclude": "outline: 3px solid #b3261e !important; opacity: .5 !important;"
    " text-decoration: line-through !important",
    "title": "outline: 3px dashed #1e7b34 !important",
    "date": "outline: 3px dashed #1e7b34 !important",
    "author": "outline: 3px dashed #1e7b34 !important",
    "source": "outline: 3px dashed #1e7b34 !important",
}
_MOST_MARKED = 2_000
_NAME = re.compile(r"[.#](?!\d|-)[\w-]+")
_MOST_MATCHES = 2
"""A region of a body is there once, or twice where a page repeats it for phones."""
_MOST_PLACES = 5


def marked_page(page: Page, template: Template) -> str:
    """The markup of *page* with a border around all that *template* takes.

    Texts that an XPath works out, without an element of their own, have none.
    """
    # Not foreseen by the page, which could mark itself otherwise.
    mark = f"data-{secrets.token_hex(8)}-"
    markup = _marked_by_css(page.source, mark, template)
    if any(selector.is_xpath for _name, selector in _selectors(template)):
        markup = _marked_by_xpath(markup, mark, template)
    rules = "".join(f"[{mark}{name}]{{{style}}}" for name, style in _STYLES.items())
    return f"{markup}<style>{rules}</style>"


def _selectors(template: Template) -> Iterable[tuple[str, Selector]]:
    for name in ("body", "exclude", "title", "date", "author", "source"):
        yield from ((name, selector) for selector in getattr(template, name))
    for selectors in template.links.values():
        yield from (("links", selector) for selector in selectors)


def _marked_by_css(source: str, mark: str, template: Template) -> str:
    # A tree of its own: that of a page is not to be changed.
    tree = LexborHTMLParser(source)
    for name, selector in _selectors(template):
        if not selector.is_xpath:
            for node in tree.css(selector.path)[:_MOST_MARKED]:
                node.attrs[mark + name] = ""
    return tree.html or ""


def _marked_by_xpath(markup: str, mark: str, template: Template) -> str:
    document = Document(text=NO_XML.sub("", markup), type="html")
    for name, selector in _selectors(template):
        if selector.is_xpath:
            for match in document.xpath(selector.path)[:_MOST_MARKED]:
                if isinstance(match.root, etree._Element) and isinstance(match.root.tag, str):
                    match.root.set(mark + name, "")
    return str(document.get())


def body_places(page: Page) -> list[str]:
    """CSS selectors of elements that hold what the general method takes for the body.

    The innermost first; those that stand on the page more than twice are left out.
    """
    body = extractors.get(FALLBACK).body(page)
    if not body.blocks:
        return []
    first, last = body.blocks[0], body.blocks[-1]
    holding = [
        element for element in page.blocks.elements if element.first <= first and last < element.end
    ]
    places = [place for element in reversed(holding) if (place := _place(page, element))]
    return list(dict.fromkeys(places))[:_MOST_PLACES]


def _place(page: Page, element: Element) -> str:
    names = element.node.attributes
    written: Sequence[str] = [f".{name}" for name in (names.get("class") or "").split()]
    if identity := (names.get("id") or "").strip():
        written = [f"#{identity}"]
    # What would have to be escaped is nobody's idea of a selector.
    if not written or not all(_NAME.fullmatch(name) for name in written):
        return ""
    path = f"{element.tag}{''.join(written)}"
    return path if len(page.tree.css(path)) <= _MOST_MATCHES else ""
