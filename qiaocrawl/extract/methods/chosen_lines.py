"""What becomes of the blocks a method chose: lines that belong to them, and lines that do not."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from qiaocrawl.extract.comments import is_dated
from qiaocrawl.extract.methods.block_sums import Floats
from qiaocrawl.extract.verse import is_verse
from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page

_DOUBTFUL = 0.3
"""Least judgement of a line that is taken because its like stand on both sides."""
_CELL_CHARS = 30
_LINE_CHARS, _BESIDE_DATE_CHARS = 60, 12
_DAY = re.compile(
    r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?|"
    r"\d{1,2}(?:st|nd|rd|th)?\s[a-z]{3,9}\.?,?\s(?:19|20)\d\d|"
    r"[a-z]{3,9}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s(?:19|20)\d\d",
    re.IGNORECASE,
)
_CLOCK_OR_MARK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|[\W_]")
_STOPS = "。！？.!?"
_CHINESE_STOPS = "。！？"
_LINKED = 0.8
"""A line of links has this share of its characters in them."""


def with_like_lines(page: Page, judged: Floats, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* with doubtful lines that stand among them in like places.

    A list of names or a poem has no sentences, and nothing tells one of its lines from another.
    A short sentence may be the last paragraph: the conference ended, say.
    """
    blocks, elements = page.blocks.blocks, page.blocks.elements
    taken = set(chosen.tolist())
    for i in chosen.tolist():
        line = i + 1
        if line in taken or line >= len(blocks) or judged[line] < _DOUBTFUL:
            continue
        if line + 1 not in taken and not (
            i == chosen[-1] and blocks[line].text[-1] in _CHINESE_STOPS
        ):
            continue
        above, element = elements[blocks[i].element], elements[blocks[line].element]
        is_like = (above.parent, above.tag, above.names) == (
            element.parent, element.tag, element.names)  # fmt: skip
        if is_like and not blocks[line].linked and not is_dated(blocks[line].text):
            taken.add(line)
    for at in {blocks[i].element for i in chosen.tolist() if blocks[i].after_break}:
        span = range(elements[at].first, elements[at].end)
        if is_verse(blocks[span.start : span.stop]) and 2 * len(taken & set(span)) >= len(span):
            taken.update(i for i in span if judged[i])
    return np.array(sorted(taken), dtype=np.int64)


def without_lead_in(page: Page, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* less what stands before its text: a cell of a table of which nothing else was
    chosen, and a line of the date and little else, at the beginning or below a headline.
    """
    found = page.blocks
    if len(chosen) > 1 and _is_lone_cell(found, int(chosen[0]), int(chosen[1])):
        chosen = chosen[1:]
    head = [found.blocks[index].text for index in chosen[:2].tolist()]
    after_headline = bool(head) and len(head[0]) <= _LINE_CHARS and head[0][-1] not in _STOPS
    for place, text in enumerate(head[: 1 + after_headline]):
        if len(chosen) > place + 1 and _is_dateline(text):
            return np.delete(chosen, place)
    return chosen


def _is_lone_cell(found: PageBlocks, index: int, following: int) -> bool:
    """Whether block *index* is a short cell in a table that ends before block *following*."""
    if len(found.blocks[index].text) > _CELL_CHARS:
        return False
    path = [found.elements[at] for at in found.path(found.blocks[index].element)]
    table = next((element for element in path if element.tag == "table"), None)
    return table is not None and table.end - table.first > 1 and table.end <= following


def _is_dateline(text: str) -> bool:
    if len(text) > _LINE_CHARS or text[-1] in _STOPS:
        return False
    rest = _DAY.sub("", text)
    return rest != text and len(_CLOCK_OR_MARK.sub("", rest)) <= _BESIDE_DATE_CHARS


def without_linked_ends(page: Page, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """*chosen* less lines of links at either end: they lead elsewhere. All, if there is no text."""
    blocks = page.blocks.blocks
    own = [n for n, i in enumerate(chosen) if blocks[i].linked < _LINKED * len(blocks[i].text)]
    return chosen[own[0] : own[-1] + 1] if own else chosen
