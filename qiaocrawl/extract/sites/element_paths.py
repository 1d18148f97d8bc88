"""The place of a body on its page: the elements that contain it, and their paths."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from qiaocrawl.extract.fields.body_context import body_span
from qiaocrawl.page.blocks import element_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiaocrawl.extract.base import Body
    from qiaocrawl.page.page import Page

_HELD = 0.8
"""An element that holds such a share of a body's characters is its holder **(ours)**."""
_ARTICLE_PARTS = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "blockquote",
     "pre", "figure", "figcaption", "table", "tbody", "tr", "address")
)  # fmt: skip
"""Parts of an article: its holder stands around them."""
_MAX_AROUND = 12
_MAX_PLACE_CHARS = 200


def containers_of(page: Page, body: Body) -> Sequence[int]:
    """The elements that hold nearly all of *body*, innermost first, at most 12 of them."""
    page_blocks = page.blocks
    first, last = body_span(page, body)
    if first < 0:
        return ()
    indexes = body.blocks or range(first, last + 1)
    sums = [0, *accumulate(len(page_blocks.blocks[index].text) for index in indexes)]
    # The longest block lies in the body for certain, so its ancestors are the candidates.
    longest = max(indexes, key=lambda index: len(page_blocks.blocks[index].text))
    containers: list[int] = []
    for at in page_blocks.path(page_blocks.blocks[longest].element):
        element = page_blocks.elements[at]
        inside = sums[bisect_left(indexes, element.end)] - sums[bisect_left(indexes, element.first)]
        if inside >= _HELD * sums[-1]:
            containers.append(at)
            if len(containers) == _MAX_AROUND:
                break
    return containers


def body_place(page: Page, body: Body) -> str:
    """Where *body* stands: the innermost element around it that is no part of an article.

    "" when nothing holds the body.
    """
    for at in containers_of(page, body):
        if page.blocks.elements[at].tag not in _ARTICLE_PARTS:
            return element_path_at(page, at)
    return ""


def element_path_at(page: Page, at: int) -> str:
    """Where the element *at* of *page* stands, see :func:`qiaocrawl.page.blocks.place_of`."""
    return element_path(page.blocks.elements, at)[:_MAX_PLACE_CHARS]
