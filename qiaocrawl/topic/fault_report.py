"""Faults of packs and tables for who has to mend them: once a kind, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterable

from qiaocrawl.errors import RowFault
from qiaocrawl.topic.workbook.findings import shown_lines

_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|U\+[0-9A-F]+|\d[\d.]*")
_SHOWN_VALUES = 6
# The first pattern that is found in a reason says it in Chinese.
_CHINESE = (
    (r"weight must be", "权重须为大于 0、不超过 10 的数"),
    (r"tier must be", "级别须为 1（最高）到 5 的整数"),
    (r"render must be", "是否渲染须写 是 或 否"),
    (r"threshold must be", "阈值须为 0 到 1 的数"),
    (r"language must be", "语言须为 zh、zh-Hant 这样的标记"),
    (r"unknown kind|kind is empty", "类别不认识"),
    (r"unknown role|role is empty", "角色不认识"),
    (r"unknown column", "表头有不认识的列"),
    (r"unknown key", "有不认识的键"),
    (r"the column .* repeats", "表头有重复的列"),
    (r"the header names no column", "表头缺少必需的列"),
    (r"stands under no header", "单元格上方没有表头"),
    (r"repeats", "重复"),
    (r"holds a formula", "单元格是公式，请粘贴为数值"),
    (r"holds a date", "单元格是日期，请设为文本再填"),
    (r"holds the error", "单元格是错误值"),
    (r"characters, got", "字数不合规定"),
    (r"starts or ends with white space|holds white space", "有多余的空白"),
    (r"control character|invisible character", "有看不见的字符"),
    (r"start_url", "起始页不对"),
    (r"host name|the host|address", "主机名或网址不对"),
    (r"sample name", "样本名不对"),
    (r"the name", "名称不对"),
    (r"no rows", "只有表头，没有内容"),
    (r"at least one term", "至少要有一个词或站点"),
)


def fault_lines(faults: Iterable[RowFault]) -> list[str]:
    """One line for each kind of fault in each table, with all its rows and some of its values."""
    groups: dict[tuple[str, str], list[RowFault]] = {}
    for fault in faults:
        groups.setdefault((fault.table, _VALUE.sub("", fault.reason)), []).append(fault)
    return [_line(table, group) for (table, _), group in groups.items()]


def _line(table: str, group: list[RowFault]) -> str:
    reasons = list(dict.fromkeys(fault.reason for fault in group))
    also = [value for reason in reasons[1:_SHOWN_VALUES] for value in _last_value(reason)]
    more = ("、" + "、".join(also) if also else "") + ("…" if len(reasons) > _SHOWN_VALUES else "")
    where = shown_lines(sorted({fault.line for fault in group}))
    return f"{table} {where}：{_in_chinese(reasons[0])}{reasons[0]}{more}"


def _in_chinese(reason: str) -> str:
    if not reason[:1].isascii():
        return ""  # it says so itself
    words = (text for pattern, text in _CHINESE if re.search(pattern, reason))
    return next((f"{text} " for text in words), "")


def _last_value(reason: str) -> list[str]:
    return _VALUE.findall(reason)[-1:]
