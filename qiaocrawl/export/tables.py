"""Articles as CSV and JSON Lines, for programs: here, and in the feeds of Scrapy."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.readable import neutral
from qiaocrawl.reading.records import ArticleRecord, iter_articles
from qiaocrawl.storage.backup import growing_file
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.visible import visible_json
from qiaocrawl.text.zones import SHANGHAI

COLUMNS = (*(field.name for field in fields(ArticleRecord) if field.name != "html"), "markdown")
"""Of tables; people read them, and cells are small."""
FIELDS = (*COLUMNS, "html")
"""All that a record for programs may have."""


def write_csv(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """UTF-8 with a byte order mark, which Excel needs; every text quoted, formulas disarmed."""
    written = 0
    with growing_file(out) as part, part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(COLUMNS)
        for record in iter_articles(c, selection):
            writer.writerow([*cell_values(record).values()])
            written += 1
            progress(1)
    return ExportReport(written)


def write_jsonl(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """One JSON object a line, in UTF-8; texts exactly as stored."""
    written = 0
    with growing_file(out) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for record in iter_articles(c, selection):
            file.write(visible_json(json.dumps(json_values(record), ensure_ascii=False)) + "\n")
            written += 1
            progress(1)
    return ExportReport(written)


def json_values(record: ArticleRecord) -> dict[str, Any]:
    """All that is known of *record* as JSON has it: times in UTC, texts exactly as stored."""
    values = {**asdict(record), "markdown": record.markdown, "comments": _comments(record)}
    return {name: _utc(value) for name, value in values.items()}


def cell_values(record: ArticleRecord, names: Sequence[str] = COLUMNS) -> dict[str, Any]:
    """*record* as a row of a table: Beijing time, formulas disarmed, one value a cell."""
    return {name: _csv_value(_cell_value(record, name)) for name in names}


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
