"""Excel workbooks for people: their heads and cells, and plain tables as one.

Apart from what else writes tables, since openpyxl takes long to import.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from qiaocrawl.errors import ConfigError
from qiaocrawl.export.readable import Sheet, neutral
from qiaocrawl.language import _
from qiaocrawl.text.visible import xml_text

MAX_CELL_CHARS = 32_767
"""What Excel holds in one cell."""
WRAPPED = Alignment(vertical="top", wrap_text=True)
_LINE_POINTS = 16
_HEAD_FONT, _HEAD_FILL = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="305496")
_HEAD_PLACE = Alignment(horizontal="center", vertical="center", wrap_text=True)


def places_of(text: str) -> int:
    """How many places *text* takes in a line: a Chinese letter two."""
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)


def height_of(cells: Iterable[tuple[str, float]], most_lines: int) -> float:
    """Points a row of wrapped texts needs, each with the width of its column.

    Excel works it out when no height is given; other programs cut all to one line, and a whole
    article would fill the window.
    """
    lines = 1
    for text, width in cells:
        # Words are not divided, so a line is never quite full.
        rows = text[: most_lines * 200].split("\n")
        lines = max(lines, sum(math.ceil(max(places_of(row), 1) / (width - 1)) for row in rows))
    return float(_LINE_POINTS * min(lines, most_lines))


def text_cell(sheet: Any, text: str) -> Any:
    """A wrapped cell of the write-only *sheet* that shows *text*, cut to what a cell holds."""
    cell = WriteOnlyCell(sheet, value=neutral(xml_text(text))[:MAX_CELL_CHARS])
    cell.data_type = "s"  # openpyxl would take text that starts with "=" for a formula
    cell.alignment = WRAPPED
    return cell


def new_sheet(book: Any, name: str, columns: Iterable[tuple[str, float]], frozen: str) -> Any:
    """A sheet of the write-only *book*, its head written: the names and widths of *columns*.

    Args:
        frozen: the cell above and left of which all stays in sight.
    """
    sheet = book.create_sheet(name)
    sheet.freeze_panes = frozen
    head = []
    for number, (text, width) in enumerate(columns, start=1):
        sheet.column_dimensions[get_column_letter(number)].width = width
        cell = text_cell(sheet, text)
        cell.font, cell.fill, cell.alignment = _HEAD_FONT, _HEAD_FILL, _HEAD_PLACE
        head.append(cell)
    sheet.append(head)
    return sheet


def add_filter(sheet: Any, columns: int, rows: int) -> None:
    """Let people filter *sheet* by its *columns*; of its *rows* the head is one."""
    sheet.auto_filter.ref = f"A1:{get_column_letter(columns)}{rows}"


# --- Plain tables as a workbook -------------------------------------------------------------------

_MOST_COLUMNS = 16_384
_MOST_WIDTH = 60


def write_workbook(part: Path, sheets: Sequence[Sheet]) -> None:
    """Write all *sheets* into *part*.

    Raises:
        ConfigError: one has more columns than Excel.
    """
    book = Workbook(write_only=True)
    for sheet in sheets:
        if len(sheet.columns) > _MOST_COLUMNS:
            raise ConfigError(
                _(
                    "sheet {name!r} has {count:,} columns; Excel has {most:,}: write .csv, or "
                    "choose fewer titles",
                    name=sheet.name,
                    count=len(sheet.columns),
                    most=_MOST_COLUMNS,
                )
            )
        own = new_sheet(book, sheet.name, zip(sheet.columns, _widths(sheet), strict=True), "B2")
        for row in sheet.rows:
            own.append([_cell(own, value) for value in row])
        add_filter(own, len(sheet.columns), len(sheet.rows) + 1)
    book.save(part)


def _widths(sheet: Sheet) -> list[float]:
    """As wide as the first rows need: a Chinese letter takes two places."""
    rows = [sheet.columns, *sheet.rows[:200]]
    return [
        min(_MOST_WIDTH, 3 + max(places_of(str(row[number] or "")) for row in rows))
        for number in range(len(sheet.columns))
    ]


def _cell(sheet: Any, value: Any) -> Any:
    return text_cell(sheet, value) if isinstance(value, str) else value
