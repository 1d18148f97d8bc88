"""Terms and sites from and to tables: CSV or Excel, Chinese or English headers.

A table with any fault is refused whole, with every bad row named by line and reason.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, cast

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.check import (
    closest,
    list_faults,
    raise_faults,
    site_key,
    site_reasons,
    term_key,
    term_reasons,
)
from qiaocrawl.topic.files import (
    OLE_MAGIC,
    ZIP_MAGIC,
    RawTable,
    format_csv,
    parse_csv,
    read_limited,
    write_whole,
)
from qiaocrawl.topic.pack import (
    DEFAULT_WEIGHT,
    MARKED_WEIGHT,
    MAX_TIER,
    MIN_TIER,
    ROLES,
    SITE_KINDS,
    TERM_KINDS,
    Role,
    Site,
    Term,
    normalise_host,
    url_host,
)

# --- Column names of imported tables, Chinese and English, and the words their cells may use ------

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
    names = {_fold_header(alias): name for name, also in columns.items() for alias in (name, *also)}
    positions: dict[str, int] = {}
    reasons: list[str] = []
    for position, cell in enumerate(cells):
        name = names.get(_fold_header(cell))
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
    word = _fold_header(text)
    if not word:
        return default
    chinese = {_fold_header(value): key for key, value in allowed.items()}
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
    word = _fold_header(text)
    if word in _YES:
        return True
    return False if word in _NO or not word else None


def as_mark(text: str) -> bool | None:
    """Whether a word is marked as important; None when *text* is neither a mark nor none.

    >>> as_mark("★"), as_mark("否"), as_mark(""), as_mark("明年")
    (True, False, False, None)
    """
    word = _fold_header(text) or text.strip()
    if word in _MARKED or (word and not word.strip("★⭐")):
        return True
    return False if word in _UNMARKED or not word else None


def _spellings(columns: Columns) -> list[str]:
    return [spelling for name, also in columns.items() for spelling in (name, *also)]


def _fold_header(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char not in " _-\t\u3000")


# --- Terms and sites from and to tables: CSV or Excel, Chinese or English headers -----------------

Cells = Mapping[str, str]
Reasons = list[str]
Row = TypeVar("Row")

DEFAULT_TIER = 3
"""Tier of a site whose table does not say: neither an authority nor a doubtful source."""

_WRITTEN_TERMS = ("term", "kind", "weight", "note")
_WRITTEN_SITES = ("host", "name", "role", "tier", "region", "kind", "start_url", "render", "note")


def read_terms(path: Path) -> tuple[Term, ...]:
    """The terms of a CSV or Excel table; only a column for the term itself is required.

    A missing kind is ``other``, a missing weight 3 (``DEFAULT_WEIGHT``). A table of a header only
    gives ().

    Raises:
        TopicError: the file or any row is bad; ``faults`` lists all bad rows.
    """
    rows, faults = read_rows(path, TERM_COLUMNS, (("term",),), _term)
    faults += list_faults(path.name, rows, term_reasons, term_key)
    return valid_rows(path.name, rows, faults)


def read_sites(path: Path) -> tuple[Site, ...]:
    """The sites of a CSV or Excel table; only a column of hosts or addresses is required.

    A missing name is the host, a missing kind ``other``, a missing tier 3, a missing role
    ``target``; where no row names a role all are ``authoritative``, so that there is something
    to crawl. An address may be an http(s) URL: its host counts, and a page deeper
    than the root becomes the start URL. International host names become punycode.

    Raises:
        TopicError: the file or any row is bad; ``faults`` lists all bad rows.
    """
    rows, faults = read_rows(path, SITE_COLUMNS, (("host", "address"),), _site)
    default: Role = "target" if any(site.role for _, site in rows) else "authoritative"
    rows = [(line, replace(site, role=site.role or default)) for line, site in rows]
    faults += list_faults(path.name, rows, site_reasons, site_key)
    return valid_rows(path.name, rows, faults)


def write_terms(terms: Iterable[Term], path: Path) -> None:
    """Write *terms* as CSV (UTF-8 with BOM) or, for ``.xlsx``, as an Excel workbook."""
    rows = ((term.text, term.kind, term.weight, term.note) for term in terms)
    write_table(path, "terms", _WRITTEN_TERMS, rows)


def write_sites(sites: Iterable[Site], path: Path) -> None:
    """Write *sites* as CSV (UTF-8 with BOM) or, for ``.xlsx``, as an Excel workbook."""
    write_table(path, "sites", _WRITTEN_SITES, map(_site_cells, sites))


def read_rows(
    path: Path,
    columns: Columns,
    required: Sequence[Sequence[str]],
    convert: Callable[[Cells, Reasons], Row],
) -> tuple[list[tuple[int, Row]], list[RowFault]]:
    """Numbered records of a table, and the faults of cells that could not be understood.

    A cell with such a fault counts as empty, so that the rest of its row is judged too.
    """
    return rows_in(read_limited(path), path.name, columns, required, convert)


def rows_in(
    data: bytes,
    table: str,
    columns: Columns,
    required: Sequence[Sequence[str]],
    convert: Callable[[Cells, Reasons], Row],
) -> tuple[list[tuple[int, Row]], list[RowFault]]:
    """As :func:`read_rows`, of the bytes of a file that is called *table*."""
    raw = _raw_table(data, table)
    faults = list(raw.faults)
    if not raw.rows:
        return [], faults
    header_line, names = raw.rows[0]
    header, reasons = read_header(names, columns)
    _require_header(RowFault(table, header_line, ""), header, columns, required, reasons)
    faults += [RowFault(table, header_line, reason) for reason in reasons]
    rows: list[tuple[int, Row]] = []
    for line, cells in raw.rows[1:]:
        bad: Reasons = []
        rows.append((line, convert(_name_cells(header, cells, bad), bad)))
        faults += [RowFault(table, line, reason) for reason in bad]
    return rows, faults


def _raw_table(data: bytes, table: str) -> RawTable:
    if data.startswith((ZIP_MAGIC, OLE_MAGIC)):
        from qiaocrawl.topic.xlsxfile import parse_xlsx

        return parse_xlsx(data, table)
    return parse_csv(data, table)


def _require_header(
    where: RowFault,
    header: Header,
    columns: Columns,
    required: Sequence[Sequence[str]],
    reasons: Sequence[str],
) -> None:
    """A table without its key column has no header; its rows are not worth judging."""
    for names in required:
        if any(name in header.positions for name in names):
            continue
        expected = " or ".join(describe(columns, name) for name in names)
        reason = _("the header names no column {expected}", expected=expected)
        faults = [replace(where, reason=text) for text in (reason, *reasons)]
        raise TopicError(f"{where.table}: {reason}", faults)


def _name_cells(header: Header, cells: Sequence[str], bad: Reasons) -> Cells:
    used = set(header.positions.values())
    extra = next((c for i, c in enumerate(cells) if c and i not in used), "")
    if extra:
        bad.append(_("the cell {extra!r} stands under no header", extra=extra))
    return {name: cells[i] if i < len(cells) else "" for name, i in header.positions.items()}


def _term(cells: Cells, bad: Reasons) -> Term:
    return Term(
        text=cells["term"],
        kind=as_choice(cells.get("kind", ""), TERM_KINDS, "other"),
        weight=_weight(cells.get("weight", ""), cells.get("marked", ""), bad),
        note=cells.get("note", ""),
    )


def _site(cells: Cells, bad: Reasons) -> Site:
    host, start_url = _place(cells, bad)
    return Site(
        host=host,
        name=cells.get("name", "") or host,
        role=cast(Role, as_choice(cells.get("role", ""), ROLES, "")),
        tier=_tier(cells.get("tier", ""), bad),
        region=cells.get("region", ""),
        kind=as_choice(cells.get("kind", ""), SITE_KINDS, "other"),
        start_url=start_url,
        render=_render(cells.get("render", ""), bad),
        note=cells.get("note", ""),
    )


def _place(cells: Cells, bad: Reasons) -> tuple[str, str]:
    """Host and start URL of a row; a URL in the address column gives both."""
    start_url = cells.get("start_url", "")
    address = cells.get("address", "")
    host = _ascii_host(cells.get("host", "") or address)
    if "://" not in address:
        return host, start_url
    try:
        address_host = url_host(address)
    except ValueError as error:
        bad.append(f"address: {error}")
        return host, start_url
    if cells.get("host") and host != address_host:
        bad.append(
            _(
                "the address {address!r} is not on the host {host!r}",
                address=address,
                host=cells["host"],
            )
        )
    is_root = address.partition("://")[2].rstrip("/").lower() == address_host
    return address_host, start_url or ("" if is_root else address)


def _ascii_host(host: str) -> str:
    try:
        return normalise_host(host)
    except ValueError:
        return host  # the rules for sites say what is wrong with it


def _weight(text: str, mark: str, bad: Reasons) -> float:
    is_marked = as_mark(mark)
    if is_marked is None:
        bad.append(_("a mark is one of {allowed}, got {text!r}", allowed=MARKS, text=mark))
    weight = as_number(text, MARKED_WEIGHT if is_marked else DEFAULT_WEIGHT)
    if math.isnan(weight):
        bad.append(_("weight must be a number, got {text!r}", text=text))
        return DEFAULT_WEIGHT
    return weight


def _tier(text: str, bad: Reasons) -> int:
    tier = as_number(text, DEFAULT_TIER)
    if tier not in range(MIN_TIER, MAX_TIER + 1):
        bad.append(
            _(
                "tier must be a whole number from {low} to {high}, got {text!r}",
                low=MIN_TIER,
                high=MAX_TIER,
                text=text,
            )
        )
        return DEFAULT_TIER
    return int(tier)


def _render(text: str, bad: Reasons) -> bool:
    flag = as_flag(text)
    if flag is None:
        bad.append(_("render must be yes or no, got {text!r}", text=text))
    return bool(flag)


def _site_cells(site: Site) -> tuple[str | float | int, ...]:
    render = "yes" if site.render else "no"
    return (
        site.host,
        site.name,
        site.role,
        site.tier,
        site.region,
        site.kind,
        site.start_url,
        render,
        site.note,
    )


def write_table(
    path: Path,
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str | float | int]],
) -> None:
    if path.suffix.lower() == ".xlsx":
        # openpyxl takes longer to import than most commands to answer.
        from qiaocrawl.topic.xlsxfile import format_xlsx

        write_whole(path, format_xlsx([header, *rows], title))
    elif path.suffix.lower() == ".csv":
        write_whole(path, format_csv([header, *([_cell_text(c) for c in row] for row in rows)]))
    else:
        raise TopicError(_("{path!r} must end in .csv or .xlsx", path=str(path)))


def _cell_text(cell: str | float | int) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else repr(cell)


def valid_rows(
    table: str, rows: Sequence[tuple[int, Row]], faults: list[RowFault]
) -> tuple[Row, ...]:
    """The records of numbered *rows*.

    Raises:
        TopicError: there are *faults*; it lists them by line.
    """
    raise_faults(table, sorted(faults, key=lambda fault: fault.line))
    return tuple(row for _, row in rows)
