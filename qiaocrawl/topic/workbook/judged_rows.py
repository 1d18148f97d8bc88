"""Judgements in a table: the exported Excel or CSV with one column filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.workbook.sheets import Sheet, SheetRow, read_file
from qiaocrawl.topic.workbook.vocabulary import plain
from qiaocrawl.urls import canonical_url

JUDGEMENT_HEADER = "判断（是/否）"
"""How exported tables head the column to fill in."""
URL_HEADER = "网址"

_YES, _NO = (
    "yes y true 1 是 是的 对 切题 相关 √ ✓ ✔",
    "no n false 0 否 不 不是 错 不切题 不相关 无关 × ✗ ✘ x",
)
ANSWERS = {**dict.fromkeys(_YES.split(), True), **dict.fromkeys(_NO.split(), False)}
"""What may be answered, and whether the page is on topic then."""

_JUDGEMENT_HEADERS = frozenset({"判断", "判断是否", "判断是/否", "是否切题", "切题", "judgement",
                                "judgment", "ontopic"})  # fmt: skip
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
    return ANSWERS.get("".join(text.split()).strip("。.").lower())


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
        judged = _judged(row, columns)
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


def _judged(row: SheetRow, columns: _Columns) -> JudgedRow | str:
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
