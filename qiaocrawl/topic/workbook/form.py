"""An empty workbook to fill in: examples, drop-down lists, explanations in Chinese."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openpyxl
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from qiaocrawl.topic.pack import ROLES, SITE_KINDS, TERM_KINDS
from qiaocrawl.topic.workbook.remarks import EXAMPLE

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
    _Column("词", 20, "必填。一格一个词，最多 40 个字；"
            "一格写几个时用顿号或逗号隔开，导入时会拆开。"),
    _Column("类别", 12, "从下拉列表选，不填为“其他”。", tuple(TERM_KINDS.values())),
    _Column("重要程度", 12, "核心、重要、一般、次要，"
            "或直接写权重（大于 0、不超过 10 的数）；不填为 3。",
            ("核心", "重要", "一般", "次要"), is_strict=False),
    _Column("备注", 30, "可不填。写“示例”的行不会导入。"),
)  # fmt: skip
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
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


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
