"""Articles as CSV, Excel and JSON Lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from sqlalchemy import Connection

from qiaocrawl.storage.export.base import Exporter, ExportReport, Progress, exporters
from qiaocrawl.storage.export.neutral import neutral, xml_text
from qiaocrawl.storage.export.selection import (
    ArticleRecord,
    Selection,
    count_articles,
    iter_articles,
)
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.text.zones import SHANGHAI

COLUMNS = (*(field.name for field in fields(ArticleRecord) if field.name != "html"), "markdown")
"""Of tables; people read them, and cells are small."""

# Excel's own limits; the header takes one row.
_MAX_CELL_CHARS = 32_767
_MAX_SHEET_ROWS = 1_048_576
_CUT_MARK = "…[cut]"


def write_csv(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """UTF-8 with a byte order mark, which Excel needs; every text quoted, formulas disarmed."""
    written = 0
    with growing_file(out) as part, part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(COLUMNS)
        for record in iter_articles(c, selection):
            writer.writerow([_csv_value(value) for value in _values(record)])
            written += 1
            progress(1)
    return ExportReport(written)


def write_jsonl(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """One JSON object a line, in UTF-8; texts exactly as stored."""
    written = 0
    with growing_file(out) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for record in iter_articles(c, selection):
            values = {**asdict(record), "markdown": record.markdown}
            values["comments"] = _comments(record)
            line = {name: _utc(value) for name, value in values.items()}
            # U+2028 and U+2029 end a line for some readers.
            text = json.dumps(line, ensure_ascii=False)
            file.write(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029") + "\n")
            written += 1
            progress(1)
    return ExportReport(written)


def write_xlsx(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A workbook; texts are typed as such and disarmed, over-long ones cut and marked."""
    book = _Book()
    with growing_file(out) as part:
        for record in iter_articles(c, selection):
            book.add(_values(record))
            progress(1)
        book.save(part)
    notes = (f"{book.cut} texts cut to Excel's {_MAX_CELL_CHARS:,} characters",) * bool(book.cut)
    return ExportReport(book.rows, notes)


class _Book:
    """A workbook written row by row, with a new sheet when one is full."""

    def __init__(self) -> None:
        self.rows = 0
        self.cut = 0
        self._book = Workbook(write_only=True)
        self._left = 0
        self._sheet = self._next_sheet()

    def add(self, values: Sequence[Any]) -> None:
        if not self._left:
            self._sheet = self._next_sheet()
        self._sheet.append([self._cell(value) for value in values])
        self.rows += 1
        self._left -= 1

    def save(self, path: Path) -> None:
        self._book.save(path)

    def _next_sheet(self) -> Any:
        sheet = self._book.create_sheet(f"articles {len(self._book.worksheets) + 1}")
        sheet.freeze_panes = "A2"
        sheet.append(COLUMNS)
        self._left = _MAX_SHEET_ROWS - 1
        return sheet

    def _cell(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        text = neutral(xml_text(value))
        if len(text) > _MAX_CELL_CHARS:
            text = text[: _MAX_CELL_CHARS - len(_CUT_MARK)] + _CUT_MARK
            self.cut += 1
        cell = WriteOnlyCell(self._sheet, value=text)
        cell.data_type = "s"  # openpyxl would take text that starts with "=" for a formula
        return cell


def _values(record: ArticleRecord) -> list[Any]:
    return [_cell_value(record, name) for name in COLUMNS]


def _cell_value(record: ArticleRecord, name: str) -> Any:
    """Engagement and comments as JSON, "" for none: a cell holds one value."""
    if name in ("engagement", "comments"):
        value = _comments(record) if name == "comments" else record.engagement
        return json.dumps(value, ensure_ascii=False) if value else ""
    return _beijing(getattr(record, name))


def _comments(record: ArticleRecord) -> list[dict[str, Any]]:
    return [
        {name: _utc(value) for name, value in comment._asdict().items()}
        for comment in record.comments
    ]


def _utc(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _beijing(value: Any) -> Any:
    # Readers live by Beijing time; in UTC the first news of a day would bear the date before.
    return value.astimezone(SHANGHAI).isoformat() if isinstance(value, datetime) else value


def _csv_value(value: Any) -> Any:
    if isinstance(value, str):
        return neutral(value)
    return int(value) if isinstance(value, bool) else value


exporters.register("csv")(Exporter(".csv", count_articles, write_csv))
exporters.register("jsonl")(Exporter(".jsonl", count_articles, write_jsonl))
exporters.register("xlsx")(Exporter(".xlsx", count_articles, write_xlsx))
