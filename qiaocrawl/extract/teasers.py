"""Excerpts of other articles before or after a body: items of a list, each led by a link.

They are sentences, and beside a short item there are more of them than of its own, so no judge of
single blocks can leave them out. What tells them is that they stand in like elements, in a list
that has nothing to do with the element that holds the paragraphs. **(ours)**
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.structure.kept import inside
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page

_LEAST_ITEMS = 3
_LEAST_TITLE_CHARS = 6
_LEAST_OWN_CHARS = 30
_TEXT_CHARS = 20
_MAX_BLOCKS = 100
_LEVELS = 3
"""Elements around a block among which the item of a list is looked for."""


def without_teasers(page: Page, body: Body) -> Body:
    """*body* less lists of excerpts at either end of it; all of it where that is the text."""
    found = page.blocks
    lists = {at for end in {*body.blocks[:1], *body.blocks[-1:]} for at in _lists(found, end)}
    within = {i for at in lists for i in range(found.elements[at].first, found.elements[at].end)}
    rest = [index for index in body.blocks if index not in within]
    if not lists or not all(_is_apart(found, at, rest) for at in lists):
        return body
    text = "\n".join(found.blocks[index].text for index in rest)
    reason = f"{body.reason}; {len(body.blocks) - len(rest)} blocks of excerpts left out"
    return replace(body, text=text, blocks=tuple(rest), reason=reason)


def _lists(found: PageBlocks, block: int) -> list[int]:
    """The innermost list of excerpts that *block* stands in; none as a rule."""
    around = found.path(found.blocks[block].element)[1 : _LEVELS + 1]
    return [at for at in around if _is_list_of_excerpts(found, at)][:1]


def _is_apart(found: PageBlocks, at: int, rest: Sequence[int]) -> bool:
    """Whether the other blocks *rest* hold text, all on one side of the element *at* and in an
    element of their own."""
    element = found.elements[at]
    if not rest or rest[0] < element.first < rest[-1]:
        return False
    if max(len(found.blocks[i].text) - found.blocks[i].linked for i in rest) < _LEAST_OWN_CHARS:
        return False
    around = found.path(found.blocks[rest[0]].element)[1:]
    shared = next((e for e in around if found.elements[e].end > rest[-1]), 0)
    holder = found.elements[shared]
    return not holder.first <= element.first < holder.end


def _is_list_of_excerpts(found: PageBlocks, at: int) -> bool:
    """Whether the element *at* holds like items that begin with a link and go on with text."""
    elements, blocks = found.elements, found.blocks
    if elements[at].end - elements[at].first > _MAX_BLOCKS:
        return False
    items = [elements[i] for i in inside(elements, at) if elements[i].parent == at]
    items = [item for item in items if item.end > item.first]
    if len(items) < _LEAST_ITEMS or len({(item.tag, item.names) for item in items}) > 1:
        return False
    return all(
        blocks[item.first].linked >= _LEAST_TITLE_CHARS
        and any(len(b.text) - b.linked >= _TEXT_CHARS for b in blocks[item.first : item.end])
        for item in items
    )
