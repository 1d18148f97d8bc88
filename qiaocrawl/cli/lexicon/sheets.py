"""The tables of a lexicon as an Excel workbook, or its first one as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from qiaocrawl.cli.lexicon.sheet import Sheet
from qiaocrawl.errors import ConfigError
from qiaocrawl.language import _
from qiaocrawl.storage.export.neutral import neutral
from qiaocrawl.storage.outfile import growing_file


def check_ending(out: Path) -> None:
    """Refuse what is neither a workbook nor CSV.

    Raises:
        ConfigError: another ending.
    """
    if out.suffix.lower() not in (".xlsx", ".csv"):
        raise ConfigError(_("--out {out!r} must end in .xlsx or .csv", out=str(out)))


def write_sheets(out: Path, sheets: Sequence[Sheet]) -> None:
    """Write *sheets* to a workbook, or the first of them to a CSV file.

    Raises:
        ConfigError: more columns than Excel has.
    """
    with growing_file(out) as part:
        if out.suffix.lower() == ".csv":
            _write_csv(part, sheets[0])
        else:
            from qiaocrawl.cli.lexicon.sheet_workbook import write_workbook

            write_workbook(part, sheets)


def _write_csv(part: Path, sheet: Sheet) -> None:
    with part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([neutral(name) for name in sheet.columns])
        for row in sheet.rows:
            writer.writerow([neutral(value) if isinstance(value, str) else value for value in row])
