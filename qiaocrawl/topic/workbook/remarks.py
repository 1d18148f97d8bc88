"""Rows of a table that are no entries: remarks at the bottom, sums, headings of sections."""

from __future__ import annotations

import re

from qiaocrawl.topic.workbook.sheets import SheetRow

EXAMPLE = "示例"
"""The note of a row that only shows how a form is filled in begins with this."""

_LABEL = re.compile(
    r"^[（(\[【]?\s*(?:注|备注|附注|说明|填表说明|填报说明|提示|来源|数据来源|资料来源|联系方式|"
    r"填[表报](?:人|单位|日期|时间|部门)?|制表(?:人|单位|日期|时间)?|审核(?:人)?|审批(?:人)?|"
    r"联系(?:人|电话)|负责人|电话|日期|时间|更新(?:时间|日期)|截[至止](?:时间|日期)?|统计(?:时间|日期)?|"
    r"单位|部门)\s*\d*\s*[)）\]】]?\s*[：:]"
)
_SUM = re.compile(r"^(?:合\s*计|共\s*计|总\s*计|小\s*计|总数|共\s*\d+\s*[个条项家])")
_OPENING = re.compile(r"^(?:[※*＊]|以上|注[：:\d]|备注|截至\s*\d)")
_SECTION = re.compile(r"^[（(]?[一二三四五六七八九十]+[)）、.．]\s*(.+)$")
_LONG_CHARACTERS = 40


def is_remark(row: SheetRow, *, has_key: bool) -> bool:
    """Whether *row* says something about the list instead of adding to it.

    Args:
        has_key: the cell of the term or address is written.
    """
    texts = row.texts
    if not texts:
        return False
    first = " ".join(texts[0].split())
    if _LABEL.match(first) or _SUM.match(first) or (row.is_wide and len(texts) <= 2):
        return True
    if len(texts) > 2:
        return False
    is_alone = len(texts) == 1
    is_prose = len(first) > _LONG_CHARACTERS or first.endswith("。")
    return is_alone and bool(
        (is_prose and not re.search(r"[、，,；;]\S{1,8}[、，,；;]", first))
        or (_OPENING.match(first) and len(first) > 2)
        or (_SECTION.match(first) and (not has_key or len(first) <= 12))
    )


def section_name(row: SheetRow) -> str:
    """What a heading between rows names (``一、核心词`` → ``核心词``), or ""."""
    texts = row.texts
    if len(texts) != 1 or len(texts[0]) > 20 or _LABEL.match(texts[0]) or _SUM.match(texts[0]):
        return ""
    match = _SECTION.match(texts[0])
    return match[1] if match else texts[0]
