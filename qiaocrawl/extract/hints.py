"""Looking into the blocks of a page: for words, and for the elements around a block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from qiaocrawl.page.blocks import PageBlocks


def blocks_with(found: PageBlocks, words: Iterable[str]) -> list[int]:
    """Indexes of the blocks in which one of *words* stands, in order; case counts."""
    texts = [block.text for block in found.blocks]
    whole = "\n".join(texts)
    present = [word for word in words if word in whole]
    if not present:
        return []
    ends = list(accumulate(len(text) + 1 for text in texts))
    places: set[int] = set()
    for word in present:
        at = whole.find(word)
        while at >= 0:
            index = bisect_right(ends, at)
            places.add(index)
            at = whole.find(word, ends[index])
    return sorted(places)


def around(found: PageBlocks, element: int, levels: int) -> list[int]:
    """Indexes of *element* and of those around it, innermost first, at most *levels*."""
    indexes: list[int] = []
    while element >= 0 and len(indexes) < levels:
        indexes.append(element)
        element = found.elements[element].parent
    return indexes
