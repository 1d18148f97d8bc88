"""What the elements of a page look like: backgrounds, font colours and areas.

From the layout of a rendered page where there is one, else from what the page's own markup
declares: ``bgcolor``, ``text``, ``<font color>``, ``style``, ``width`` and ``height``
attributes, and the ``<style>`` rules whose selector is one tag, class or id (``p``, ``.note``,
``#main``, ``div.note``). Style sheets in other files are not read **(ours)**.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING

from qiaocrawl.page.layout import DEFAULT_BACKGROUND, DEFAULT_COLOUR, Layout, layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qiaocrawl.page.blocks import Element, PageBlocks
    from qiaocrawl.page.page import Page

MAX_STYLE_CHARS = 300_000
"""Of all ``<style>`` elements together; rules past this are not read."""
LINE_PX = 24.0
"""Height of a line of text: 16 px letters, line height 1.5 **(ours)**."""
COLUMN_EM = 40.0
"""Width of a column that declares none, in Chinese characters **(ours)**: 640 px."""
IMAGE_AREA_PX = 60_000.0
"""Area of an image, about 300 x 200 **(ours)**."""

_EM_PX = 16.0
_MAX_PX = 5000
_MAX_INLINE_DEPTH = 8
# Font sizes of the browsers' default style sheet, in em.
_TAG_EM = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h5": 0.83, "h6": 0.67}
# What these read is lower case.
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?(?:([.#])([-\w]+))?")
_DECLARATION = re.compile(r"(?:^|;)\s*(background-color|background|color|width|height)\s*:([^;]*)")
_WANTED = ("background", "color", "width", "height")
_COLOUR = re.compile(
    r"(?<![\w#&-])(?:#([0-9a-f]{6}|[0-9a-f]{3})(?![0-9a-f])"
    r"|rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,\s*(0|0?\.0+)\s*)?[^)]*\)"
    r"|([a-z]{3,20})(?![\w(-]))"
)
_ADDRESS = re.compile(r"url\([^)]*\)?")
_MAX_VALUE_CHARS = 2_000  # a background may hold a picture as data
_PX = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]*)?\s*(?:px)?\s*(?:!.*)?")
_NAMED = {
    "aqua": "#00ffff", "beige": "#f5f5dc", "black": "#000000", "blue": "#0000ff",
    "brown": "#a52a2a", "cyan": "#00ffff", "darkblue": "#00008b", "darkgray": "#a9a9a9",
    "darkgreen": "#006400", "darkred": "#8b0000", "fuchsia": "#ff00ff", "gold": "#ffd700",
    "gray": "#808080", "green": "#008000", "grey": "#808080", "lightblue": "#add8e6",
    "lightgray": "#d3d3d3", "lightgrey": "#d3d3d3", "lightyellow": "#ffffe0",
    "lime": "#00ff00", "maroon": "#800000", "navy": "#000080", "olive": "#808000",
    "orange": "#ffa500", "pink": "#ffc0cb", "purple": "#800080", "red": "#ff0000",
    "silver": "#c0c0c0", "snow": "#fffafa", "teal": "#008080", "tomato": "#ff6347",
    "white": "#ffffff", "whitesmoke": "#f5f5f5", "yellow": "#ffff00",
}  # fmt: skip
_LEGACY_HEX = re.compile("[0-9a-f]{6}|[0-9a-f]{3}")

Style = dict[str, str | int]
"""``background`` and ``color`` as ``#rrggbb``, ``width`` and ``height`` in px; no other keys."""
_NO_STYLE: Style = {}


@dataclass(frozen=True, slots=True)
class PageStyle:
    """What the elements and blocks of a page look like.

    Attributes:
        backgrounds, colours: ``#rrggbb`` of each element of ``page.blocks``.
        known_areas: square pixels of the elements whose size is known, by index.
        area_before: square pixels of all blocks before each, and of all at the end.
        hidden: indexes of the outermost elements a browser did not display.
        page_area: square pixels of the whole page, above 0.
    """

    backgrounds: list[str]
    colours: list[str]
    known_areas: dict[int, float]
    area_before: list[float]
    hidden: frozenset[int]
    page_area: float

    def block_area(self, block: int) -> float:
        """Square pixels of the block with this index."""
        return self.area_before[block + 1] - self.area_before[block]

    def area(self, element: int, first: int, end: int) -> float:
        """Square pixels of *element*, which holds ``blocks[first:end]``."""
        known_area = self.known_areas.get(element)
        return self.area_before[end] - self.area_before[first] if known_area is None else known_area


def page_style(page: Page, *, declared_only: bool = False) -> PageStyle:
    """The look of *page*: as rendered, or as declared when it was not (or *declared_only*)."""
    layout = None if declared_only else layout_of(page)
    return _declared_style(page) if layout is None else _rendered_style(page.blocks, layout)


def _rendered_style(page_blocks: PageBlocks, layout: Layout) -> PageStyle:
    """The look a browser gave; a block has its share of its element's box by characters."""
    blocks, elements = page_blocks.blocks, page_blocks.elements
    before = [0, *accumulate(len(block.text) for block in blocks)]
    box_areas = {
        index: float(box.area) for index, box in enumerate(layout.boxes) if box is not None
    }
    nearest: list[int] = []  # the innermost element with a box, for each element
    for index, element in enumerate(elements):
        nearest.append(
            index if index in box_areas or element.parent < 0 else nearest[element.parent]
        )
    block_areas = []
    for block in blocks:
        boxed = nearest[block.element]
        size = before[elements[boxed].end] - before[elements[boxed].first]
        block_areas.append(box_areas.get(boxed, 0.0) * len(block.text) / size)
    whole = box_areas.get(0) or max(box_areas.values(), default=0.0) or 1.0
    area_before = [0.0, *accumulate(block_areas)]
    hidden = _hidden_elements(elements, layout, before)
    return PageStyle(layout.backgrounds, layout.colours, box_areas, area_before, hidden, whole)


def _hidden_elements(elements: list[Element], layout: Layout, before: list[int]) -> frozenset[int]:
    """The outermost elements that are not displayed; none of them where that is most text.

    Such a page waits for a script before it shows itself **(ours)**.
    """
    concealed: list[bool] = []
    hidden = []
    for index, element in enumerate(elements):
        around = element.parent >= 0 and concealed[element.parent]
        concealed.append(around or layout.is_hidden(index))
        if concealed[index] and not around:
            hidden.append(index)
    lost = sum(before[elements[i].end] - before[elements[i].first] for i in hidden)
    return frozenset() if 2 * lost > before[-1] else frozenset(hidden)


def _declared_style(page: Page) -> PageStyle:
    page_blocks = page.blocks
    styles = _styles(page)
    backgrounds: list[str] = []
    colours: list[str] = []
    columns: list[float] = []  # em
    for index, element in enumerate(page_blocks.elements):
        around, style = element.parent, styles.get(index, _NO_STYLE)
        background, colour, column = (
            (backgrounds[around], colours[around], columns[around])
            if around >= 0
            else (DEFAULT_BACKGROUND, DEFAULT_COLOUR, COLUMN_EM)
        )
        if style:
            width = style.get("width")
            background = str(style.get("background", background))
            colour = str(style.get("color", colour))
            column = max(1.0, int(width) / _EM_PX) if width else column
        backgrounds.append(background)
        colours.append(colour)
        columns.append(column)
    block_areas = [
        _text_area(block.text, page_blocks.elements[block.element].tag, columns[block.element])
        for block in page_blocks.blocks
    ]
    _add_images(page_blocks, block_areas)
    known = {
        index: float(int(style["width"]) * int(style["height"]))
        for index, style in styles.items()
        if "width" in style and "height" in style
    }
    area_before = [0.0, *accumulate(block_areas)]
    whole = max(area_before[-1], known.get(0, 0.0), 1.0)
    return PageStyle(backgrounds, colours, known, area_before, frozenset(), whole)


def _text_area(text: str, tag: str, column_em: float) -> float:
    """Square pixels of *text* set in a column: whole lines, letters twice as narrow as 汉字."""
    em = _TAG_EM.get(tag, 1.0)
    # UTF-8 takes three bytes for a Chinese character, one for a Latin letter.
    width_em = em * (len(text) + (len(text.encode("utf-8", "replace")) - len(text)) / 2) / 2
    lines = ceil(width_em / column_em)
    return lines * em * LINE_PX * column_em * _EM_PX


def _add_images(page_blocks: PageBlocks, block_areas: list[float]) -> None:
    """Give each image's area to a block of its element, or else of the element around it."""
    for element in page_blocks.elements:
        if element.images and block_areas:
            around = page_blocks.elements[element.parent] if element.parent >= 0 else element
            block = element.first if element.end > element.first else around.end - 1
            block_areas[max(0, min(block, element.first))] += element.images * IMAGE_AREA_PX


def _styles(page: Page) -> dict[int, Style]:
    """The declared style of each element that has one, by its index.

    Weakest first: attributes, tag, class and id rules, ``style``; of equals the last counts.
    ``!important`` is ignored, and so is the case of class names **(ours)**.
    """
    elements = page.blocks.elements
    rules = _rules(page)
    styles: dict[int, Style] = {}
    index_of = {element.node.mem_id: index for index, element in enumerate(elements)}
    for node in page.tree.css("[bgcolor],[width],[height],body[text]"):
        index = index_of.get(node.mem_id)
        if index is not None:
            _add(styles, index, _presentational(node.attributes))
    for index, element in enumerate(elements) if rules else ():
        for style in _matching(element, rules):
            _add(styles, index, style)
    for node in page.tree.css("[style]"):
        index = index_of.get(node.mem_id)
        if index is not None:
            _add(styles, index, declarations((node.attributes.get("style") or "").lower()))
    _add_font_colours(page, index_of, styles)
    return styles


def _add(styles: dict[int, Style], index: int, style: Style) -> None:
    if style:
        styles.setdefault(index, {}).update(style)


def _add_font_colours(page: Page, index_of: dict[int, int], styles: dict[int, Style]) -> None:
    """``<font color>`` around most of an element's text is the element's colour **(ours)**."""
    page_blocks = page.blocks
    fonts = page.tree.css("font[color]")
    before = [0, *accumulate(len(block.text) for block in page_blocks.blocks)] if fonts else []
    # Nested ones would have their text read over and over.
    text_budget = 4 * len(page.source) + 10_000
    for node in fonts:
        around = node.parent
        for _ in range(_MAX_INLINE_DEPTH):
            if around is None or around.mem_id in index_of:
                break
            around = around.parent
        index = None if around is None else index_of.get(around.mem_id)
        if index is None or text_budget < 0:
            continue
        element = page_blocks.elements[index]
        size = len(node.text())
        text_budget -= size
        colour = colour_in(_with_hash(node.attributes.get("color") or ""))
        if colour and 2 * size > before[element.end] - before[element.first]:
            _add(styles, index, {"color": colour})


def _presentational(attributes: dict[str, str | None]) -> Style:
    style: Style = {}
    for name, key in (("bgcolor", "background"), ("text", "color")):
        colour = colour_in(_with_hash(attributes.get(name) or ""))
        if colour:
            style[key] = colour
    for key in ("width", "height"):
        size = _px((attributes.get(key) or "").lower())
        if size:
            style[key] = size
    return style


def _with_hash(colour: str) -> str:
    """A colour of an attribute as style sheets write it: there the ``#`` may be missing."""
    colour = colour.strip().lower()
    return f"#{colour}" if _LEGACY_HEX.fullmatch(colour) else colour


def declarations(written: str) -> Style:
    """The colours and sizes among declarations *written* in lower case."""
    style: Style = {}
    for name, value in _DECLARATION.findall(written):
        if name in ("width", "height"):
            size = _px(value)
            if size:
                style[name] = size
            continue
        colour = colour_in(value)
        if colour:
            style["color" if name == "color" else "background"] = colour
    return style


def colour_in(value: str) -> str:
    """The first colour in *value* (lower case) as ``#rrggbb``; "" for none, or none that shows."""
    for match in _COLOUR.finditer(_ADDRESS.sub(" ", value[:_MAX_VALUE_CHARS])):
        digits, red, green, blue, clear, name = match.groups()
        if digits:
            return "#" + (digits if len(digits) == 6 else "".join(2 * d for d in digits))
        if red:
            channels = (min(255, int(n)) for n in (red, green, blue))
            return "" if clear else "#" + "".join(f"{n:02x}" for n in channels)
        if name in _NAMED:
            return _NAMED[name]
    return ""


def _px(value: str) -> int:
    match = _PX.fullmatch(value)
    return min(int(match[1]), _MAX_PX) if match else 0


_Rules = dict[str, dict[str, Style]]
"""What simple rules set, by what they name (``p``, ``.note``, ``#main``) and their tag or ""."""


def _rules(page: Page) -> _Rules:
    """The simple rules of all ``<style>`` elements that set a colour or a size."""
    rules: _Rules = {}
    left = MAX_STYLE_CHARS
    for node in page.tree.css("style"):
        sheet = (node.text() or "")[:left].lower()
        left -= len(sheet)
        for rule in _COMMENT.sub("", sheet).split("}"):
            head, _, written = rule.rpartition("{")
            if not any(word in written for word in _WANTED):
                continue
            # Before another brace stands the condition of a group of rules: taken as met.
            simple = list(_simple(head.rpartition("{")[2]))
            style = declarations(written) if simple else {}
            for tag, mark, name in simple if style else ():
                rules.setdefault(mark + name or tag, {}).setdefault(tag, {}).update(style)
    return rules


def _simple(selectors: str) -> Iterable[tuple[str, str, str]]:
    """(tag, ``.`` or ``#`` or "", name) of each selector that is simple enough."""
    for selector in selectors.split(","):
        match = _SIMPLE.fullmatch(selector.strip())
        if match and match[0]:
            yield match[1] or "", match[2] or "", match[3] or ""


def _matching(element: Element, rules: _Rules) -> Iterable[Style]:
    """The styles of the rules for *element*, weakest first."""
    if element.tag in rules:
        yield rules[element.tag][element.tag]
    words = element.names.split()
    if not any(f".{word}" in rules or f"#{word}" in rules for word in words):
        return
    attributes = element.node.attributes
    for mark, attribute in ((".", "class"), ("#", "id")):
        for word in (attributes.get(attribute) or "").lower().split():
            by_tag = rules.get(mark + word, {})
            yield from (by_tag[tag] for tag in ("", element.tag) if tag in by_tag)
