"""The tables of a lexicon as an Excel workbook; apart, since openpyxl takes long to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

from qiaocrawl.cli.lexicon.sheet import Sheet
from qiaocrawl.errors import ConfigError
from qiaocrawl.storage.export.neutral import neutral, xml_text

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
                f"sheet {sheet.name!r} has {len(sheet.columns):,} columns; Excel has "
                f"{_MOST_COLUMNS:,}: write .csv, or choose fewer titles"
            )
        own = book.create_sheet(sheet.name)
        own.freeze_panes = "B2"
        for number, width in enumerate(_widths(sheet), 1):
            own.column_dimensions[get_column_letter(number)].width = width
        own.append([_heading(own, name) for name in sheet.columns])
        for row in sheet.rows:
            own.append([_cell(own, value) for value in row])
        last = get_column_letter(len(sheet.columns))
        own.auto_filter.ref = f"A1:{last}{len(sheet.rows) + 1}"
    book.save(part)


def _widths(sheet: Sheet) -> list[float]:
    """As wide as the first rows need: a Chinese letter takes two places."""
    rows = [sheet.columns, *sheet.rows[:200]]
    return [
        min(_MOST_WIDTH, 3 + max(_places(row[number]) for row in rows))
        for number in range(len(sheet.columns))
    ]


def _places(value: Any) -> int:
    if value is None:
        return 0
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in str(value))


def _heading(sheet: Any, name: str) -> Any:
    cell = _cell(sheet, name)
    cell.font = Font(bold=True, color="FFFFFF")
    cell.fill = PatternFill("solid", fgColor="305496")
    return cell


def _cell(sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet, value=neutral(xml_text(value)))
    cell.data_type = "s"
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    return cell
