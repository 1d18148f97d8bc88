"""What was noticed while a workbook was read, told once a kind with all its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """What a finding means for its row."""

    FAULT = "有错 fault"
    CHANGED = "已处理 changed"
    LEFT_OUT = "不取 left out"


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding in both languages."""

    level: Level
    chinese: str
    english: str


KINDS: dict[str, FindingKind] = {
    "no_key": FindingKind(
        Level.FAULT, "没有写词，或没有写网址", "the row names no term, or no address"),
    "long_term": FindingKind(
        Level.FAULT, "词超过 40 个字", "a term has more than 40 characters"),
    "bad_address": FindingKind(
        Level.FAULT, "网址看不懂，请写成 www.example.com 或 http://…", "no address of a site"),
    "bad_weight": FindingKind(
        Level.FAULT, "权重看不懂，请写大于 0、不超过 10 的数，或 核心、重要、一般、次要",
        "a weight is a number above 0, up to 10, or a word such as 重要"),
    "bad_tier": FindingKind(
        Level.FAULT, "级别看不懂，请写 1（最高）到 5，或 高、中、低",
        "a tier is 1 (highest) to 5, or a word such as 重要"),
    "formula": FindingKind(
        Level.FAULT, "公式没有结果，请粘贴为数值", "a formula without a result; paste its value"),
    "error_value": FindingKind(
        Level.FAULT, "单元格是错误值", "the cell holds an error"),
    "date": FindingKind(
        Level.FAULT, "被 Excel 变成了日期，请把单元格设为文本再填",
        "Excel made a date of it; format the cell as text and type it again"),
    "invalid": FindingKind(Level.FAULT, "不合规定", "not valid"),
    "repeated": FindingKind(
        Level.CHANGED, "重复，只取第一处", "repeated; the first one counts"),
    "split": FindingKind(
        Level.CHANGED, "一格里有几个，已拆开", "several in one cell, taken one by one"),
    "guessed_kind": FindingKind(
        Level.CHANGED, "类别按最接近的理解", "the nearest kind is taken"),
    "unknown_kind": FindingKind(
        Level.CHANGED, "类别不认识，按“其他”，原文记入备注",
        "unknown kind, taken as other and kept in the note"),
    "unknown_role": FindingKind(
        Level.CHANGED, "角色不认识，按“目标”", "unknown role, taken as target"),
    "cut": FindingKind(Level.CHANGED, "文字太长，已截短", "too long, cut"),
    "no_roles": FindingKind(
        Level.CHANGED, "没有“角色”列，全部按“权威”整站采集",
        "no column of roles: all are crawled whole (authoritative)"),
    "scaled": FindingKind(
        Level.CHANGED, "权重是百分制，已除以 10", "weights up to 100, divided by 10"),
    "one_is_highest": FindingKind(
        Level.CHANGED, "重要程度是数字，按 1 最重要",
        "importance in numbers: 1 counts as the highest"),
    "no_header": FindingKind(
        Level.CHANGED, "没有表头，按内容理解", "no header; understood by what it holds"),
    "remark": FindingKind(
        Level.LEFT_OUT, "是附注、合计或小标题", "a remark, a sum or a heading"),
    "example": FindingKind(Level.LEFT_OUT, "是示例", "an example"),
    "unused_column": FindingKind(Level.LEFT_OUT, "用不到的列", "columns that are not used"),
    "unused_sheet": FindingKind(
        Level.LEFT_OUT, "这张表不像词表或站点表，没有取", "neither terms nor sites; not taken"),
    "hidden_sheet": FindingKind(Level.LEFT_OUT, "隐藏的表没有取", "hidden; not taken"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one cell, row or sheet.

    Attributes:
        line: 1-based; 0 for the whole sheet.
        column: 0-based; -1 for the whole row.
    """

    kind: str
    sheet: str
    line: int = 0
    column: int = -1
    value: str = ""

    @property
    def level(self) -> Level:
        """What it means for its row."""
        return KINDS[self.kind].level

    @property
    def text(self) -> str:
        """In one line, for a comment on its cell."""
        kind = KINDS[self.kind]
        value = f"：{self.value}" if self.kind == "invalid" else ""
        return f"{kind.chinese}{value} {kind.english}"


_SHOWN_VALUES = 6
_SHOWN_VALUE_CHARACTERS = 24
_SHOWN_RANGES = 30


def messages(findings: Iterable[Finding], *levels: Level) -> list[str]:
    """One line for each kind of finding and sheet, faults first, with all rows.

    Args:
        levels: only these; all when none is given.
    """
    grouped: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        detail = finding.value if finding.kind == "invalid" else ""
        grouped.setdefault((finding.sheet, finding.kind, detail), []).append(finding)
    chosen = [group for group in grouped.values() if not levels or group[0].level in levels]
    order = list(Level)
    chosen.sort(key=lambda group: order.index(group[0].level))
    return [_message(group) for group in chosen]


def _message(group: Sequence[Finding]) -> str:
    kind = KINDS[group[0].kind]
    lines = sorted({finding.line for finding in group if finding.line})
    where = f"：{shown_lines(lines)}" if lines and group[0].kind != "unused_column" else ""
    values = list(dict.fromkeys(
        f"“{_short(finding.value)}”" for finding in group if finding.value
    ))  # fmt: skip
    more = "…" if len(values) > _SHOWN_VALUES else ""
    value = f" {'、'.join(values[:_SHOWN_VALUES])}{more}" if values else ""
    return f"{group[0].sheet}{where}：{kind.chinese}{value}  {kind.english}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    whole = len(text) <= _SHOWN_VALUE_CHARACTERS
    return text if whole else text[: _SHOWN_VALUE_CHARACTERS - 1] + "…"


def shown_lines(lines: Sequence[int]) -> str:
    """Sorted line numbers as a reader takes them in: ``第 3、5–9 行``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    shown: list[str] = []
    for run in runs:
        shown += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else map(str, run)
    if len(shown) > _SHOWN_RANGES:
        return f"第 {'、'.join(shown[:_SHOWN_RANGES])}… 行，共 {len(lines)} 行"
    return f"第 {'、'.join(shown)} 行"
