"""The operator's own file written back, what was noticed marked in its cells."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.cell import MergedCell
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.escape import escape_formula
from qiaocrawl.topic.files import ZIP_MAGIC, read_limited, write_whole
from qiaocrawl.topic.workbook.findings import Finding, Level, messages
from qiaocrawl.topic.workbook.reading import read_sent
from qiaocrawl.topic.workbook.sheets import Sheet, opened_workbook

REPORT_SHEET = "导入检查"
"""The sheet that lists what was noticed; an import leaves it out."""

_COLOURS = {Level.FAULT: "FFFFC7CE", Level.CHANGED: "FFFFEB9C", Level.LEFT_OUT: "FFE7E6E6"}
_AUTHOR = "qiaocrawl"
_COMMENT_WIDTH, _LINE_HEIGHT = 320, 40


def write_marked(
    source: Path, target: Path, sheets: Sequence[Sheet], findings: Sequence[Finding]
) -> None:
    """Write *source* to *target* (.xlsx), its cells coloured and commented by *findings*.

    Faults are red, what was changed is yellow, what is left out grey. A CSV file becomes a
    workbook.

    Raises:
        TopicError: *target* is the source, is no ``.xlsx`` or cannot be written.
    """
    if target.suffix.lower() != ".xlsx":
        raise TopicError(_("{target!r} must end in .xlsx", target=str(target)))
    if target.resolve() == source.resolve():
        raise TopicError(
            _("{target!r} is the file itself: choose another name", target=str(target))
        )
    write_whole(target, _marked(read_limited(source), source.name, sheets, findings))


def marked_file(data: bytes, name: str) -> bytes:
    """The same of a file that somebody sent as *name*.

    Raises:
        TopicError: it cannot be read.
    """
    sheets, reading = read_sent(data, name)
    return _marked(data, name, sheets, reading.findings)


def _marked(data: bytes, name: str, sheets: Sequence[Sheet], findings: Sequence[Finding]) -> bytes:
    if not data.startswith(ZIP_MAGIC):
        return _written(_copied(sheets), findings)
    with opened_workbook(data, name) as workbook:
        return _written(workbook, findings)


def _copied(sheets: Sequence[Sheet]) -> Any:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for sheet in sheets:
        copy = workbook.create_sheet(sheet.name[:31])
        for row in sheet.rows:
            for column, cell in enumerate(row.cells, start=1):
                if cell.text:
                    copy.cell(row.line, column, escape_formula(cell.text)).data_type = "s"
    return workbook


def _written(workbook: Any, findings: Sequence[Finding]) -> bytes:
    by_cell: dict[tuple[str, int, int], list[Finding]] = {}
    for finding in findings:
        if finding.line:
            place = (finding.sheet, finding.line, max(0, finding.column) + 1)
            by_cell.setdefault(place, []).append(finding)
    for (name, line, column), here in by_cell.items():
        # A CSV file's name may be longer than that of a sheet can be.
        _mark(workbook[name[:31]], line, column, here)
    if REPORT_SHEET in workbook.sheetnames:
        workbook.remove(workbook[REPORT_SHEET])
    _add_report(workbook.create_sheet(REPORT_SHEET), findings)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def _mark(sheet: Any, line: int, column: int, findings: Sequence[Finding]) -> None:
    cell = sheet.cell(line, column)
    if isinstance(cell, MergedCell):
        merged = next(area for area in sheet.merged_cells.ranges if cell.coordinate in area)
        cell = sheet.cell(merged.min_row, merged.min_col)
    level = min((finding.level for finding in findings), key=list(Level).index)
    cell.fill = PatternFill("solid", start_color=_COLOURS[level])
    lines = [cell.comment.text] if cell.comment else []
    lines += [finding.text for finding in findings if finding.text not in lines]
    text = "\n".join(dict.fromkeys(lines))
    cell.comment = Comment(text, _AUTHOR, _LINE_HEIGHT * (text.count("\n") + 2), _COMMENT_WIDTH)


def _add_report(sheet: Any, findings: Sequence[Finding]) -> None:
    sheet.append([_("result"), _("what was noticed")])
    by_level: Mapping[Level, list[str]] = {level: messages(findings, level) for level in Level}
    for level, lines in by_level.items():
        for line in lines:
            sheet.append([_(level.value), escape_formula(line)])
            sheet.cell(sheet.max_row, 1).fill = PatternFill("solid", start_color=_COLOURS[level])
            sheet.cell(sheet.max_row, 2).alignment = Alignment(wrap_text=True, vertical="top")
    if not any(by_level.values()):
        sheet.append([_("ok"), _("nothing was noticed")])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.column_dimensions["A"].width = 18
    sheet.column_dimensions["B"].width = 100
