"""Text of Word (.docx) and Excel (.xlsx) files, by python-docx and openpyxl.

Both are zip archives of XML. What one would unpack to is bounded before anything is unpacked, and
XML with entities of its own is refused: neither format needs them.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import docx
import openpyxl
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree
from openpyxl.utils.exceptions import InvalidFileException

from qiaocrawl.extract.documents.document import (
    MAX_CHARS,
    MAX_COLUMNS,
    MAX_ROWS,
    Document,
    DocumentError,
    element,
    row_line,
    table,
)
from qiaocrawl.text import collapse

MAX_UNPACKED_BYTES = 60 * 1024 * 1024
MAX_FILES = 3_000
_MAX_SHEETS = 30
_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
_HEADING = re.compile(r"(?:heading|标题)\s*([1-6])$", re.IGNORECASE)
_FAULTS = (
    zipfile.BadZipFile, zlib.error, etree.LxmlError, PackageNotFoundError, InvalidFileException,
    ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError, EOFError,
    NotImplementedError, OverflowError, SyntaxError,
)  # fmt: skip


def read_docx(body: bytes) -> Document:
    """The paragraphs, headings and tables of a Word file.

    Raises:
        DocumentError: it is damaged, or would grow too large.
    """
    return _reading("Word", body, _word)


def read_xlsx(body: bytes) -> Document:
    """The rows of all sheets of an Excel file, formulas by their stored values.

    Raises:
        DocumentError: it is damaged, or would grow too large.
    """
    return _reading("Excel", body, _excel)


def _reading(name: str, body: bytes, read: Any) -> Document:
    try:
        _check(body)
        document: Document = read(io.BytesIO(body))
    except _FAULTS as error:
        reason = (str(error).splitlines() or [""])[0][:150]
        raise DocumentError(f"{name}: {type(error).__name__}: {reason}") from error
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None
    return document


def _check(body: bytes) -> None:
    """Refuse archives that would unpack to more than is read, and XML that defines entities."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        files = archive.infolist()
        if len(files) > MAX_FILES:
            raise DocumentError(f"more than {MAX_FILES} files in it")
        # No member is unpacked further than its declared size.
        if sum(file.file_size for file in files) > MAX_UNPACKED_BYTES:
            raise DocumentError(f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB")
        for file in files:
            if file.filename.lower().endswith((".xml", ".rels")):
                content = archive.read(file)
                # Their names are ASCII in UTF-8 and, with a NUL beside each letter, in UTF-16.
                if b"<!DOCTYPE" in content.replace(b"\0", b""):
                    raise DocumentError(f"{file.filename[:80]!r} defines entities")


def _word(file: io.BytesIO) -> Document:
    document = docx.Document(file)
    lines: list[str] = []
    html: list[str] = []
    title, chars = "", 0
    for item in document.iter_inner_content():
        if isinstance(item, Table):
            rows = list(_within(MAX_CHARS - chars, _word_rows(item)))
            chars += _chars(rows)
            lines += filter(None, map(row_line, rows))
            html.append(table(rows))
        elif text := collapse(item.text):
            style = _style(item)
            heading = _HEADING.search(style)
            title = title or (text if style in ("Title", "标题") else "")
            lines.append(text)
            html.append(element(f"h{heading[1]}" if heading else "p", text))
            chars += len(text)
        if chars >= MAX_CHARS or len(lines) > MAX_ROWS:
            break
    about = document.core_properties
    return Document(tuple(lines), "\n".join(html), title or collapse(about.title or ""),
                    _aware(about.created))  # fmt: skip


def _style(paragraph: Paragraph) -> str:
    style = paragraph.style
    return (style.name or "") if style is not None else ""


def _word_rows(of: Table) -> Iterator[Iterator[str]]:
    # By the XML: python-docx looks for merged cells in all rows, for every row.
    for row in of._tbl.tr_lst[:MAX_ROWS]:
        yield (
            collapse("".join(text.text or "" for text in cell.iter(_TEXT)))
            for cell in row.tc_lst[:MAX_COLUMNS]
        )


def _within(room: int, rows: Iterable[Iterable[str]]) -> Iterator[list[str]]:
    """*rows* as far as they hold *room* characters: many cells may show one long text."""
    for row in rows:
        cells = []
        for cell in row:
            cells.append(cell[: max(0, room)])
            room -= len(cell)
            if room <= 0:
                break
        yield cells
        if room <= 0:
            return


def _chars(rows: Iterable[Sequence[str]]) -> int:
    return sum(len(cell) for row in rows for cell in row)


def _excel(file: io.BytesIO) -> Document:
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    lines: list[str] = []
    html: list[str] = []
    room, chars = MAX_ROWS, 0
    for sheet in book.worksheets[:_MAX_SHEETS]:
        sheet.reset_dimensions()  # what a file says of its size costs memory
        shown = sheet.iter_rows(max_row=room, max_col=MAX_COLUMNS, values_only=True)
        cells_of = (map(_cell, values) for values in shown)
        rows = [cells for cells in _within(MAX_CHARS - chars, cells_of) if any(cells)]
        chars += _chars(rows)
        width = max((_width(cells) for cells in rows), default=0)
        if len(book.worksheets) > 1 and rows:
            lines.append(collapse(sheet.title))
            html.append(element("h2", collapse(sheet.title)))
        lines += map(row_line, rows)
        html.append(table([cells[:width] for cells in rows]) if rows else "")
        room = max(1, room - len(rows))
        if chars >= MAX_CHARS:
            break
    about = book.properties
    return Document(tuple(lines), "\n".join(filter(None, html)), collapse(about.title or ""),
                    _aware(about.created))  # fmt: skip


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    return collapse(str(value))


def _width(cells: list[str]) -> int:
    return max((place for place, cell in enumerate(cells, 1) if cell), default=0)


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=moment.tzinfo or UTC) if moment is not None else None
