"""An empty workbook to fill in: examples, drop-down lists, explanations in Chinese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.cell import MergedCell
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.text.normalise import without_blanks
from qiaocrawl.topic.files import ZIP_MAGIC, escape_formula, read_limited, write_whole
from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS
from qiaocrawl.topic.workbook.findings import Finding, Level, messages
from qiaocrawl.topic.workbook.reading import read_sent
from qiaocrawl.topic.workbook.records import EXAMPLE
from qiaocrawl.topic.workbook.sheets import Sheet, SheetRow, opened_workbook, read_file
from qiaocrawl.topic.workbook.vocabulary import JUDGEMENT_HEADER, URL_HEADER, plain
from qiaocrawl.topic.xlsxfile import workbook_bytes
from qiaocrawl.urls import canonical_url

_ROWS = 2_000
"""Rows that have drop-down lists."""


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    width: int
    explanation: str
    choices: tuple[str, ...] = ()
    is_strict: bool = True


_TERMS = (
    _Column("序号", 6, "可不填。"),
    _Column(
        "词", 20, "必填。一格一个词，最多 40 个字；一格写几个时用顿号或逗号隔开，导入时会拆开。"
    ),
    _Column("类别", 12, "从下拉列表选，不填为“其他”。", tuple(TERM_KINDS.values())),
    _Column(
        "重要程度",
        12,
        "核心、重要、一般、次要，或直接写权重（大于 0、不超过 10 的数）；不填为 3。",
        ("核心", "重要", "一般", "次要"),
        is_strict=False,
    ),
    _Column("备注", 30, "可不填。写“示例”的行不会导入。"),
)
_SITES = (
    _Column("序号", 6, "可不填。"),
    _Column("网址", 34, "必填。可以只写主机名（www.example.com），也可以写完整网址；"
            "写到栏目时，该栏目就是起始页。"),
    _Column("名称", 24, "网站或单位的名称，不填则用主机名。"),
    _Column("角色", 10, "权威：整站采集；目标：只经搜索引擎检索。"
            "整列不填则全部按权威。", tuple(ROLES.values())),
    _Column("级别", 8, "1（最权威）到 5（论坛、传闻），不填为 3。", ("1", "2", "3", "4", "5")),
    _Column("地区", 12, "可不填，如“中国”“美国”。"),
    _Column("类型", 14, "从下拉列表选，不填为“其他”。", tuple(SITE_KINDS.values())),
    _Column("起始页", 34, "可不填。采集从这一页开始，须是同一网站的网址。"),
    _Column("需要浏览器", 12, "网页要用浏览器才能显示内容时选“是”。", ("是", "否")),
    _Column("备注", 30, "可不填。写“示例”的行不会导入。"),
)  # fmt: skip
_NOTE = f"{EXAMPLE}，可删除"
_EXAMPLES: Mapping[str, Sequence[Sequence[str | int]]] = {
    "词表": (
        (1, "归侨侨眷", "群体", "核心", _NOTE),
        (2, "华文教育", "教育", "重要", _NOTE),
        (3, "中餐馆", "经贸", "次要", _NOTE),
    ),
    "站点": (
        (1, "www.example.gov.cn", "某某侨务办公室", "权威", "1", "中国", "政府", "", "否", _NOTE),
        (2, "https://news.example.com/huaren/", "某某网华人频道", "权威", "3", "中国", "新闻网站",
         "", "否", _NOTE),
        (3, "bbs.example.com", "某某论坛", "目标", "5", "美国", "论坛", "", "否", _NOTE),
    ),
}  # fmt: skip
_HEADER_FILL = PatternFill("solid", start_color="FFD9E1F2")
_EXAMPLE_FONT = Font(italic=True, color="FF808080")
_STEPS = (
    "怎样填写",
    "1. 在“词表”里一行写一个主题词，在“站点”里一行写一个网站；只填其中一张也可以。",
    "2. 灰色斜体的是示例，可以删除，不删也不会导入。",
    "3. 列可以换顺序，不用的列可以删除，另加的列不影响导入。",
    "4. 先看一遍会导入什么：  qiaocrawl topic import 文件.xlsx --preview",
    "5. 导入：  qiaocrawl topic import 文件.xlsx --into 主题名（小写英文字母，如 qiaoqing）",
    "6. 有错时加上 --faults-to 有错.xlsx，错处会在表里标红并加批注。",
)


def format_form() -> bytes:
    """The form as the bytes of an ``.xlsx`` file."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, columns in (("词表", _TERMS), ("站点", _SITES)):
        _fill(workbook.create_sheet(name), columns, _EXAMPLES[name])
    _explain(workbook.create_sheet("填写说明"))
    return workbook_bytes(workbook)


def _fill(sheet: Any, columns: Sequence[_Column], examples: Sequence[Sequence[str | int]]) -> None:
    sheet.append([column.header for column in columns])
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), _HEADER_FILL
        cell.alignment = Alignment(horizontal="center")
    for example in examples:
        sheet.append(list(example))
        for cell in sheet[sheet.max_row]:
            cell.font = _EXAMPLE_FONT
    sheet.freeze_panes = "A2"
    for number, column in enumerate(columns, start=1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = column.width
        sheet.column_dimensions[letter].number_format = "@"  # 3-15 stays what was typed
        if column.choices:
            sheet.add_data_validation(_drop_down(column, f"{letter}2:{letter}{_ROWS}"))


def _drop_down(column: _Column, cells: str) -> DataValidation:
    listed = ",".join(column.choices)
    rule = DataValidation("list", formula1=f'"{listed}"', allow_blank=True, sqref=cells)
    rule.promptTitle, rule.prompt, rule.showInputMessage = column.header, column.explanation, True
    rule.errorTitle, rule.error = column.header, f"请从列表中选择：{listed}"
    rule.showErrorMessage = column.is_strict
    return rule


def _explain(sheet: Any) -> None:
    for step in _STEPS:
        sheet.append([step])
    sheet["A1"].font = Font(bold=True, size=14)
    for name, columns in (("词表", _TERMS), ("站点", _SITES)):
        sheet.append([])
        sheet.append([f"{name}的列", "怎么填", "可以选的"])
        for cell in sheet[sheet.max_row]:
            cell.font, cell.fill = Font(bold=True), _HEADER_FILL
        for column in columns:
            sheet.append([column.header, column.explanation, "、".join(column.choices)])
            for cell in sheet[sheet.max_row]:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            # Two lines where one is too short: not every program works it out.
            texts = (column.explanation, "、".join(column.choices))
            is_long = any(len(text) > most for text, most in zip(texts, (36, 26), strict=True))
            sheet.row_dimensions[sheet.max_row].height = 30 if is_long else 15
    for letter, width in (("A", 16), ("B", 60), ("C", 50)):
        sheet.column_dimensions[letter].width = width


# --- The operator's own file written back, what was noticed marked in its cells -------------------

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
    write_whole(target, _mark_workbook(read_limited(source), source.name, sheets, findings))


def marked_file(data: bytes, name: str) -> bytes:
    """The same of a file that somebody sent as *name*.

    Raises:
        TopicError: it cannot be read.
    """
    sheets, reading = read_sent(data, name)
    return _mark_workbook(data, name, sheets, reading.findings)


def _mark_workbook(
    data: bytes, name: str, sheets: Sequence[Sheet], findings: Sequence[Finding]
) -> bytes:
    if not data.startswith(ZIP_MAGIC):
        return _save_with_findings(_copy_sheets(sheets), findings)
    with opened_workbook(data, name) as workbook:
        return _save_with_findings(workbook, findings)


def _copy_sheets(sheets: Sequence[Sheet]) -> Any:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for sheet in sheets:
        copy = workbook.create_sheet(sheet.name[:31])
        for row in sheet.rows:
            for column, cell in enumerate(row.cells, start=1):
                if cell.text:
                    copy.cell(row.line, column, escape_formula(cell.text)).data_type = "s"
    return workbook


def _save_with_findings(workbook: Any, findings: Sequence[Finding]) -> bytes:
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
    return workbook_bytes(workbook)


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


# --- Judgements in a table: the exported Excel or CSV with one column filled in -------------------

_YES, _NO = (
    "yes y true 1 是 是的 对 切题 相关 √ ✓ ✔",
    "no n false 0 否 不 不是 错 不切题 不相关 无关 × ✗ ✘ x",
)
ANSWERS = {**dict.fromkeys(_YES.split(), True), **dict.fromkeys(_NO.split(), False)}
"""What may be answered, and whether the page is on topic then."""

_JUDGEMENT_HEADERS = frozenset(
    {"判断", "判断是否", "判断是/否", "是否切题", "切题", "judgement", "judgment", "ontopic"}
)
_URL_HEADERS = frozenset({"网址", "url", "链接", "地址", "网页地址", "原文链接"})
_NOTE_HEADERS = frozenset({"备注", "判断备注", "理由", "note"})
_HEADER_WITHIN_ROWS = 20
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A page that was judged; ``url`` is canonical."""

    line: int
    url: str
    relevant: bool
    note: str


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """The judged rows of a table, and how many rows were left blank."""

    rows: tuple[JudgedRow, ...]
    blank: int


@dataclass(frozen=True, slots=True)
class _Columns:
    header: SheetRow
    judgement: int
    url: int
    note: int


def answer_of(text: str) -> bool | None:
    """Whether *text* says that a page is on topic; None where it says neither."""
    return ANSWERS.get(without_blanks(text).strip("。.").lower())


def read_judgements(path: Path) -> JudgedTable:
    """The judgements in the first sheet that has a column for them and one for addresses.

    Raises:
        TopicError: the file cannot be read, has no such columns, or holds an answer that is
            neither yes nor no, a bad address, or both answers for one page (``faults``).
    """
    sheet, columns = _find(read_file(path), path.name)
    rows: dict[str, JudgedRow] = {}
    faults: list[RowFault] = []
    blank = 0
    for row in sheet.rows:
        if row.line <= columns.header.line or not row.texts:
            continue
        if not row.cell(columns.judgement).text:
            blank += 1
            continue
        judged = _read_judgement(row, columns)
        if isinstance(judged, str):
            faults.append(RowFault(path.name, row.line, judged))
        elif rows.setdefault(judged.url, judged).relevant != judged.relevant:
            first = rows[judged.url].line
            faults.append(RowFault(path.name, row.line, _("contradicts line {first}", first=first)))
    if faults:
        raise TopicError(_("{file}: nothing was judged", file=path.name), faults)
    return JudgedTable(tuple(rows.values()), blank)


def _find(sheets: Sequence[Sheet], name: str) -> tuple[Sheet, _Columns]:
    for sheet in sheets:
        for row in sheet.rows[:_HEADER_WITHIN_ROWS]:
            headers = [plain(cell.text) for cell in row.cells]
            judgement, url = _first(headers, _JUDGEMENT_HEADERS), _first(headers, _URL_HEADERS)
            if judgement >= 0 and url >= 0:
                return sheet, _Columns(row, judgement, url, _first(headers, _NOTE_HEADERS))
    raise TopicError(
        _(
            "{name}: no columns “{judgement}” and “{url}”",
            name=name,
            judgement=JUDGEMENT_HEADER,
            url=URL_HEADER,
        )
    )


def _first(headers: Sequence[str], allowed: frozenset[str]) -> int:
    return next((at for at, header in enumerate(headers) if header in allowed), -1)


def _read_judgement(row: SheetRow, columns: _Columns) -> JudgedRow | str:
    """The judgement of a row, or what is wrong with it."""
    answer, cell = row.cell(columns.judgement).text, row.cell(columns.url)
    relevant = answer_of(answer)
    if relevant is None:
        return _(
            "the judgement must be yes or no, got {answer!r}", answer=answer[:_SHOWN_CHARACTERS]
        )
    # An exported address may be shown short, with the whole one behind it.
    url = canonical_url(cell.text) or canonical_url(cell.link)
    if url is None:
        return _("not the address of a page: {text!r}", text=cell.text[:_SHOWN_CHARACTERS])
    note = " ".join(row.cell(columns.note).text.split()) if columns.note >= 0 else ""
    return JudgedRow(row.line, url, relevant, note)
