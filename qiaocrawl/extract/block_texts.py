"""Views of the texts of a page's blocks, each made at most once a page.

A search through the joined text of all short blocks takes a fraction of the time of a search
in every block, and nearly always finds nothing. Use: ``page.once(BlockTexts)``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter

from qiaocrawl.page.blocks import PageBlocks
from qiaocrawl.page.page import Page

SHORT_CHARS = 120
"""Longer blocks are paragraphs: no line of a menu, no heading, no head of a post."""
_LINE_CHARS = 500
_NAMES_END = "\0"
"""Between the names of elements: the one character no attribute holds."""
_FIRST = attrgetter("first")


class BlockTexts:
    """Views of the blocks of *page*.

    Attributes:
        texts: of all blocks, in order.
    """

    def __init__(self, page: Page) -> None:
        self._found = page.blocks
        self.texts = [block.text for block in self._found.blocks]

    @cached_property
    def short(self) -> str:
        """The blocks of at most :data:`SHORT_CHARS` characters, a line each."""
        return "\n".join([text for text in self.texts if len(text) <= SHORT_CHARS])

    def short_with(self, words: Iterable[str]) -> list[int]:
        """Indexes of the blocks of :attr:`short` that hold one of *words*, in order."""
        lines = lines_with(self.short, words)
        if not lines:
            return []
        short = [index for index, text in enumerate(self.texts) if len(text) <= SHORT_CHARS]
        return [short[line] for line in lines]

    @cached_property
    def lines(self) -> frozenset[str]:
        """The blocks of at most 500 characters, to ask whether a text is a block by itself."""
        return frozenset([text for text in self.texts if len(text) <= _LINE_CHARS])

    @cached_property
    def _names(self) -> str:
        return _NAMES_END.join([element.names for element in self._found.elements])

    def elements_named(self, *parts: str) -> list[int]:
        """Indexes of the elements whose class or id holds one of *parts*, in order."""
        return lines_with(self._names, parts, _NAMES_END)

    def elements_until(self, block: int) -> int:
        """How many elements begin at or before block *block*: the first so many."""
        blocks, elements = self._found.blocks, self._found.elements
        if block + 1 >= len(blocks):
            return len(elements)
        at = blocks[max(0, block + 1)].element
        if elements[at].first <= block:
            return bisect_right(elements, block, at + 1, key=_FIRST)
        # Nearly always: the next block begins an element of its own, and what is left to find
        # are those around it that begin with it.
        while at and elements[at - 1].first > block:
            at -= 1
        return at


def lines_with(whole: str, words: Iterable[str], end: str = "\n") -> list[int]:
    """Numbers of the lines of *whole* in which one of *words* stands, in order; case counts.

    Args:
        end: what stands between two lines; it is in none of *words*.
    """
    lines: set[int] = set()
    for word in words:
        line = done = 0
        while (at := whole.find(word, done)) >= 0:
            line += whole.count(end, done, at)
            lines.add(line)
            done = whole.find(end, at)
            if done < 0:
                break
    return sorted(lines)


def enclosing(blocks: PageBlocks, element: int, levels: int) -> list[int]:
    """Indexes of *element* and of those around it, innermost first, at most *levels*."""
    indexes: list[int] = []
    while element >= 0 and len(indexes) < levels:
        indexes.append(element)
        element = blocks.elements[element].parent
    return indexes
