"""Terms and sites from and to tables: CSV or Excel, Chinese or English headers.

A table with any fault is refused whole, with every bad row named by line and reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.topic import columns as col
from qiaocrawl.topic.check import (
    list_faults,
    raise_faults,
    site_key,
    site_reasons,
    term_key,
    term_reasons,
)
from qiaocrawl.topic.csvfile import format_csv, parse_csv
from qiaocrawl.topic.files import OLE_MAGIC, ZIP_MAGIC, RawTable, read_limited, write_whole
from qiaocrawl.topic.hosts import normalise_host, url_host
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
)

Cells = Mapping[str, str]
Reasons = list[str]
Row = TypeVar("Row")

DEFAULT_TIER = 3
"""Tier of a site whose table does not say: neither an authority nor a doubtful source."""

_WRITTEN_TERMS = ("term", "kind", "weight", "note")
_WRITTEN_SITES = (
    "host", "name", "role", "tier", "region", "kind", "start_url", "render", "note",
)  # fmt: skip


def read_terms(path: Path) -> tuple[Term, ...]:
    """The terms of a CSV or Excel table; only a column for the term itself is required.

    A missing kind is ``other``, a missing weight 3 (``DEFAULT_WEIGHT``). A table of a header only
    gives ().

    Raises:
        TopicError: the file or any row is bad; ``faults`` lists all bad rows.
    """
    rows, faults = read_rows(path, col.TERM_COLUMNS, (("term",),), _term)
    faults += list_faults(path.name, rows, term_reasons, term_key)
    return valid_rows(path, rows, faults)


def read_sites(path: Path) -> tuple[Site, ...]:
    """The sites of a CSV or Excel table; only a column of hosts or addresses is required.

    A missing name is the host, a missing kind ``other``, a missing tier 3, a missing role
    ``target``; where no row names a role all are ``authoritative``, so that there is something
    to crawl. An address may be an http(s) URL: its host counts, and a page deeper
    than the root becomes the start URL. International host names become punycode.

    Raises:
        TopicError: the file or any row is bad; ``faults`` lists all bad rows.
    """
    rows, faults = read_rows(path, col.SITE_COLUMNS, (("host", "address"),), _site)
    default: Role = "target" if any(site.role for _, site in rows) else "authoritative"
    rows = [(line, replace(site, role=site.role or default)) for line, site in rows]
    faults += list_faults(path.name, rows, site_reasons, site_key)
    return valid_rows(path, rows, faults)


def write_terms(terms: Iterable[Term], path: Path) -> None:
    """Write *terms* as CSV (UTF-8 with BOM) or, for ``.xlsx``, as an Excel workbook."""
    rows = ((term.text, term.kind, term.weight, term.note) for term in terms)
    _write(path, "terms", _WRITTEN_TERMS, rows)


def write_sites(sites: Iterable[Site], path: Path) -> None:
    """Write *sites* as CSV (UTF-8 with BOM) or, for ``.xlsx``, as an Excel workbook."""
    _write(path, "sites", _WRITTEN_SITES, map(_site_cells, sites))


def read_rows(
    path: Path,
    columns: col.Columns,
    required: Sequence[Sequence[str]],
    convert: Callable[[Cells, Reasons], Row],
) -> tuple[list[tuple[int, Row]], list[RowFault]]:
    """Numbered records of a table, and the faults of cells that could not be understood.

    A cell with such a fault counts as empty, so that the rest of its row is judged too.
    """
    raw = _read_raw(path)
    faults = list(raw.faults)
    if not raw.rows:
        return [], faults
    header_line, names = raw.rows[0]
    header, reasons = col.read_header(names, columns)
    _require_header(RowFault(path.name, header_line, ""), header, columns, required, reasons)
    faults += [RowFault(path.name, header_line, reason) for reason in reasons]
    rows: list[tuple[int, Row]] = []
    for line, cells in raw.rows[1:]:
        bad: Reasons = []
        rows.append((line, convert(_named(header, cells, bad), bad)))
        faults += [RowFault(path.name, line, reason) for reason in bad]
    return rows, faults


def _read_raw(path: Path) -> RawTable:
    data = read_limited(path)
    if data.startswith((ZIP_MAGIC, OLE_MAGIC)):
        from qiaocrawl.topic.xlsxfile import parse_xlsx

        return parse_xlsx(data, path.name)
    return parse_csv(data, path.name)


def _require_header(
    where: RowFault,
    header: col.Header,
    columns: col.Columns,
    required: Sequence[Sequence[str]],
    reasons: Sequence[str],
) -> None:
    """A table without its key column has no header; its rows are not worth judging."""
    for names in required:
        if any(name in header.positions for name in names):
            continue
        expected = " or ".join(col.describe(columns, name) for name in names)
        reason = _("the header names no column {expected}", expected=expected)
        faults = [replace(where, reason=text) for text in (reason, *reasons)]
        raise TopicError(f"{where.table}: {reason}", faults)


def _named(header: col.Header, cells: Sequence[str], bad: Reasons) -> Cells:
    used = set(header.positions.values())
    extra = next((c for i, c in enumerate(cells) if c and i not in used), "")
    if extra:
        bad.append(_("the cell {extra!r} stands under no header", extra=extra))
    return {name: cells[i] if i < len(cells) else "" for name, i in header.positions.items()}


def _term(cells: Cells, bad: Reasons) -> Term:
    return Term(
        text=cells["term"],
        kind=col.as_choice(cells.get("kind", ""), TERM_KINDS, "other"),
        weight=_weight(cells.get("weight", ""), cells.get("marked", ""), bad),
        note=cells.get("note", ""),
    )


def _site(cells: Cells, bad: Reasons) -> Site:
    host, start_url = _place(cells, bad)
    return Site(
        host=host,
        name=cells.get("name", "") or host,
        role=cast(Role, col.as_choice(cells.get("role", ""), ROLES, "")),
        tier=_tier(cells.get("tier", ""), bad),
        region=cells.get("region", ""),
        kind=col.as_choice(cells.get("kind", ""), SITE_KINDS, "other"),
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
    is_marked = col.as_mark(mark)
    if is_marked is None:
        bad.append(_("a mark is one of {allowed}, got {text!r}", allowed=col.MARKS, text=mark))
    weight = col.as_number(text, MARKED_WEIGHT if is_marked else DEFAULT_WEIGHT)
    if math.isnan(weight):
        bad.append(_("weight must be a number, got {text!r}", text=text))
        return DEFAULT_WEIGHT
    return weight


def _tier(text: str, bad: Reasons) -> int:
    tier = col.as_number(text, DEFAULT_TIER)
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
    flag = col.as_flag(text)
    if flag is None:
        bad.append(_("render must be yes or no, got {text!r}", text=text))
    return bool(flag)


def _site_cells(site: Site) -> tuple[str | float | int, ...]:
    render = "yes" if site.render else "no"
    return (
        site.host, site.name, site.role, site.tier, site.region, site.kind,
        site.start_url, render, site.note,
    )  # fmt: skip


def _write(
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
        write_whole(path, format_csv([header, *([_shown(c) for c in row] for row in rows)]))
    else:
        raise TopicError(_("{path!r} must end in .csv or .xlsx", path=str(path)))


def _shown(cell: str | float | int) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else repr(cell)


def valid_rows(
    path: Path, rows: Sequence[tuple[int, Row]], faults: list[RowFault]
) -> tuple[Row, ...]:
    """The records of numbered *rows*.

    Raises:
        TopicError: there are *faults*; it lists them by line.
    """
    raise_faults(path.name, sorted(faults, key=lambda fault: fault.line))
    return tuple(row for _, row in rows)
