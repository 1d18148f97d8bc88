"""What Word documents of ours have in common: a font for Chinese, small print, links."""

from __future__ import annotations

from typing import Any

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor

from qiaocrawl.storage.export.neutral import xml_text

_FONT = "宋体"
_GREY = RGBColor(0x66, 0x66, 0x66)
_LINK_COLOUR = "1F4E8C"


def set_fonts(document: Any) -> None:
    """Let text and headings stand in a font that has Chinese characters."""
    for name in ("Normal", "Title", "Heading 1", "Heading 2"):
        style = document.styles[name]
        style.font.name = _FONT
        style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _FONT)


def add_small(paragraph: Any, text: str) -> None:
    """Add small grey text."""
    run = paragraph.add_run(xml_text(text))
    run.font.size, run.font.color.rgb = Pt(9), _GREY


def add_link(paragraph: Any, text: str, target: str) -> None:
    """Add a link, for which python-docx has no call."""
    relation = paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), relation)
    run = paragraph.add_run(xml_text(text))
    run.font.color.rgb = RGBColor.from_string(_LINK_COLOUR)
    link.append(run._r)
    paragraph._p.append(link)
