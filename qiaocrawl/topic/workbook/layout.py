"""Where the tables of a sheet are: header row, columns, terms or sites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from qiaocrawl.language import _
from qiaocrawl.topic.pack import normalise_host, url_host
from qiaocrawl.topic.workbook.findings import Finding
from qiaocrawl.topic.workbook.sheets import Sheet, SheetRow
from qiaocrawl.topic.workbook.vocabulary import (
    IGNORED_HEADERS,
    SITE_HEADERS,
    TERM_HEADERS,
    column_of,
    hint_of,
    kind_of,
    plain,
)

# --- Addresses of sites as people type them into cells --------------------------------------------

_END = r"[^\s,;、()<>\"'“”‘’\[\]{}|]*"
_URL = re.compile(rf"https?://?/?[^\s/,;、()]{_END}", re.IGNORECASE)
_BARE = re.compile(
    rf"(?<![@\w./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{{2,}}(?::\d+)?(?:/{_END})?",
    re.IGNORECASE | re.ASCII,
)
_INTERNATIONAL = re.compile(
    r"(?:[\w-]+\.)+(?:中国|公司|网络|网址|政务|公益|香港|台湾|澳门|cn|com|net|org)"
)
_NO_SITE = re.compile(r"\.(?:xlsx?|docx?|pdf|txt|csv|jpe?g|png)$", re.IGNORECASE)


def addresses_in(text: str) -> list[str]:
    """Every http(s) address in *text* as a URL; those without a scheme get ``http://``.

    A mail address is none; an international host name counts when it is all of the text.
    """
    folded = unicodedata.normalize("NFKC", text).replace("。", ".").strip()
    urls = [
        re.sub(r"^(https?):/{1,3}", r"\1://", url, flags=re.IGNORECASE).rstrip(".")
        for url in _URL.findall(folded)
    ]
    rest = _URL.sub(" ", folded)
    urls += [
        f"http://{bare.rstrip('.')}" for bare in _BARE.findall(rest) if not _NO_SITE.search(bare)
    ]
    if not urls and _INTERNATIONAL.fullmatch(folded):
        urls = [f"http://{folded}"]
    return [url for url in urls if _is_site(url)]


def _is_site(url: str) -> bool:
    try:
        host = url_host(url)
    except ValueError:
        return False
    return not host.replace(".", "").isdigit() or host.count(".") == 3


def host_and_start(url: str) -> tuple[str, str]:
    """The host of *url*, and the URL itself where it is deeper than the root, else ""."""
    host = url_host(url)
    rest = url.partition("://")[2].rstrip("/")
    try:
        is_root = normalise_host(rest) == host
    except ValueError:
        is_root = False
    return host, "" if is_root else url


# --- Where the tables of a sheet are: header row, columns, terms or sites -------------------------

_HEADER_WITHIN_ROWS = 20
_SITE_KEYS = ("address", "host", "start_url")
_MAX_WORD_CHARACTERS = 12
_MAX_WORD_COLUMNS = 3

PURPOSES = {"terms": "词表", "sites": "站点表", "both": "两样都有", "skip": "不取"}
"""What a sheet may be taken for, with the Chinese."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something only the operator knows.

    Attributes:
        choices: answers with their Chinese.
        default: what counts when nobody is asked; "" where nothing may be assumed.
    """

    name: str
    text: str
    choices: Mapping[str, str]
    default: str


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table in a sheet: ``terms`` or ``sites``, and the 0-based columns by meaning.

    Attributes:
        kinds: of the terms in a column, where each column is a list of its own kind.
    """

    table: str
    columns: Mapping[str, tuple[int, ...]]
    kinds: Mapping[int, str] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[int, ...]:
        """The columns without which a row says nothing."""
        names = ("term",) if self.table == "terms" else (*_SITE_KEYS, "name")
        return tuple(column for name in names for column in self.columns.get(name, ()))


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The tables of a sheet; none where nobody can tell."""

    sheet: Sheet
    tables: tuple[TableLayout, ...] = ()
    header: SheetRow | None = None
    question: Question | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def rows(self) -> list[SheetRow]:
        """The rows below the header."""
        first = self.header.line if self.header else 0
        return [row for row in self.sheet.rows if row.line > first]


def layout_of(sheet: Sheet, purpose: str = "") -> SheetLayout:
    """The layout of *sheet*, taken for *purpose* (a key of PURPOSES) if the operator said so."""
    hint = purpose or hint_of(sheet.name)
    if purpose == "skip" or (not purpose and (sheet.is_hidden or hint == "skip")):
        return _unused_layout(sheet, "hidden_sheet" if sheet.is_hidden else "unused_sheet")
    terms, sites = _best_header(sheet, "terms"), _best_header(sheet, "sites")
    if not terms and not sites:
        return _matrix(sheet, purpose) or _without_header(sheet, hint, purpose)
    if terms and sites:
        return _two_tables(sheet, terms, sites, purpose)
    header, table = (terms, "terms") if terms else (sites, "sites")
    assert header is not None
    if purpose and purpose not in (table, "both"):
        return _without_header(sheet, purpose, purpose)
    layout = TableLayout(table, _columns(header, table, range(len(header.cells))))
    return _layout_below(sheet, header, layout)


def _best_header(sheet: Sheet, table: str) -> SheetRow | None:
    rows = [row for row in sheet.rows[:_HEADER_WITHIN_ROWS] if _names_key(sheet, row, table)]
    return max(rows, key=lambda row: _header_score(row, table), default=None)


def _names_key(sheet: Sheet, row: SheetRow, table: str) -> bool:
    if row.is_wide and len(row.texts) == 1:
        return False  # a title
    columns = _columns(row, table, range(len(row.cells)))
    if table == "terms":
        return "term" in columns
    if any(name in columns for name in _SITE_KEYS):
        return not any(addresses_in(cell.text) for cell in row.cells)
    return "name" in columns and _holds_addresses(sheet, row.line, columns["name"][0])


def _header_score(row: SheetRow, table: str) -> int:
    exact = TERM_HEADERS if table == "terms" else SITE_HEADERS
    cells = [cell.text for cell in row.cells if cell.text]
    known = sum((column_of(cell, table) != "") + (plain(cell) in exact) for cell in cells)
    return 2 * known + sum(plain(cell) in IGNORED_HEADERS for cell in cells)


def _holds_addresses(sheet: Sheet, below: int, column: int) -> bool:
    cells = [row.cell(column) for row in sheet.rows if row.line > below]
    written = [cell for cell in cells if cell.text]
    hits = sum(bool(addresses_in(cell.text) or addresses_in(cell.link)) for cell in written)
    return hits * 2 > len(written)


def _columns(header: SheetRow, table: str, among: Iterable[int]) -> dict[str, tuple[int, ...]]:
    columns: dict[str, tuple[int, ...]] = {}
    for column in among:
        name = column_of(header.cell(column).text, table)
        if name:
            columns[name] = (*columns.get(name, ()), column)
    return columns


def _layout_below(sheet: Sheet, header: SheetRow, *tables: TableLayout) -> SheetLayout:
    used = {column for table in tables for columns in table.columns.values() for column in columns}
    below = [row for row in sheet.rows if row.line > header.line]
    findings = []
    for column in range(max(len(row.cells) for row in (header, *below))):
        name = header.cell(column).text
        is_written = any(row.cell(column).text for row in below)
        if column not in used and is_written and plain(name) not in IGNORED_HEADERS:
            shown = name or _("column {number}", number=column + 1)
            findings.append(Finding("unused_column", sheet.name, header.line, column, shown))
    return SheetLayout(sheet, tables, header, findings=tuple(findings))


def _two_tables(sheet: Sheet, terms: SheetRow, sites: SheetRow, purpose: str) -> SheetLayout:
    """A header that names words and addresses: side by side, or one of them by the way."""
    hint = purpose or hint_of(sheet.name)
    chosen = hint if hint in ("terms", "sites") else "both"
    if terms.line != sites.line and chosen == "both":
        table = (
            "terms" if _header_score(terms, "terms") >= _header_score(sites, "sites") else "sites"
        )
        chosen = table
    header = terms if chosen == "terms" else sites
    everywhere = range(len(header.cells))
    of_terms, of_sites = _columns(terms, "terms", everywhere), _columns(sites, "sites", everywhere)
    if chosen != "both":
        layout = TableLayout(chosen, of_terms if chosen == "terms" else of_sites)
        return replace(
            _layout_below(sheet, header, layout), question=_purpose_question(sheet, chosen)
        )
    term = of_terms["term"][0]
    site = min(of_sites[name][0] for name in (*_SITE_KEYS, "name") if name in of_sites)
    cut = max(term, site)
    left, right = range(cut), range(cut, len(header.cells))
    term_side, site_side = (left, right) if term < site else (right, left)
    layouts = (
        TableLayout("terms", _columns(header, "terms", term_side)),
        TableLayout("sites", _columns(header, "sites", site_side)),
    )
    return replace(
        _layout_below(sheet, header, *layouts), question=_purpose_question(sheet, "both")
    )


def _purpose_question(sheet: Sheet, default: str) -> Question:
    return Question(
        f"sheet:{sheet.name}",
        _("What is the sheet “{name}”?", name=sheet.name),
        PURPOSES,
        default,
    )


def _matrix(sheet: Sheet, purpose: str) -> SheetLayout | None:
    """Lists side by side, each headed by the kind of its terms."""
    if purpose == "sites":
        return None
    for row in sheet.rows[:_HEADER_WITHIN_ROWS]:
        kinds = {at: kind_of(cell.text, "terms") for at, cell in enumerate(row.cells) if cell.text}
        sure = {at: kind for at, (kind, is_certain) in kinds.items() if is_certain}
        if len(sure) > 1 and len(sure) * 2 > len(kinds):
            layout = TableLayout("terms", {"term": tuple(sure)}, sure)
            return _layout_below(sheet, row, layout)
    return None


def _without_header(sheet: Sheet, hint: str, purpose: str) -> SheetLayout:
    """Tables by what their cells hold: a column of addresses, or some columns of short words."""
    width = max(len(row.cells) for row in sheet.rows)
    sites = _address_column(sheet, width)
    if sites is not None and purpose != "terms":
        columns = {"address": (sites,)}
        name = next((at for at in range(width) if at != sites and _is_text(sheet, at)), None)
        if name is not None:
            columns["name"] = (name,)
        return _guess_layout(sheet, TableLayout("sites", columns))
    words = [at for at in range(width) if _is_text(sheet, at)]
    if purpose == "terms" or (hint == "terms" and words):
        return _guess_layout(sheet, TableLayout("terms", {"term": tuple(words[:1])}))
    question = None
    if words and len(words) <= _MAX_WORD_COLUMNS and not purpose:
        question = _purpose_question(sheet, "")
    return replace(_unused_layout(sheet, "unused_sheet"), question=question)


def _address_column(sheet: Sheet, width: int) -> int | None:
    return next(
        (
            at
            for at in range(width)
            if _holds_addresses(sheet, 0, at) and any(row.cell(at).text for row in sheet.rows)
        ),
        None,
    )


def _is_text(sheet: Sheet, column: int) -> bool:
    texts = [row.cell(column).text for row in sheet.rows if row.cell(column).text]
    short = sum(len(text) <= _MAX_WORD_CHARACTERS and not _is_number(text) for text in texts)
    return short * 2 > len(texts)


def _is_number(text: str) -> bool:
    return not text.strip("0123456789.%")


def _guess_layout(sheet: Sheet, table: TableLayout) -> SheetLayout:
    return SheetLayout(sheet, (table,), findings=(Finding("no_header", sheet.name),))


def _unused_layout(sheet: Sheet, kind: str) -> SheetLayout:
    return SheetLayout(sheet, findings=(Finding(kind, sheet.name),))
