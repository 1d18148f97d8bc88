"""A digest as a Word document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from sqlalchemy import Connection

from qiaocrawl.storage.export.base import Exporter, ExportReport, Progress, exporters
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.digest import DigestEntry, digest_of
from qiaocrawl.storage.export.listing import count_listed
from qiaocrawl.storage.export.neutral import xml_text
from qiaocrawl.storage.outfile import growing_file

_FONT = "宋体"
_GREY = RGBColor(0x66, 0x66, 0x66)
_LINK_COLOUR = "1F4E8C"


def write_docx(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """The document, and beside it a folder with the stored pages it leads to.

    Word holds a whole document in memory, and so does this.
    """
    document = Document()
    for name in ("Normal", "Title", "Heading 1", "Heading 2"):
        _set_font(document.styles[name])
    with growing_file(out) as part:
        digest = digest_of(c, selection, out, progress)
        document.core_properties.title = xml_text(digest.title)[:255]
        document.core_properties.author = "qiaocrawl"
        document.add_paragraph(xml_text(digest.title), style="Title")
        _small(document.add_paragraph(), digest.about)
        for day, entries in digest.days:
            document.add_heading(xml_text(day), level=1)
            for entry in entries:
                _add(document, entry)
        document.save(str(part))
    return ExportReport(digest.entries)


def _set_font(style: Any) -> None:
    style.font.name = _FONT
    style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _FONT)


def _add(document: Any, entry: DigestEntry) -> None:
    _link(document.add_heading(level=2), entry.title, entry.url)
    facts = document.add_paragraph()
    facts.paragraph_format.space_after = Pt(2)
    _small(facts, entry.facts)
    if entry.copy:
        _small(facts, " · ")
        _link(facts, "存档", entry.copy)
    document.add_paragraph(xml_text(entry.summary))


def _small(paragraph: Any, text: str) -> None:
    run = paragraph.add_run(xml_text(text))
    run.font.size, run.font.color.rgb = Pt(9), _GREY


def _link(paragraph: Any, text: str, target: str) -> None:
    """Add a link, for which python-docx has no call."""
    relation = paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), relation)
    run = paragraph.add_run(xml_text(text))
    run.font.color.rgb = RGBColor.from_string(_LINK_COLOUR)
    link.append(run._r)
    paragraph._p.append(link)


exporters.register("docx")(Exporter(".docx", count_listed, write_docx, for_people=True))
