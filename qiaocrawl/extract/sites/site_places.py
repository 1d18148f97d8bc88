"""Where the body of an article stands on its page: which elements hold it, and their names."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from qiaocrawl.extract.fields.surroundings import body_span
from qiaocrawl.page.digests import place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiaocrawl.extract.base import Body
    from qiaocrawl.page import Page

_HELD = 0.8
"""An element that holds such a share of a body's characters is its holder **(ours)**."""
_NO_HOLDER = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "blockquote",
     "pre", "figure", "figcaption", "table", "tbody", "tr", "address")
)  # fmt: skip
"""Parts of an article: its holder stands around them."""
_MAX_AROUND = 12
_MAX_PLACE_CHARS = 200


def holders_of(page: Page, body: Body) -> Sequence[int]:
    """The elements that hold nearly all of *body*, innermost first, at most 12 of them."""
    found = page.blocks
    first, last = body_span(page, body)
    if first < 0:
        return ()
    taken = body.blocks or range(first, last + 1)
    sums = [0, *accumulate(len(found.blocks[index].text) for index in taken)]
    longest = max(taken, key=lambda index: len(found.blocks[index].text))
    holders: list[int] = []
    for at in found.path(found.blocks[longest].element):
        element = found.elements[at]
        inside = sums[bisect_left(taken, element.end)] - sums[bisect_left(taken, element.first)]
        if inside >= _HELD * sums[-1]:
            holders.append(at)
            if len(holders) == _MAX_AROUND:
                break
    return holders


def body_place(page: Page, body: Body) -> str:
    """Where *body* stands: the innermost element around it that is no part of an article.

    "" when nothing holds the body.
    """
    for at in holders_of(page, body):
        if page.blocks.elements[at].tag not in _NO_HOLDER:
            return place_at(page, at)
    return ""


def place_at(page: Page, at: int) -> str:
    """Where the element *at* of *page* stands, see :func:`qiaocrawl.page.digests.place_of`."""
    return place_of(page.blocks.elements, at)[:_MAX_PLACE_CHARS]
