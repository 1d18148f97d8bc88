"""The nodes of a page as the clustering sees them (U5): candidates and their five features.

The features are the published ones: length of the text, mean length of a paragraph, length of
the link text, number of images, number of full stops. Lengths are characters without white
space; a paragraph is a block of :mod:`qiaocrawl.page.blocks` **(ours)**; a full stop is 。 or a
point at the end of a word **(ours)**, so that figures like 3.5 have none.

Before that the page is prepared as published: nodes without text and nodes that hold links only
are dropped. Holding links only means **(ours)** that at least 0.8 of the text is linked, fewer
than 200 characters are not, and no full stop stands outside blocks of links: the last two keep a
short article between much navigation from being dropped with it. What is dropped counts for no
node around it either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.page.blocks import Block, Element, PageBlocks

    Floats = NDArray[np.float64]
    Indexes = NDArray[np.intp]

FEATURES = ("text_chars", "paragraph_chars", "link_chars", "images", "full_stops")
LINK_ONLY_SHARE = 0.8
LINK_ONLY_PLAIN_CHARS = 200
LEAST_CHARS = 10
"""Nodes with less text are no candidates **(ours)**: they only make the clustering slow."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate nodes of a page in document order, outer ones before inner ones.

    Attributes:
        features: one row a candidate, columns as in :data:`FEATURES`, all >= 0.
        first, end: the blocks of each candidate, ``blocks[first:end]``.
        kept: for every block of the page, whether it is outside nodes of links only.
    """

    features: Floats
    first: Indexes
    end: Indexes
    kept: NDArray[np.bool_]


def candidates_of(page: PageBlocks) -> Candidates:
    """The candidates among the elements of *page*; of elements around the same text the inner."""
    elements, blocks = page.elements, page.blocks
    first = np.array([element.first for element in elements], dtype=np.intp)
    end = np.array([element.end for element in elements], dtype=np.intp)
    chars = np.array([len(block.text) - block.text.count(" ") for block in blocks], dtype=float)
    linked = np.array([block.linked for block in blocks], dtype=float)
    stops = _full_stops(blocks)
    stays = _outside_link_nodes((chars, linked, stops), first, end)
    text = _inside(chars * stays, first, end)
    paragraphs = _inside(stays.astype(float), first, end)
    features = np.column_stack((
        text, text / np.maximum(paragraphs, 1.0), _inside(linked * stays, first, end),
        _images(elements), _inside(stops * stays, first, end),
    ))  # fmt: skip
    chosen = _innermost(first, end, text >= LEAST_CHARS)
    return Candidates(features[chosen], first[chosen], end[chosen], stays)


def _outside_link_nodes(
    counts: tuple[Floats, Floats, Floats], first: Indexes, end: Indexes
) -> NDArray[np.bool_]:
    """Which blocks stay, by each block's characters, linked characters and full stops."""
    chars, linked, stops = counts
    text, links = _inside(chars, first, end), _inside(linked, first, end)
    unlinked_stops = _inside(stops * (linked < 0.5 * chars), first, end)
    only = (text > 0) & (links >= LINK_ONLY_SHARE * text) & (unlinked_stops == 0)
    only &= text - links < LINK_ONLY_PLAIN_CHARS
    steps = np.zeros(len(chars) + 1, dtype=np.intp)
    np.add.at(steps, first[only], 1)
    np.add.at(steps, end[only], -1)
    return np.asarray(np.cumsum(steps[:-1]) == 0)


def _inside(values: Floats, first: Indexes, end: Indexes) -> Floats:
    """Sums of *values*, one a block, over the blocks of every element."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    return np.asarray(sums[end] - sums[first], dtype=float)


def _full_stops(blocks: list[Block]) -> Floats:
    texts = (block.text for block in blocks)
    return np.array(
        [text.count("。") + text.count(". ") + text.endswith(".") for text in texts], dtype=float
    )


def _images(elements: list[Element]) -> Floats:
    """Images in and below every element."""
    counts = [element.images for element in elements]
    if any(counts):
        for index in range(len(elements) - 1, 0, -1):
            if counts[index]:
                counts[elements[index].parent] += counts[index]
    return np.array(counts, dtype=float)


def _innermost(first: Indexes, end: Indexes, wanted: NDArray[np.bool_]) -> Indexes:
    """Indexes of the wanted elements, the last of those around the same blocks."""
    indexes = np.flatnonzero(wanted)
    spans = zip(first[indexes].tolist(), end[indexes].tolist(), strict=True)
    last = dict(zip(spans, indexes.tolist(), strict=True))
    return np.array(sorted(last.values()), dtype=np.intp)
