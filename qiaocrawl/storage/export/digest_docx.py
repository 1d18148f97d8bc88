"""A digest as a Word document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docx import Document
from docx.shared import Pt
from sqlalchemy import Connection

from qiaocrawl.storage.export.base import ExportReport, Progress
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.digest import DigestEntry, copies_of, digest_of
from qiaocrawl.storage.export.neutral import xml_text
from qiaocrawl.storage.export.word_parts import add_link, add_small, set_fonts
from qiaocrawl.storage.outfile import growing_file, growing_folder


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
