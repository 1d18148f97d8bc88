"""What of a page belongs into the structured body: blocks, elements around them, data tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.page import Page
from qiaocrawl.page.blocks import Block, Element, PageBlocks

LEAD_BLOCKS = 6
"""A picture stands at most so many blocks before the body that it leads."""
_WHOLE_TABLE_SHARE = 0.5
"""A data table of which this share of the text was taken is shown whole."""
_MAX_CELL_CHARS = 600
_MIN_ROWS = 2
_MIN_AROUND = 2
_MAX_LINKED_SHARE = 0.3
_MIN_ROW_SHARE = 0.6
_MIN_FILLED = 1.5
_MAX_CAPTION_BLOCKS = 4
_NO_DATA = frozenset(("table", "pre", "h1", "h2", "form"))


@dataclass(frozen=True, slots=True)
class Kept:
    """What the structured body is made of, as indexes into the page's blocks and elements.

    Attributes:
        blocks: the blocks that are shown.
        elements: those that hold something shown, and all around them.
        tables: those of *elements* that are tables of data, not of layout.
    """

    blocks: set[int]
    elements: set[int]
    tables: set[int]


def kept_of(page: Page, body: Body, title: str, pictures: Mapping[str, str]) -> Kept:
    """What is shown of the blocks of *body*, without leading ones that repeat *title*.

    Two things are added: the rest of a data table that was taken for the most part, and the
    caption of a ``<figure>`` in the body. **(ours)**

    Args:
        pictures: the addresses of the pictures of the article.
    """
    found = page.blocks
    kept = Kept(set(_after_title(found.blocks, body.blocks, title)), set(), set())
    for index in kept.blocks:
        _add_around(found, found.blocks[index].element, kept.elements)
    if not kept.blocks:
        return kept
    for at in sorted(at for at in kept.elements if found.elements[at].tag == "table"):
        if _is_data(found, at):
            kept.tables.add(at)
            _complete(found, at, kept)
    if pictures:
        for at in _with_images(page, min(kept.blocks), max(kept.blocks)):
            _add_around(found, at, kept.elements)
            _add_captions(found, at, kept)
    return kept


def _after_title(blocks: Sequence[Block], taken: Sequence[int], title: str) -> Sequence[int]:
    tight = "".join(title.split())
    first = 0
    while first < len(taken) - 1 and "".join(blocks[taken[first]].text.split()) == tight:
        first += 1
    return taken[first:]


def _add_around(found: PageBlocks, element: int, elements: set[int]) -> None:
    while element >= 0 and element not in elements:
        elements.add(element)
        element = found.elements[element].parent


def inside(elements: Sequence[Element], at: int) -> range:
    """Indexes of the elements inside the element *at*: its descendants follow it."""
    depth, end = elements[at].depth, at + 1
    while end < len(elements) and elements[end].depth > depth:
        end += 1
    return range(at + 1, end)


def _is_data(found: PageBlocks, at: int) -> bool:
    """Whether a table holds rows of short cells, and nothing that pages are laid out with."""
    elements, blocks = found.elements, found.blocks
    rows: list[int] = []
    filled = 0
    for index in inside(elements, at):
        element = elements[index]
        if element.tag in _NO_DATA:
            return False
        if element.tag == "tr":
            rows.append(_cells(element))
        elif element.tag in ("td", "th"):
            filled += element.end > element.first
            if _chars(blocks, range(element.first, element.end)) > _MAX_CELL_CHARS:
                return False
    full = sum(cells > 1 for cells in rows)
    return (
        full >= _MIN_ROWS
        and full >= _MIN_ROW_SHARE * len(rows)
        and filled >= _MIN_FILLED * len(rows)
    )


def _cells(row: Element) -> int:
    """How many cells a row has, empty ones too."""
    cells, child = 0, row.node.first_child
    while child is not None:
        cells += child.tag in ("td", "th")
        child = child.next
    return cells


def _complete(found: PageBlocks, at: int, kept: Kept) -> None:
    span = range(found.elements[at].first, found.elements[at].end)
    taken = _chars(found.blocks, (index for index in span if index in kept.blocks))
    if taken >= _WHOLE_TABLE_SHARE * _chars(found.blocks, span):
        _add_blocks(found, span, kept)


def _add_blocks(found: PageBlocks, span: range, kept: Kept) -> None:
    for index in span:
        kept.blocks.add(index)
        _add_around(found, found.blocks[index].element, kept.elements)


def _chars(blocks: Sequence[Block], indexes: Iterable[int]) -> int:
    return sum(len(blocks[index].text) for index in indexes)


def _with_images(page: Page, first: int, last: int) -> list[int]:
    """Elements that hold pictures directly, from a little before the body to its end."""
    texts, elements = page.once(BlockTexts), page.blocks.elements
    begin = texts.elements_until(max(first - LEAD_BLOCKS, 0) - 1)
    end = texts.elements_until(last + 1)
    return [at for at in range(begin, end) if elements[at].images]


def _add_captions(found: PageBlocks, at: int, kept: Kept) -> None:
    """Keep the text of the ``<figure>`` around the element *at*, where that is a caption."""
    elements = found.elements
    while at >= 0 and elements[at].tag != "figure":
        at = elements[at].parent
    if at >= 0 and 0 < elements[at].end - elements[at].first <= _MAX_CAPTION_BLOCKS:
        _add_blocks(found, range(elements[at].first, elements[at].end), kept)


def completed(page: Page, body: Body) -> Body:
    """*body* with the data tables and the code that stand between its blocks.

    Cells of numbers and lines of a program read like furniture, one by one; a table or listing
    with the article's own text before and after it, in the same element, is the article's.
    **(ours)**
    """
    if len(body.blocks) < _MIN_AROUND:
        return body
    found = page.blocks
    taken = set(body.blocks)
    added = set(taken)
    begin, end = body.blocks[0], body.blocks[-1]
    texts = page.once(BlockTexts)
    first = texts.elements_until(begin)
    for at, element in enumerate(found.elements[first : texts.elements_until(end)], first):
        if element.tag not in ("table", "pre") or not begin < element.first < element.end <= end:
            continue
        span = range(element.first, element.end)
        if added.issuperset(span) or not _is_inner(found, at, taken):
            continue
        if element.tag == "pre" or _is_data(found, at):
            added.update(span)
    if len(added) == len(taken):
        return body
    chosen = tuple(sorted(added))
    text = "\n".join(found.blocks[index].text for index in chosen)
    reason = f"{body.reason}; {len(added) - len(taken)} blocks of tables and code between them"
    return replace(body, text=text, blocks=chosen, reason=reason)


def _is_inner(found: PageBlocks, at: int, taken: set[int]) -> bool:
    """Whether text was taken before and after the element *at*, within the one around it."""
    element = found.elements[at]
    around = found.elements[element.parent]
    linked = sum(found.blocks[index].linked for index in range(element.first, element.end))
    size = _chars(found.blocks, range(element.first, element.end))
    return (
        linked <= _MAX_LINKED_SHARE * size
        and any(index in taken for index in range(around.first, element.first))
        and any(index in taken for index in range(element.end, around.end))
    )
