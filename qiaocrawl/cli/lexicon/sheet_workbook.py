"""The tables of a lexicon as an Excel workbook; apart, since openpyxl takes long to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter

from qiaocrawl.cli.lexicon.sheet import Sheet
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.export.cells import places_of, text_cell

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
        min(_MOST_WIDTH, 3 + max(places_of(str(row[number] or "")) for row in rows))
        for number in range(len(sheet.columns))
    ]


def _heading(sheet: Any, name: str) -> Any:
    cell = _cell(sheet, name)
    cell.font = Font(bold=True, color="FFFFFF")
    cell.fill = PatternFill("solid", fgColor="305496")
    return cell


def _cell(sheet: Any, value: Any) -> Any:
    return text_cell(sheet, value) if isinstance(value, str) else value
