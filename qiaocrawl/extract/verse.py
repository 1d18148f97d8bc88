"""Bodies without sentences, which any other rule takes for lists: poems, songs, a table of data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qiaocrawl.extract.base import Body
from qiaocrawl.extract.structure.kept import is_data_table
from qiaocrawl.page.blocks import Block
from qiaocrawl.page.page import Page

_LINE_CHARS = 40
_LEAST_LINES = 8
_HEADED_WITHIN = 6
_MOST_FACTS = 0.2
_LEAST_FIGURES = 0.4
_FACT = re.compile(r"[0-9０-９:：@]")
"""What timetables, addresses and lists of goods have in nearly every line."""


def is_verse(lines: Sequence[Block]) -> bool:
    """Whether *lines*, all of one element, are short lines of text without links."""
    return all(
        line.element == lines[0].element and not line.linked and len(line.text) <= _LINE_CHARS
        for line in lines
    )


def is_verse_body(page: Page, body: Body) -> bool:
    """Whether *body* is nothing but stanzas: elements of lines with ``<br>`` between."""
    blocks = [page.blocks.blocks[index] for index in body.blocks]
    if len(blocks) < _LEAST_LINES:
        return False
    stanzas: dict[int, list[Block]] = {}
    for block in blocks:
        stanzas.setdefault(block.element, []).append(block)
    if not all(len(lines) > 1 and is_verse(lines) for lines in stanzas.values()):
        return False
    if not _is_headed(page, body.blocks[0]):
        return False
    facts = sum(_FACT.search(block.text) is not None for block in blocks)
    return facts <= _MOST_FACTS * len(blocks)


def is_table_body(page: Page, body: Body) -> bool:
    """Whether *body* is nothing but a table of figures without links."""
    found = page.blocks
    cells = [found.blocks[index] for index in body.blocks]
    if len(cells) < _LEAST_LINES or any(b.linked or len(b.text) > _LINE_CHARS for b in cells):
        return False
    if sum(_FACT.search(cell.text) is not None for cell in cells) < _LEAST_FIGURES * len(cells):
        return False
    around = found.path(found.blocks[body.blocks[0]].element)
    table = next((at for at in around if found.elements[at].tag == "table"), -1)
    if table < 0 or body.blocks[-1] >= found.elements[table].end:
        return False
    return is_data_table(found, table)


def _is_headed(page: Page, first: int) -> bool:
    """Whether a heading stands just above block *first*."""
    blocks, elements = page.blocks.blocks, page.blocks.elements
    above = blocks[max(0, first - _HEADED_WITHIN) : first]
    return any(elements[block.element].tag in ("h1", "h2", "h3") for block in above)
