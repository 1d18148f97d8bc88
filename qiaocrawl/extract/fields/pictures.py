"""The pictures of an article with their captions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qiaocrawl.extract.block_texts import BlockTexts
from qiaocrawl.extract.extraction import Field
from qiaocrawl.extract.fields.body_context import BodyContext
from qiaocrawl.page.blocks import Element
from qiaocrawl.page.page import Page
from qiaocrawl.text.normalise import collapse

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SOURCES = ("data-original", "data-src", "data-lazy-src", "original-src", "src")
"""Attributes with the picture's address; pages that load late keep it beside a placeholder."""
# In lower case, with a slash before the address; each branch begins with one of four marks.
_DECORATION = re.compile(
    r"[/_.-](?:(?<=^/)data:|(?<=/)icons?/|(?<=[/_-])(?:icon|logo|blank|spacer|pixel|loading|avatar|"
    r"qrcode|erweima|share|btn|button|arrow|emoji|1x1|grey)[\w-]*\.\w+|"
    r"(?<=\.)(?:gif\?|svg(?:$|\?)))"
)
_CAPTION_NAMES = re.compile(r"caption|tushuo|imgtxt|pic_?txt|img_?desc|pictext")
_CAPTION_MARK = re.compile(
    r"^[▲△▼↑↓◎●]|^(?:图|圖)(?:为|為|[：:]|\d|源)|(?:摄|攝|供图|供圖|资料图)[）)]?$"
)
IN_THE_BODY = "img in the body"
"""The origin of pictures that stand inside the article."""
_LEAST_SIDE_PX = 90
_MAX_PICTURES = 100
_MAX_CAPTION_CHARS = 200
_LEAD_BLOCKS = 6


def images_of(page: Page, context: BodyContext) -> Field | None:
    """(url, caption) of the pictures inside the article; og:image where it shows none."""
    captions: dict[str, str] = {}
    elements = page.blocks.elements
    if context.first >= 0:
        texts = page.once(BlockTexts)
        begin = texts.elements_until(max(context.title_at, context.first - _LEAD_BLOCKS, 0) - 1)
        end = texts.elements_until(context.last + 1)
        for element in elements[begin:end]:
            if element.images and len(captions) < _MAX_PICTURES:
                _collect(page, context, element, captions)
    if captions:
        return Field(tuple(captions.items()), IN_THE_BODY, 0.8)
    written = page.meta.get("og:image", "")
    declared = page.joiner.canonical(written) if written else None
    return Field(((declared, ""),), "meta og:image", 0.5) if declared else None


def _collect(page: Page, context: BodyContext, element: Element, captions: dict[str, str]) -> None:
    for node in element.node.css("img")[: element.images]:
        url = picture_url(page, node)
        if url and url not in captions:
            alt = (node.attributes.get("alt") or "")[: 2 * _MAX_CAPTION_CHARS]
            captions[url] = _caption(page, context, element) or collapse(alt)[:_MAX_CAPTION_CHARS]


def picture_url(page: Page, node: LexborNode) -> str | None:
    """The address of the picture of an ``<img>``; None for furniture and small ones."""
    attributes = node.attributes
    if _is_small(attributes):
        return None
    source = next((attributes[name] for name in _SOURCES if attributes.get(name)), "") or ""
    if not source or _DECORATION.search(f"/{source.lower()}"):
        return None
    return page.joiner.canonical(source)


def _is_small(attributes: dict[str, str | None]) -> bool:
    for name in ("width", "height"):
        value = (attributes.get(name) or "").rstrip("px")
        if value.isascii() and value.isdigit() and int(value[:6]) < _LEAST_SIDE_PX:
            return True
    return False


def _caption(page: Page, context: BodyContext, element: Element) -> str:
    """The text of the figure around the picture, or the short line below it that says so."""
    elements = page.blocks.elements
    figure = element
    for _ in range(3):
        if figure.tag == "figure" or figure.parent < 0:
            break
        figure = elements[figure.parent]
    if figure.tag == "figure" and 0 < figure.end - figure.first <= 4:
        text = " ".join(b.text for b in context.blocks[figure.first : figure.end])
        return text[:_MAX_CAPTION_CHARS]
    for at in range(element.first, min(element.first + 2, len(context.blocks))):
        block = context.blocks[at]
        names = elements[block.element].names
        if len(block.text) > _MAX_CAPTION_CHARS:
            break
        if _CAPTION_NAMES.search(names) or _CAPTION_MARK.search(block.text):
            return block.text
    return ""
