"""Word documents: a font for Chinese, small print, links, and a digest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from sqlalchemy import Connection

from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.digest import DigestEntry, copies_of, digest_of
from qiaocrawl.storage.backup import growing_file, growing_folder
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import xml_text

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


def write_docx(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """The document, and beside it a folder with the stored pages it leads to.

    Word holds a whole document in memory, and so does this.
    """
    document = Document()
    set_fonts(document)
    with growing_folder(copies_of(out)), growing_file(out) as part:
        digest = digest_of(c, selection, out, progress)
        document.core_properties.title = xml_text(digest.title)[:255]
        document.core_properties.author = "qiaocrawl"
        document.add_paragraph(xml_text(digest.title), style="Title")
        add_small(document.add_paragraph(), digest.about)
        for day, entries in digest.days:
            document.add_heading(xml_text(day), level=1)
            for entry in entries:
                _add(document, entry)
        document.save(str(part))
    return ExportReport(digest.entries)


def _add(document: Any, entry: DigestEntry) -> None:
    add_link(document.add_heading(level=2), entry.title, entry.url)
    facts = document.add_paragraph()
    facts.paragraph_format.space_after = Pt(2)
    add_small(facts, entry.facts)
    if entry.copy:
        add_small(facts, " · ")
        add_link(facts, "存档", entry.copy)
    document.add_paragraph(xml_text(entry.summary))
