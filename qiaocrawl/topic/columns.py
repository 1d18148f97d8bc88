"""Column names of imported tables, Chinese and English, and the words their cells may use."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qiaocrawl.language import _
from qiaocrawl.topic.check import closest

Columns = Mapping[str, tuple[str, ...]]
"""A column's own name, and the other headers that mean it."""

TERM_COLUMNS: Columns = {
    "term": ("word", "keyword", "text", "词", "词语", "词条", "术语", "关键词", "主题词"),
    "kind": ("type", "category", "类别", "类型", "分类", "种类"),
    "weight": ("权重", "权值"),
    "marked": ("important", "是否重点", "重点", "是否关注", "重点关注"),
    "note": ("remark", "comment", "备注", "说明", "注释"),
}

SITE_COLUMNS: Columns = {
    "host": ("domain", "hostname", "主机", "主机名", "域名"),
    "address": ("url", "website", "网址", "链接", "网站地址"),
    "name": ("site", "title", "名称", "网站", "网站名称", "站点", "站点名称"),
    "role": ("角色", "用途"),
    "tier": ("level", "级别", "等级", "权威级别"),
    "region": ("country", "地区", "区域", "国家", "国家地区"),
    "kind": ("type", "category", "类型", "类别", "分类", "种类"),
    "start_url": ("start", "start page", "起始页", "起始网址", "入口"),
    "render": ("browser", "渲染", "浏览器渲染"),
    "note": ("remark", "comment", "备注", "说明", "注释"),
}

GOLDEN_COLUMNS: Columns = {
    "title": ("headline", "text", "标题", "题目"),
    "label": ("relevant", "on topic", "相关", "切题", "标注"),
    "group": ("class", "组", "类", "分组"),
    "note": ("remark", "comment", "备注", "说明", "注释"),
}

DIGEST_COLUMNS: Columns = {
    "digest": ("sha1", "摘要"),
    "label": GOLDEN_COLUMNS["label"],
    "group": GOLDEN_COLUMNS["group"],
}

_YES = frozenset({"yes", "y", "true", "1", "on", "是", "要"})
_NO = frozenset({"no", "n", "false", "0", "off", "否", "不"})


_MARK_WORDS = "★ ⭐ * √ ✓ ✔ ☑ ● 重点 关注 重点关注 特别关注 核心 重要 关键 必看 有"
_NO_MARK_WORDS = "× ✗ ✕ x ○ ☐ — / 非重点 不是 不关注 非关注 一般 普通 非核心 不重要 无"
_MARKED = _YES.union(_MARK_WORDS.split())
_UNMARKED = _NO.union(_NO_MARK_WORDS.split())
MARKS = "是、否、★、√、重点、关注"
"""What a column of marks is told to hold."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where each column stands (0-based) in the cells of a row."""

    positions: Mapping[str, int]
    width: int


def read_header(cells: Sequence[str], columns: Columns) -> tuple[Header, list[str]]:
    """The columns that *cells* name, and what is wrong with them.

    Blank header cells are allowed as long as the cells below are blank too.
    """
    names = {_folded(alias): name for name, also in columns.items() for alias in (name, *also)}
    positions: dict[str, int] = {}
    reasons: list[str] = []
    for position, cell in enumerate(cells):
        name = names.get(_folded(cell))
        if not cell:
            continue
        if name is None:
            reasons.append(
                _(
                    "unknown column {cell!r}{closest}",
                    cell=cell,
                    closest=closest(cell.lower(), _spellings(columns)),
                )
            )
        elif name in positions:
            reasons.append(
                _(
                    "the column {cell!r} repeats {earlier!r}",
                    cell=cell,
                    earlier=cells[positions[name]],
                )
            )
        else:
            positions[name] = position
    return Header(positions, len(cells)), reasons


def describe(columns: Columns, name: str) -> str:
    """One column with the headers that mean it, for a message."""
    return f"{name} ({', '.join(columns[name])})"


def as_choice(text: str, allowed: Mapping[str, str], default: str) -> str:
    """The allowed word that *text* means (English in any case, or Chinese); else *text* itself."""
    word = _folded(text)
    if not word:
        return default
    chinese = {_folded(value): key for key, value in allowed.items()}
    return word if word in allowed else chinese.get(word, text)


def as_number(text: str, default: float) -> float:
    """A number typed in any width of digits; NaN when it is none, *default* when empty."""
    if not text:
        return default
    try:
        return float(unicodedata.normalize("NFKC", text.replace("_", "?")))
    except ValueError:
        return float("nan")


def as_flag(text: str) -> bool | None:
    """Yes, no (or empty), or None when *text* is neither."""
    word = _folded(text)
    if word in _YES:
        return True
    return False if word in _NO or not word else None


def as_mark(text: str) -> bool | None:
    """Whether a word is marked as important; None when *text* is neither a mark nor none.

    >>> as_mark("★"), as_mark("否"), as_mark(""), as_mark("明年")
    (True, False, False, None)
    """
    word = _folded(text) or text.strip()
    if word in _MARKED or (word and not word.strip("★⭐")):
        return True
    return False if word in _UNMARKED or not word else None


def _spellings(columns: Columns) -> list[str]:
    return [spelling for name, also in columns.items() for spelling in (name, *also)]


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char not in " _-\t\u3000")
