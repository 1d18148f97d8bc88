"""A workbook or CSV file as sheets of cells: merged cells filled down, links kept."""

from __future__ import annotations

import io
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.files import (
    MAX_ROWS,
    MAX_SCANNED_CELLS,
    OLE_MAGIC,
    ZIP_MAGIC,
    parse_csv,
    read_limited,
    unescape_formula,
)
from qiaocrawl.topic.xlsxfile import guard_archive, open_workbook

MAX_ELEMENTS = 600_000
"""Of all sheets: openpyxl keeps each cell as an object here, some 200 MB at this size."""
# openpyxl makes a cell of every one in such a range.
_MAX_RANGE_CELLS = 200_000
_RANGE_ELEMENTS = ("mergeCell", "hyperlink")
_WIDE_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell.

    Attributes:
        problem: the kind of finding that its value is wherever the value matters, or "".
        link: address that a click on it opens.
    """

    text: str = ""
    problem: str = ""
    link: str = ""


_BLANK = Cell()


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row with its 1-based line; ``is_wide``: one cell is merged over several columns."""

    line: int
    cells: tuple[Cell, ...]
    is_wide: bool = False

    def cell(self, column: int) -> Cell:
        """The cell of the 0-based *column*; a blank one behind the last."""
        return self.cells[column] if column < len(self.cells) else _BLANK

    @property
    def texts(self) -> list[str]:
        """What is written in the row, blank cells left out."""
        return [cell.text for cell in self.cells if cell.text]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with its written rows."""

    name: str
    rows: tuple[SheetRow, ...]
    is_hidden: bool = False


def read_file(path: Path) -> tuple[Sheet, ...]:
    """All sheets of a workbook that hold anything, or the one table of a CSV file.

    Raises:
        TopicError: not readable, empty, encrypted, damaged or too large.
    """
    return sheets_of(read_limited(path), path.name)


def sheets_of(data: bytes, name: str) -> tuple[Sheet, ...]:
    """As :func:`read_file`, of the content of a file called *name*.

    Raises:
        TopicError: as there.
    """
    is_workbook = data.startswith((ZIP_MAGIC, OLE_MAGIC))
    sheets = _sheets(data, name) if is_workbook else (_csv_sheet(data, name),)
    filled = tuple(sheet for sheet in sheets if sheet.rows)
    if not filled:
        raise TopicError(_("{file} is empty", file=name))
    return filled


def _sheets(data: bytes, table: str) -> tuple[Sheet, ...]:
    with opened_workbook(data, table) as workbook:
        values = workbook
        if any(_has_formula(sheet) for sheet in workbook.worksheets):
            values = open_workbook(data, table, data_only=True)
        return tuple(_sheet(sheet, values[sheet.title], table) for sheet in workbook.worksheets)


@contextmanager
def opened_workbook(data: bytes, table: str) -> Iterator[Any]:
    """The workbook as openpyxl's object, guarded against what would fill the memory.

    Raises:
        TopicError: encrypted, damaged or too large.
    """
    if data.startswith(OLE_MAGIC):
        raise TopicError(
            _("{table} is protected by a password or an old .xls; save it as .xlsx", table=table)
        )
    guard_archive(data, table, max_sheet_elements=MAX_ELEMENTS)
    _guard_ranges(data, table)
    workbook = open_workbook(data, table)
    try:
        yield workbook
    finally:
        workbook.close()


def _guard_ranges(data: bytes, table: str) -> None:
    # Few workbooks need it, and openpyxl takes long to import.
    from openpyxl.utils import range_boundaries

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        # Of all parts: a sheet may lie in any folder of the archive.
        parts = map(archive.read, archive.namelist())
        ranges = [name for part in parts for name in _ranges(part)]
    cells = 0
    for name in ranges:
        try:
            left, top, right, bottom = range_boundaries(name)
            cells += (right - left + 1) * (bottom - top + 1)
        except (ValueError, TypeError) as error:
            raise TopicError(
                _("{table} is no Excel workbook: {error}", table=table, error=error)
            ) from error
    if cells > _MAX_RANGE_CELLS:
        raise TopicError(_("{table} merges too many cells ({cells})", table=table, cells=cells))


def _ranges(part: bytes) -> Iterator[str]:
    """The ranges of merged cells and links, as the parser that will read *part* sees them."""
    plain = part.replace(b"\0", b"")  # UTF-16 becomes comparable
    if not any(name.encode() in plain for name in _RANGE_ELEMENTS):
        return
    from openpyxl.xml.functions import iterparse

    # What does not parse holds macros or the like, or is refused when it is read as a sheet.
    with suppress(ParseError):
        for _, element in iterparse(io.BytesIO(part)):
            if str(element.tag).rpartition("}")[2] in _RANGE_ELEMENTS and "ref" in element.attrib:
                yield str(element.attrib["ref"])
            element.clear()


def _has_formula(sheet: Any) -> bool:
    return any(cell.data_type == "f" for cell in _written_cells(sheet))


def _written_cells(sheet: Any) -> list[Any]:
    """The cells that the file holds; asking row by row would make those between, too."""
    return list(sheet._cells.values())


def _sheet(sheet: Any, values: Any, table: str) -> Sheet:
    by_line: dict[int, dict[int, Cell]] = {}
    for cell in _written_cells(sheet):
        shown = _cell(cell, values)
        if shown.text or shown.problem:
            by_line.setdefault(cell.row, {})[cell.column - 1] = shown
    wide = _fill_down(sheet, by_line)
    if len(by_line) > MAX_ROWS:
        raise TopicError(_("{table} has more than {limit} rows", table=table, limit=MAX_ROWS))
    if sum(max(cells) + 1 for cells in by_line.values()) > MAX_SCANNED_CELLS:
        raise TopicError(_("{table} has far too many blank cells", table=table))
    rows = []
    for line, cells in sorted(by_line.items()):
        row = tuple(cells.get(column, _BLANK) for column in range(max(cells) + 1))
        rows.append(SheetRow(line, row, line in wide))
    return Sheet(sheet.title, tuple(rows), sheet.sheet_state != "visible")


def _fill_down(sheet: Any, by_line: dict[int, dict[int, Cell]]) -> set[int]:
    """Repeat what is merged over several rows in each of them; the lines of wide cells."""
    wide = set()
    for merged in sheet.merged_cells.ranges:
        left, top, right, bottom = merged.bounds
        if right - left + 1 >= _WIDE_COLUMNS:
            wide.add(top)
        value = by_line.get(top, {}).get(left - 1)
        if value is None or right != left:
            continue
        for line in range(top + 1, bottom + 1):
            if line in by_line:  # rows that hold nothing else stay blank
                by_line[line].setdefault(left - 1, value)
    return wide


def _cell(cell: Any, values: Any) -> Cell:
    value, kind = cell.value, cell.data_type
    link = (cell.hyperlink.target or "") if cell.hyperlink else ""
    if kind == "f":
        result = values.cell(cell.row, cell.column)
        value, kind = result.value, result.data_type
        if value is None:
            return Cell("", "formula", link)
    if value is None:
        return Cell("", "", link)
    if kind == "e":
        return Cell(str(value), "error_value", link)
    if isinstance(value, datetime | date | time | timedelta):
        return Cell(f"{value}".removesuffix(" 00:00:00"), "date", link)
    return Cell(clean(_value_text(value, cell.number_format or "")), "", link)


def _value_text(value: Any, number_format: str) -> str:
    if isinstance(value, bool):
        return "是" if value else "否"
    if isinstance(value, int | float):
        if number_format.endswith("%"):
            return f"{value * 100:.12g}%"
        return f"{value:.15g}"
    return unescape_formula(str(value))


def clean(text: str) -> str:
    """*text* without invisible characters, its lines stripped; blank lines are left out."""
    visible = "".join(
        char
        for char in text.replace("\r", "\n").replace("_x000D_", "\n").replace("\t", " ")
        if char == "\n" or unicodedata.category(char) not in ("Cf", "Cc", "Cs", "Co", "Cn")
    )
    return "\n".join(line for line in (" ".join(x.split()) for x in visible.split("\n")) if line)


def _csv_sheet(data: bytes, name: str) -> Sheet:
    raw = parse_csv(data, name)
    rows = (SheetRow(line, tuple(map(_csv_cell, cells))) for line, cells in raw.rows)
    return Sheet(Path(name).stem, tuple(row for row in rows if row.texts))


def _csv_cell(text: str) -> Cell:
    return Cell(clean(text)) if text else _BLANK
