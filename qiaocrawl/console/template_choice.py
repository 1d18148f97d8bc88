"""From a click on a stored page to a selector that finds the same place on other pages of the site.

A page is numbered: each element has the place it has in document order. The browser tells the
number of what was clicked on, and nothing else that a page could make up.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qiaocrawl.extract.methods.template import body_places
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.page.hidden import place_streamed_parts
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

# One that numbers its articles (#post-20261110) finds nothing on the next page.
_NAME = re.compile(r"(?!.*\d{3})(?!\d|-)[\w-]{1,60}", re.ASCII)
_MOST_CANDIDATES = 60
_MOST_EXCLUDED = 20
_LEVELS_UP = 3
_OPENING_CHARS = 24
_PIECES = ("span", "em", "strong", "b", "i", "font")
_TAGS = {
    "h1": N_("the big heading"),
    **dict.fromkeys(("h2", "h3", "h4", "h5", "h6"), N_("a heading")),
    "p": N_("a paragraph"),
    "a": N_("a link"),
    "time": N_("a time"),
    "li": N_("an item of a list"),
    **dict.fromkeys(("td", "th"), N_("a cell of a table")),
    "table": N_("a table"),
    **dict.fromkeys(("ul", "ol"), N_("a list")),
    "img": N_("a picture"),
    **dict.fromkeys(_PIECES, N_("a piece of a line")),
}
_NOT_CHOSEN = frozenset({"html", "body", "head"})


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes:
        selector: CSS; "" where nothing can be chosen there.
        words: what it is and on how many other pages it stands, for who clicked.
    """

    selector: str
    words: str


def numbered(source: str) -> tuple[LexborHTMLParser, list[LexborNode]]:
    """A tree of its own for *source*, and its elements by number."""
    tree = LexborHTMLParser(source)
    place_streamed_parts(tree, source)
    return tree, list(tree.css("*"))


def choose(page: Page, what: str, number: int, others: Sequence[Page]) -> Choice:
    """The place of the element *number* of *page*, to be taken for *what*.

    Args:
        what: a field of the form: ``body``, ``exclude``, ``title`` …
        others: pages of the same site: of several selectors the one counts that finds something
            on most of them.
    """
    tree, nodes = numbered(page.source)
    if not 0 <= number < len(nodes) or nodes[number].tag in _NOT_CHOSEN:
        return Choice("", _("Nothing can be chosen there: click on a text."))
    node = nodes[number]
    if what == "body":
        node = _container(page, tree, node)
    found = _best(tree, node, what, others)
    if found is None:
        return Choice("", _("This place cannot be told from others: click on something around it."))
    selector, on_others = found
    return Choice(selector, _words(node, on_others, len(others)))


def _words(node: LexborNode, on_others: int, others: int) -> str:
    kind = _(_TAGS.get(node.tag or "", N_("a block")))
    text = collapse(node.text())
    opening = f"{text[:_OPENING_CHARS]}…" if len(text) > _OPENING_CHARS else text
    said = _("{kind}: “{opening}”", kind=kind, opening=opening) if opening else kind
    if not others:
        return said
    there = ngettext(
        "it stands on {there} of {count} other page of the site",
        "it stands on {there} of {count} other pages of the site",
        others,
        there=on_others,
    )
    return _("; ").join((said, there))


def _container(page: Page, tree: LexborHTMLParser, node: LexborNode) -> LexborNode:
    """What holds all of the body around *node*: nobody means the one paragraph they click on."""
    around = {other.mem_id for other in _line_of(node)}
    for place in body_places(page):
        for match in tree.css(place):
            if match.mem_id in around:
                return match
    # Away from what the general method takes for the body: the next block with several lines.
    for other in _line_of(node):
        if len(other.css("p, br")) > 1 and other.tag not in _NOT_CHOSEN:
            return other
    return node


def _line_of(node: LexborNode) -> Iterator[LexborNode]:
    """*node* and what is around it, from inside."""
    outer: LexborNode | None = node
    while outer is not None and outer.tag not in ("-document", "html"):
        yield outer
        outer = outer.parent


def _best(
    tree: LexborHTMLParser, node: LexborNode, what: str, others: Sequence[Page]
) -> tuple[str, int] | None:
    """The simplest of the selectors that find something on most of *others*, and on how many."""
    best: tuple[str, int] | None = None
    for selector in itertools.islice(_candidates(node), _MOST_CANDIDATES):
        if not _finds(tree, selector, node, what):
            continue
        count = sum(_has_text(other, selector) for other in others)
        if best is None or count > best[1]:
            best = selector, count
        if count == len(others):
            break
    return best


def _finds(tree: LexborHTMLParser, selector: str, node: LexborNode, what: str) -> bool:
    matches = tree.css(selector)
    if what == "exclude":
        return 0 < len(matches) <= _MOST_EXCLUDED and any(
            match.mem_id == node.mem_id for match in matches
        )
    if not matches or matches[0].mem_id != node.mem_id:
        return False
    # All regions of a body are taken; of a field the first one is.
    return what != "body" or len(matches) == 1


def _has_text(page: Page, selector: str) -> bool:
    match = page.tree.css_first(selector)
    return match is not None and bool(collapse(match.text()))


def _candidates(node: LexborNode) -> Iterator[str]:
    """Selectors of *node*, simple ones first."""
    own = list(_simple(node))
    yield from own
    outer = [other for other in itertools.islice(_line_of(node), 1, 8) if other.tag != "body"]
    named = [(other, name) for other in outer for name in _named(other)][: _LEVELS_UP * 2]
    for _other, name in named:
        for simple in own:
            yield f"{name} {simple}"
    for other, name in named:
        yield f"{name} > {_path(node, other)}"
    yield f"body > {_path(node, None)}"


def _simple(node: LexborNode) -> Iterator[str]:
    yield from _named(node)
    item = (node.attributes.get("itemprop") or "").strip()
    if _NAME.fullmatch(item):
        yield f"{node.tag}[itemprop={item}]"
    yield str(node.tag)


def _named(node: LexborNode) -> Iterator[str]:
    """*node* by its id, or its classes: together, and each."""
    identity = (node.attributes.get("id") or "").strip()
    if _NAME.fullmatch(identity):
        yield f"{node.tag}#{identity}"
    classes = [
        name for name in (node.attributes.get("class") or "").split() if _NAME.fullmatch(name)
    ]
    if len(classes) > 1:
        yield str(node.tag) + "".join(f".{name}" for name in classes[:3])
    for name in classes[:4]:
        yield f"{node.tag}.{name}"


def _path(node: LexborNode, until: LexborNode | None) -> str:
    """The way down to *node* from *until*, None for the body: by tags and places."""
    steps: list[str] = []
    for other in _line_of(node):
        if other.tag == "body" or (until is not None and other.mem_id == until.mem_id):
            break
        place, before = 1, other.prev
        while before is not None:
            place += before.tag == other.tag
            before = before.prev
        steps.append(f"{other.tag}:nth-of-type({place})")
    return " > ".join(reversed(steps))
