"""What all our pictures share: the frame, letters that fit, text that cannot break the file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from qiaocrawl.text.visible import visible

FONT = "Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"
_NOT_IN_XML = re.compile("[\ufffe\uffff\ud800-\udfff]")
_NARROW = 0.58


def document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """An SVG file of this size in pixels, with *title* at its top left and *parts* in it."""
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="{FONT}">',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            f'<text x="14" y="26" font-size="16">{text(title)}</text>',
            *parts,
            "</svg>",
            "",
        ]
    )


def text(content: str) -> str:
    """*content* as it may stand between tags."""
    return escape(_xml_text(content))


def attribute(content: str) -> str:
    """*content* as a quoted value."""
    return quoteattr(_xml_text(content))


def width_of(content: str) -> float:
    """How wide *content* is, in letters of Chinese."""
    return sum(1.0 if ord(letter) > 0x2E80 else _NARROW for letter in content)


def shortened(content: str, letters: float) -> str:
    """*content*, or as much of it as fits with "…" behind it."""
    if width_of(content) <= letters:
        return content
    while content and width_of(content) > letters - 1.0:
        content = content[:-1]
    return f"{content.rstrip()}…"


def _xml_text(content: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", visible(content))
