"""The layout of a rendered page: where each element stands and in which colours.

A browser that opened a page runs :data:`LAYOUT_SCRIPT` in it before the content is taken. The
script writes two attributes on every block-level element, so that the stored source carries
its own layout and no browser is needed to read it again:

- ``data-qiao-box="x y width height"``, whole CSS pixels from the page's upper left corner;
  ``0 0 0 0`` on what is not displayed;
- ``data-qiao-ink="background colour"``, both as ``#rrggbb``: the background that shows behind
  the element (its own, else the nearest one around it), and the font colour of most of the
  characters that stand directly in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qiaocrawl.page.blocks import Element
    from qiaocrawl.page.page import Page

BOX_ATTRIBUTE = "data-qiao-box"
INK_ATTRIBUTE = "data-qiao-ink"
DEFAULT_BACKGROUND = "#ffffff"
DEFAULT_COLOUR = "#000000"
MAX_STAMPED = 20_000
"""Elements the script looks at; what follows has no layout."""

# "12 -340 960 20"
_BOX = re.compile(r"(-?[0-9]{1,7}) (-?[0-9]{1,7}) ([0-9]{1,7}) ([0-9]{1,7})")
_INK = re.compile("(#[0-9a-f]{6}) (#[0-9a-f]{6})")
_INLINE = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp "
    "rt ruby s samp small span strike strong sub sup time tt u var wbr br"
)
_LEAST_STAMPED_SHARE = 0.5


class Box(NamedTuple):
    """A rectangle of a rendered page in CSS pixels; x and y may be negative."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Square pixels."""
        return self.width * self.height


@dataclass(frozen=True, slots=True)
class Layout:
    """How a page was rendered: three lists with one entry an element of ``page.blocks``.

    Attributes:
        boxes: None where it is not known.
        backgrounds: ``#rrggbb`` behind each element.
        colours: ``#rrggbb`` of its text.
    """

    boxes: list[Box | None]
    backgrounds: list[str]
    colours: list[str]

    def is_hidden(self, element: int) -> bool:
        """Whether the browser did not display *element* at all."""
        box = self.boxes[element]
        return box is not None and not (box.width or box.height)


def layout_of(page: Page) -> Layout | None:
    """The layout *page* carries; None for one that was not rendered.

    The attributes are data from outside, whoever wrote them: a value out of form counts as
    missing, and with fewer than half of the elements in good form **(ours)** there is no
    layout. A missing colour is that of the element around it.
    """
    if BOX_ATTRIBUTE not in page.source:
        return None
    elements = page.blocks.elements
    stamps = [_stamps(element) for element in elements]
    boxes = [_box(box) for box, _ in stamps]
    if sum(box is not None for box in boxes) < _LEAST_STAMPED_SHARE * len(elements) or not boxes:
        return None
    backgrounds, colours = _inks(elements, [ink for _, ink in stamps])
    return Layout(boxes, backgrounds, colours)


def _stamps(element: Element) -> tuple[str, str]:
    attributes = element.node.attributes
    return attributes.get(BOX_ATTRIBUTE) or "", attributes.get(INK_ATTRIBUTE) or ""


def _box(written: str) -> Box | None:
    match = _BOX.fullmatch(written)
    return Box(*map(int, match.groups())) if match else None


def _inks(elements: Sequence[Element], written: list[str]) -> tuple[list[str], list[str]]:
    """Background and font colour of every element; parents stand before their children."""
    backgrounds: list[str] = []
    colours: list[str] = []
    for element, ink in zip(elements, written, strict=True):
        around = element.parent
        match = _INK.fullmatch(ink)
        if match:
            background, colour = match.groups()
        elif around >= 0:
            background, colour = backgrounds[around], colours[around]
        else:
            background, colour = DEFAULT_BACKGROUND, DEFAULT_COLOUR
        backgrounds.append(background)
        colours.append(colour)
    return backgrounds, colours


# All reads come before all writes: a write between two reads forces a new layout each time.
_SCRIPT = """() => {
  const BOX = "%(box)s", INK = "%(ink)s", INLINE = new Set("%(inline)s".split(" "));
  for (const old of document.querySelectorAll(`[${BOX}],[${INK}]`)) {
    old.removeAttribute(BOX);
    old.removeAttribute(INK);
  }
  const two = n => `${n < 16 ? "0" : ""}${Number(n).toString(16)}`;
  const hex = written => {
    const m = /^rgba?\\((\\d+), (\\d+), (\\d+)(?:, ([\\d.]+))?\\)$/.exec(written);
    if (!m || m[4] !== undefined && Number(m[4]) === 0) return "";
    return `#${two(m[1])}${two(m[2])}${two(m[3])}`;
  };
  const SKIPPED = new Set(["script", "style", "noscript", "template", "svg", "iframe"]);
  const blocks = [], holders = new Map();
  const enter = element => {
    if (SKIPPED.has(element.localName)) return false;
    const style = getComputedStyle(element), around = holders.get(element.parentElement);
    const colour = hex(style.color) || (around ? around.colour : "%(colour)s");
    if (INLINE.has(element.localName) && around) {
      holders.set(element, {block: around.block, colour});
      return style.display !== "none";
    }
    const block = {element, colour, counts: {}, box: ""};
    block.background = hex(style.backgroundColor) || (around ? around.block.background
      : hex(getComputedStyle(document.documentElement).backgroundColor) || "%(background)s");
    if (style.display === "none") {
      block.box = "0 0 0 0";
    } else if (style.display !== "contents") {
      const r = element.getBoundingClientRect();
      const width = Math.round(r.width || element.scrollWidth);
      const height = Math.round(r.height || element.scrollHeight);
      const x = Math.round(r.left + scrollX), y = Math.round(r.top + scrollY);
      if (width && height) block.box = `${x} ${y} ${width} ${height}`;
    }
    blocks.push(block);
    holders.set(element, {block, colour});
    return style.display !== "none";
  };
  let node = document.body, left = %(limit)d;
  while (node && left > 0) {
    let inside = false;
    if (node.nodeType === 3) {
      const holder = holders.get(node.parentElement), size = node.data.trim().length;
      if (holder && size)
        holder.block.counts[holder.colour] = (holder.block.counts[holder.colour] || 0) + size;
    } else if (node.nodeType === 1) {
      left -= 1;
      inside = enter(node);
    }
    if (inside && node.firstChild) {
      node = node.firstChild;
      continue;
    }
    while (node && node !== document.body && !node.nextSibling) node = node.parentNode;
    node = node && node !== document.body ? node.nextSibling : null;
  }
  for (const block of blocks) {
    const most = Object.entries(block.counts).sort((a, b) => b[1] - a[1])[0];
    if (block.box) block.element.setAttribute(BOX, block.box);
    block.element.setAttribute(INK, `${block.background} ${most ? most[0] : block.colour}`);
  }
  return blocks.length;
}"""
LAYOUT_SCRIPT = _SCRIPT % {  # noqa: UP031 - braces are JavaScript's here
    "box": BOX_ATTRIBUTE,
    "ink": INK_ATTRIBUTE,
    "inline": _INLINE,
    "limit": MAX_STAMPED,
    "colour": DEFAULT_COLOUR,
    "background": DEFAULT_BACKGROUND,
}
"""A function in JavaScript that stamps the page it is called in; returns the elements stamped.
Earlier attributes of these names are removed first."""
