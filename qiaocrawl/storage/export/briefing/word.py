"""A briefing as a Word document, in Word's own styles, so that an office changes how it looks."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from docx import Document

from qiaocrawl.analysis.briefing import Briefing
from qiaocrawl.storage.export.briefing.blocks import (
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Rows,
    about,
    blocks_of,
    title_of,
)
from qiaocrawl.storage.export.neutral import xml_text
from qiaocrawl.storage.export.word_parts import add_link, add_small, set_fonts


def to_docx(briefing: Briefing) -> bytes:
    """The whole document."""
    document = Document()
    set_fonts(document)
    title = xml_text(title_of(briefing))
    document.core_properties.title = title[:255]
    document.core_properties.author = "qiaocrawl"
    document.add_paragraph(title, style="Title")
    add_small(document.add_paragraph(), about(briefing))
    for block in blocks_of(briefing):
        _add(document, block)
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _add(document: Any, block: Block) -> None:
    if isinstance(block, Heading):
        document.add_heading(xml_text(block.text), level=block.level)
    elif isinstance(block, Paragraph):
        _write(document.add_paragraph(), block.line, small=block.small)
    elif isinstance(block, Items):
        style = "List Number" if block.numbered else "List Bullet"
        for line in block.lines:
            _write(document.add_paragraph(style=style), line)
    elif isinstance(block, Rows):
        _table(document, block)


def _write(paragraph: Any, line: Line, *, small: bool = False) -> None:
    for piece in line:
        if piece.link:
            add_link(paragraph, piece.text, piece.link)
        elif small:
            add_small(paragraph, piece.text)
        else:
            paragraph.add_run(xml_text(piece.text))


def _table(document: Any, block: Rows) -> None:
    table = document.add_table(rows=0, cols=len(block.header), style="Table Grid")
    for row in (block.header, *block.rows):
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = xml_text(value)
