"""Text of Word (.docx) and Excel (.xlsx) files, by python-docx and openpyxl.

Both are zip archives of XML, and come from strangers: :mod:`qiaocrawl.text.office_archive` bounds
what one would grow to before it is parsed.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
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
from qiaocrawl.text.normalise import collapse
from qiaocrawl.text.office_archive import (
    ArchiveBounds,
    ArchiveFault,
    ArchiveRefusedError,
    guard_archive,
)

MAX_UNPACKED_BYTES = 60 * 1024 * 1024
MAX_FILES = 3_000
# A table of 20,000 rows and ten columns has three million tags. Of one a reader makes up to 200
# bytes, of one in styles a kilobyte.
_WORD_BOUNDS = ArchiveBounds(MAX_FILES, MAX_UNPACKED_BYTES, ("word/document",), 4_000_000, 400_000)
_EXCEL_BOUNDS = ArchiveBounds(
    MAX_FILES, MAX_UNPACKED_BYTES, ("xl/worksheets/", "xl/sharedStrings"), 4_000_000, 250_000
)
_MAX_SHEETS = 30
_MAX_ITEMS = 10 * MAX_ROWS
"""Paragraphs looked at, with those that are empty; rows of all sheets too."""
_MAX_RUNS = 5_000
"""Of a paragraph whose text is put together by python-docx, 10 us each; of more by their XML."""
_TEXT = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t"
_HEADING = re.compile(r"(?:heading|标题)\s*([1-6])$", re.IGNORECASE)
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    etree.LxmlError,
    PackageNotFoundError,
    InvalidFileException,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    RecursionError,
    OSError,
    EOFError,
    NotImplementedError,
    OverflowError,
    SyntaxError,
)


def read_docx(body: bytes) -> Document:
    """The paragraphs, headings and tables of a Word file.

    Raises:
        DocumentError: it is damaged, or would grow too large.
    """
    return _reading("Word", body, _WORD_BOUNDS, _word)


def read_xlsx(body: bytes) -> Document:
    """The rows of all sheets of an Excel file, formulas by their stored values.

    Raises:
        DocumentError: it is damaged, or would grow too large.
    """
    return _reading("Excel", body, _EXCEL_BOUNDS, _excel)


def _reading(name: str, body: bytes, bounds: ArchiveBounds, read: Any) -> Document:
    try:
        _check(body, bounds)
        document: Document = read(io.BytesIO(body))
    except _FAULTS as error:
        reason = (str(error).splitlines() or [""])[0][:150]
        raise DocumentError(f"{name}: {type(error).__name__}: {reason}") from error
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None
    return document


def _check(body: bytes, bounds: ArchiveBounds) -> None:
    """Refuse archives that would grow to more than is read, before anything is parsed."""
    try:
        guard_archive(body, bounds)
    except ArchiveRefusedError as refused:
        raise DocumentError(_refusal(refused)) from None


def _refusal(refused: ArchiveRefusedError) -> str:
    if refused.fault is ArchiveFault.ENCRYPTED:
        return "encrypted, asks for a password"
    if refused.fault is ArchiveFault.FOREIGN_XML:
        return f"{refused.name[:80]!r} defines entities, or is in an odd encoding"
    if refused.fault is ArchiveFault.TOO_MANY_ELEMENTS:
        return f"{refused.found} elements in it are too many"
    if refused.fault is ArchiveFault.TOO_MANY_PARTS:
        return f"more than {MAX_FILES} files in it"
    return f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MiB"


def _word(file: io.BytesIO) -> Document:
    document = docx.Document(file)
    lines: list[str] = []
    html: list[str] = []
    title, chars = "", 0
    styles: dict[str | None, str] = {}
    for item in islice(document.iter_inner_content(), _MAX_ITEMS):
        if isinstance(item, Table):
            rows = list(_within(MAX_CHARS - chars, _word_rows(item)))
            chars += _chars(rows)
            lines += filter(None, map(row_line, rows))
            html.append(table(rows))
        elif text := collapse(_text(item)):
            # python-docx looks through all styles for every paragraph.
            key = item._p.style
            style = styles[key] if key in styles else styles.setdefault(key, _style(item))
            heading = _HEADING.search(style)
            title = title or (text if style in ("Title", "标题") else "")
            lines.append(text)
            html.append(element(f"h{heading[1]}" if heading else "p", text))
            chars += len(text)
        if chars >= MAX_CHARS or len(lines) > MAX_ROWS:
            break
    about = document.core_properties
    return Document(
        tuple(lines), "\n".join(html), title or collapse(about.title or ""), _aware(about.created)
    )


def _text(paragraph: Paragraph) -> str:
    if len(paragraph._p) <= _MAX_RUNS:
        return paragraph.text
    return "".join(text.text or "" for text in paragraph._p.iter(_TEXT))


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
    room, chars, left = MAX_ROWS, 0, _MAX_ITEMS
    for sheet in book.worksheets[:_MAX_SHEETS]:
        sheet.reset_dimensions()  # what a file says of its size costs memory
        # A row far below stands for all the empty ones above it.
        most = min(room, left)
        shown = sheet.iter_rows(max_row=most, max_col=MAX_COLUMNS, values_only=True)
        cells_of = (map(_cell, values) for values in _rows_with_values(shown))
        rows = [cells for cells in _within(MAX_CHARS - chars, cells_of) if any(cells)]
        chars += _chars(rows)
        width = max((_width(cells) for cells in rows), default=0)
        if len(book.worksheets) > 1 and rows:
            lines.append(collapse(sheet.title))
            html.append(element("h2", collapse(sheet.title)))
        lines += map(row_line, rows)
        html.append(table([cells[:width] for cells in rows]) if rows else "")
        room, left = max(1, room - len(rows)), left - most
        if chars >= MAX_CHARS or left <= 0:
            break
    about = book.properties
    return Document(
        tuple(lines),
        "\n".join(filter(None, html)),
        collapse(about.title or ""),
        _aware(about.created),
    )


def _rows_with_values(rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    """*rows* but for those without a value, which are made up by the hundred thousand."""
    return (values for values in rows if any(value is not None for value in values))


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
