"""A briefing as a Word document, in Word's own styles, so that an office changes how it looks.

Given a document of the office, its styles, page and letterhead are used, and the briefing stands
behind what it says.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import resvg_py
from docx import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.shared import Emu

from qiaocrawl.analysis.briefing import Briefing
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.export.briefing.blocks import (
    Block,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    Rows,
    about,
    sections_of,
    title_of,
)
from qiaocrawl.storage.export.neutral import xml_text
from qiaocrawl.storage.export.word_parts import add_link, add_small, set_fonts

# Of a screen's: fine enough for paper.
_SCALE = 2.0
_SCREEN_DPI = 96


def to_docx(briefing: Briefing, template: bytes = b"") -> bytes:
    """The whole document, begun with *template*, a Word file, where one is given.

    Raises:
        ConfigError: the template is no Word file, or lacks a style that is needed.
    """
    try:
        document = Document(BytesIO(template) if template else None)
        if not template:
            set_fonts(document)
        return _written(document, briefing)
    except (PackageNotFoundError, BadZipFile, ValueError, KeyError) as error:
        if not template:
            raise
        raise ConfigError(
            _("template of a briefing: {error}{where}", error=error, where="")
        ) from error


def _written(document: Any, briefing: Briefing) -> bytes:
    title = xml_text(title_of(briefing))
    document.core_properties.title = title[:255]
    document.core_properties.author = "qiaocrawl"
    document.add_paragraph(title, style="Title")
    add_small(document.add_paragraph(), about(briefing))
    for section in sections_of(briefing):
        for block in section.blocks:
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
    elif isinstance(block, Picture):
        _picture(document, block.svg)


def _picture(document: Any, svg: str) -> None:
    """Word shows no SVG of its own making: the picture as PNG, as wide as the page at most."""
    png = resvg_py.svg_to_bytes(svg_string=svg, zoom=_SCALE)
    shape = document.add_picture(BytesIO(bytes(png)))
    section = document.sections[-1]
    room = section.page_width - section.left_margin - section.right_margin
    # python-docx takes a picture without resolution for one of 72 dots an inch.
    width = min(round(shape.width * 72 / (_SCREEN_DPI * _SCALE)), room)
    shape.height, shape.width = Emu(round(shape.height * width / shape.width)), Emu(width)


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
