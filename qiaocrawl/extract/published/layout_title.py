"""The published way to find a title (T5): by font size, centring and colour above the text.

From the top the first paragraph that is long enough is taken for the beginning of the text; of the
lines above it the one that looks most like a title is it. How much size, centring and colour count
is **(ours)**: the size in em, half a point for centred, half for another colour than the text's; of
equal lines the one nearest to the text. Sizes are read from tags and attributes of the page itself,
not from style sheets **(ours)**. The text's last step, a grammatical check that may join the
paragraph before or after, is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.published.visual_style import page_style
from qiaocrawl.language import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from qiaocrawl.page.blocks import Block, PageBlocks
    from qiaocrawl.page.page import Page

LAYOUT, WEIGHED = "layout", "weighed"

_PARAGRAPH_CHARS = 60
_LINES_ABOVE = 30
_LEAST_CHARS, _MOST_CHARS = 4, 100
_ANCESTORS = 3
_TAG_EM = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h5": 0.83, "h6": 0.67, "small": 0.83, "big": 1.2}
_FONT_EM = (0.63, 0.82, 1.0, 1.13, 1.5, 2.0, 3.0)
_SIZE = re.compile(r"font-size\s*:\s*(\d+(?:\.\d+)?)(px|pt|em|rem|%)", re.IGNORECASE)
_UNIT_EM = {"px": 1 / 16, "pt": 1 / 12, "em": 1.0, "rem": 1.0, "%": 0.01}
_CENTRED = re.compile(r"text-align\s*:\s*center", re.IGNORECASE)
_INLINE = "font,span,b,strong,big"

_chosen = [WEIGHED]


def use_title_method(name: str) -> None:
    """Let titles of this process be found by the method *name*.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in (LAYOUT, WEIGHED):
        raise ConfigError(
            _(
                "unknown title method {name!r} (there are: {layout}, {weighed})",
                name=name,
                layout=LAYOUT,
                weighed=WEIGHED,
            )
        )
    _chosen[:] = [name]


def is_by_layout() -> bool:
    """Whether titles of this process are found by their layout."""
    return _chosen[0] == LAYOUT


def title_by_layout(page: Page) -> Field | None:
    """The line above the text that looks most like a title; None where nothing stands above."""
    page_blocks = page.blocks
    blocks = page_blocks.blocks
    start = next((n for n, block in enumerate(blocks) if _is_paragraph(block)), 0)
    colours = page_style(page, declared_only=True).colours
    best: tuple[float, int] | None = None
    for index in range(max(0, start - _LINES_ABOVE), start):
        block = blocks[index]
        if not (_LEAST_CHARS <= len(block.text) <= _MOST_CHARS) or _is_link(block):
            continue
        differs = _colour(page_blocks, block, colours) != colours[blocks[start].element]
        points = _size(page_blocks, block) + 0.5 * _is_centred(page_blocks, block) + 0.5 * differs
        # >=: of equal lines the later one, which stands nearer to the text.
        if best is None or points >= best[0]:
            best = points, index
    if best is None:
        return None
    return Field(blocks[best[1]].text, "layout above the text", min(0.95, best[0] / 3))


def _is_paragraph(block: Block) -> bool:
    return len(block.text) >= _PARAGRAPH_CHARS and not _is_link(block)


def _is_link(block: Block) -> bool:
    return 2 * block.linked > len(block.text)


def _nodes(page_blocks: PageBlocks, block: Block) -> Iterator[LexborNode]:
    """What the block's text may take its look from, the innermost first."""
    inner = page_blocks.elements[block.element].node
    inline = inner.css_first(_INLINE)
    # Markup around one word of a line says nothing about the line.
    if inline is not None and 2 * len(inline.text()) >= len(block.text):
        yield inline
    index = block.element
    for _level in range(_ANCESTORS):
        if index < 0:
            return
        yield page_blocks.elements[index].node
        index = page_blocks.elements[index].parent


def _size(page_blocks: PageBlocks, block: Block) -> float:
    for node in _nodes(page_blocks, block):
        match = _SIZE.search(node.attributes.get("style") or "")
        if match is not None:
            return float(match[1]) * _UNIT_EM[match[2].lower()]
        number = node.attributes.get("size") or ""
        if node.tag == "font" and re.fullmatch(r"[+-]?[1-7]", number):
            place = int(number) + 3 if number[0] in "+-" else int(number)
            return _FONT_EM[min(max(place, 1), 7) - 1]
        if node.tag in _TAG_EM:
            return _TAG_EM[node.tag]
    return 1.0


def _is_centred(page_blocks: PageBlocks, block: Block) -> bool:
    return any(
        node.tag == "center"
        or (node.attributes.get("align") or "").lower() == "center"
        or _CENTRED.search(node.attributes.get("style") or "") is not None
        for node in _nodes(page_blocks, block)
    )


def _colour(page_blocks: PageBlocks, block: Block, colours: list[str]) -> str:
    for node in _nodes(page_blocks, block):
        if node.tag == "font" and node.attributes.get("color"):
            return str(node.attributes["color"]).lower()
    return colours[block.element]
