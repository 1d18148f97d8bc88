"""Cells of an Excel workbook that hold text of strangers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment

from qiaocrawl.storage.export.neutral import neutral, xml_text

MAX_CELL_CHARS = 32_767
"""What Excel holds in one cell."""
WRAPPED = Alignment(vertical="top", wrap_text=True)
_LINE_POINTS = 16


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
