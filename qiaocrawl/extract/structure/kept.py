"""What of a page belongs into the structured body: blocks, elements around them, data tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.methods.block_vocabulary import tells_of_article
from qiaocrawl.page.blocks import Block, Element, PageBlocks
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import without_blanks

LEAD_BLOCKS = 6
"""A picture stands at most so many blocks before the body that it leads."""
_WHOLE_TABLE_SHARE = 0.5
"""A data table of which this share of the text was taken is shown whole."""
_MAX_CELL_CHARS = 600
_FIGURE_CHARS = 40
_MIN_ROWS = 2
_MAX_LINKED_SHARE = 0.3
_MAX_HEADING_CHARS = 60
_WHOLE_LIST_SHARE = 0.6
_MIN_ITEM_CHARS = 8
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
        if is_data_table(found, at):
            kept.tables.add(at)
            _complete(found, at, kept)
    if pictures:
        for at in _with_images(page, min(kept.blocks), max(kept.blocks)):
            _add_around(found, at, kept.elements)
            _add_captions(found, at, kept)
    return kept


def _after_title(blocks: Sequence[Block], taken: Sequence[int], title: str) -> Sequence[int]:
    tight = without_blanks(title)
    first = 0
    while first < len(taken) - 1 and without_blanks(blocks[taken[first]].text) == tight:
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


def is_data_table(found: PageBlocks, at: int) -> bool:
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


def complete(page: Page, body: Body) -> Body:
    """*body* with what stands between its blocks, or ends it, and reads like furniture by itself.

    Those are data tables of which most was taken; data tables and code with the article's own text
    before them and either after them or nothing else in the element around both; the rest of a list
    of which most was taken, and a list between two taken blocks; and headings right above a block
    of all these. **(ours)**
    """
    if not body.blocks:
        return body
    found, texts = page.blocks, page.once(BlockTexts)
    taken = set(body.blocks)
    first = texts.elements_until(body.blocks[0])
    end = texts.elements_until(body.blocks[-1] + 1)
    candidates = [at for at in range(first, end) if found.elements[at].tag in _MAY_BELONG]
    begun = found.path(found.blocks[body.blocks[0]].element)
    candidates += [at for at in begun if found.elements[at].tag == "table"][:1]
    # Headings come last: one may stand above a list that was added.
    for belongs_by_tag in (_BELONGS, _BELONGS_THEN):
        for at in candidates:
            belongs = belongs_by_tag.get(found.elements[at].tag)
            if belongs is not None and belongs(found, at, taken):
                taken.update(range(found.elements[at].first, found.elements[at].end))
    added = len(taken) - len(body.blocks)
    if not added:
        return body
    chosen = tuple(sorted(taken))
    text = "\n".join(found.blocks[index].text for index in chosen)
    reason = f"{body.reason}; {added} blocks of tables, lists, code and headings between them"
    return replace(body, text=text, blocks=chosen, reason=reason)


def _is_inner(found: PageBlocks, at: int, taken: set[int]) -> bool:
    """Whether the element *at* stands between taken text of the element around it, or ends it."""
    element = found.elements[at]
    around = found.elements[element.parent]
    before, after = range(around.first, element.first), range(element.end, around.end)
    if taken.isdisjoint(before) or _is_linked(found, range(element.first, element.end)):
        return False
    if after:
        return not taken.isdisjoint(after)
    return taken.issuperset(before)


def _is_linked(found: PageBlocks, span: range) -> bool:
    linked = sum(found.blocks[index].linked for index in span)
    return linked > _MAX_LINKED_SHARE * _chars(found.blocks, span)


def _is_inner_table(found: PageBlocks, at: int, taken: set[int]) -> bool:
    span = range(found.elements[at].first, found.elements[at].end)
    if _is_inner(found, at, taken):
        return is_data_table(found, at)
    if _is_linked(found, span) or any(len(found.blocks[i].text) > _FIGURE_CHARS for i in span):
        return False  # a form with sentences in it
    chars = _chars(found.blocks, (i for i in span if i in taken))
    is_most = chars >= _WHOLE_TABLE_SHARE * _chars(found.blocks, span)
    return is_most and is_data_table(found, at)


def _is_heading(found: PageBlocks, at: int, taken: set[int]) -> bool:
    element = found.elements[at]
    span = range(element.first, element.end)
    around = found.elements[element.parent]
    return (
        len(span) == 1
        and element.end in taken
        and element.end < around.end
        and not taken.isdisjoint(range(around.first, element.first))
        and len(found.blocks[element.first].text) <= _MAX_HEADING_CHARS
        and not _is_linked(found, span)
        and not tells_of_article(found.blocks[element.first].text)
    )


def _is_list_of_text(found: PageBlocks, at: int, taken: set[int]) -> bool:
    """Whether most of a list was taken, or it stands between two taken blocks and tells something.

    A heading may stand between it and the block before it.
    """
    element = found.elements[at]
    span = range(element.first, element.end)
    if not span or taken.issuperset(span) or _is_linked(found, span):
        return False
    whole = _chars(found.blocks, span)
    if not taken.isdisjoint(span):
        return _chars(found.blocks, (i for i in span if i in taken)) >= _WHOLE_LIST_SHARE * whole
    around = found.elements[element.parent]
    is_between = (
        element.end < around.end
        and element.end in taken
        and not taken.isdisjoint(range(max(around.first, element.first - 2), element.first))
    )
    return is_between and whole >= _MIN_ITEM_CHARS * len(span)


_BELONGS: dict[str, Callable[[PageBlocks, int, set[int]], bool]] = {
    "table": _is_inner_table,
    "pre": _is_inner,
    **dict.fromkeys(("ul", "ol", "dl"), _is_list_of_text),
}
_BELONGS_THEN: dict[str, Callable[[PageBlocks, int, set[int]], bool]] = dict.fromkeys(
    ("h2", "h3", "h4", "h5", "h6"), _is_heading
)
_MAY_BELONG = _BELONGS.keys() | _BELONGS_THEN.keys()
