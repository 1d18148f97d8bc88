"""Articles as an Excel workbook for people: one row an article, or one a story.

The first column is for the reader's own judgement; a marked file goes back by
``qiaocrawl topic judge TOPIC --from FILE``, which looks for :data:`JUDGEMENT` and :data:`URL`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from sqlalchemy import Connection

from qiaocrawl.storage.export.base import Exporter, ExportReport, Progress, exporters
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.listing import (
    Details,
    ListedArticle,
    count_listed,
    list_articles,
    with_details,
)
from qiaocrawl.storage.export.neutral import neutral, xml_text
from qiaocrawl.storage.export.readable import reprint_note, summary_of
from qiaocrawl.storage.export.stored_copy import write_copy
from qiaocrawl.storage.outfile import growing_file
from qiaocrawl.text.zones import SHANGHAI

JUDGEMENT = "判断（是/否）"
URL = "网址"

_MAX_CELL_CHARS = 32_767
_MAX_SHEET_ROWS = 1_048_576
_MAX_SHEET_LINKS = 65_530
_DAY, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
_HEADER = {
    "font": Font(bold=True, color="FFFFFF"),
    "fill": PatternFill("solid", fgColor="305496"),
    "alignment": Alignment(horizontal="center", vertical="center", wrap_text=True),
}
_WRAPPED = Alignment(vertical="top", wrap_text=True)
_LINK = Font(color="0563C1", underline="single")


class _Linked(NamedTuple):
    """A text that leads to a URL or a file beside the workbook, or to a place within it."""

    text: str
    target: str = ""
    place: str = ""


class _Row(NamedTuple):
    """What one row is made of; ``copy`` and ``body`` are where these are, "" for nowhere."""

    listed: ListedArticle
    details: Details
    copy: str
    body: str


class _Column(NamedTuple):
    header: str
    width: int
    value: Callable[[_Row], Any]
    number_format: str = ""


def _outlet(row: _Row) -> Any:
    return row.listed.outlet.name


_TITLE = _Column("标题", 44, lambda row: _Linked(row.listed.title, row.listed.url))
_SCORE = _Column("切题度", 9, lambda row: row.listed.score, "0%")
_OUTLETS = _Column("媒体数", 9, lambda row: len(row.listed.story.outlets))
_ABOUT = (
    _Column("命中词", 22, lambda row: "、".join(row.details.terms)),
    _Column("摘要", 60, lambda row: summary_of(row.details.text)),
)
_END = (
    _Column("地区", 9, lambda row: row.listed.outlet.region),
    _Column("级别", 7, lambda row: row.listed.outlet.tier),
    _Column("正文", 8, lambda row: _Linked("全文", place=row.body)),
    _Column("存档", 8, lambda row: _Linked("存档", row.copy) if row.copy else ""),
    _Column(URL, 44, lambda row: row.listed.url),
    _Column("其他网址", 30, lambda row: "\n".join(row.listed.other_urls)),
    _Column("采集时间", 17, lambda row: row.listed.fetched_at, _MOMENT),
    _Column("编号", 8, lambda row: row.listed.id),
)
_BY_ARTICLE = (
    _Column(JUDGEMENT, 10, lambda row: None), _TITLE, _Column("媒体", 16, _outlet),
    _Column("发布时间", 17, lambda row: row.listed.published_at, _MOMENT),
    _SCORE, _OUTLETS,
    _Column("转载", 24, lambda row: reprint_note(row.listed)), *_ABOUT,
    _Column("来源", 16, lambda row: row.listed.source),
    _Column("作者", 12, lambda row: row.listed.author), *_END,
)  # fmt: skip
_BY_STORY = (
    _Column(JUDGEMENT, 10, lambda row: None), _TITLE, _OUTLETS,
    _Column("首发媒体", 16, lambda row: row.listed.story.first_outlet),
    _Column("首发时间", 17, lambda row: row.listed.story.first, _MOMENT),
    _Column("最近刊发", 17, lambda row: row.listed.story.last, _MOMENT),
    _Column("刊发媒体", 36, lambda row: "、".join(row.listed.story.outlets)),
    _SCORE, *_ABOUT, *_END,
)  # fmt: skip
_BODY_SHEET, _HELP_SHEET = "正文", "说明"
_BODY_COLUMNS = (("编号", 8), ("标题", 40), ("正文", 110))
_HELP = (
    ("判断（是/否）", "请在下拉单中选 是（切题）或 否（不切题），留空为未判。存盘后用 "
     "`qiaocrawl topic judge 主题 --from 本文件` 交回，即刻生效。"),
    ("标题", "点开即原网页。"),
    ("存档", "点开即采集时存下的网页（不运行脚本，不载入外部内容），文件在本表旁的文件夹里，"
     "移动本表时请一并移动。"),
    ("媒体数", "刊发同一报道的媒体数，同一媒体的几个网址只算一家。"),
    ("切题度", "该文与主题相关的程度，由程序判定；人的判断优先。"),
    ("时间", "均为北京时间；只有日期者，原网页未写时刻。"),
    ("正文", "全文在“正文”表，点“全文”即到。"),
)  # fmt: skip


def write_workbook(
    c: Connection, selection: Selection, out: Path, progress: Progress
) -> ExportReport:
    """The workbook, and beside it a folder with the stored pages it leads to."""
    listed = list_articles(c, selection)
    folder = out.with_name(f"{out.stem}-copies")
    book = _Book(_BY_STORY if selection.by_story else _BY_ARTICLE, selection.by_story)
    with growing_file(out) as part:
        for article, details in with_details(c, listed, selection.topic):
            copy = folder / f"{article.id}.html"
            is_there = selection.with_copies and write_copy(c, article.id, copy)
            book.add(article, details, f"{folder.name}/{copy.name}" if is_there else "")
            progress(1)
        book.save(part)
    return ExportReport(len(listed))


class _Book:
    """A workbook written row by row."""

    def __init__(self, columns: Sequence[_Column], by_story: bool) -> None:
        self._columns = columns
        self._name = "报道" if by_story else "文章"
        self._book = Workbook(write_only=True)
        self._sheets: list[Any] = []
        self._rows = self._links = 0
        self._start_sheet()
        self._bodies = self._new_sheet(_BODY_SHEET, _BODY_COLUMNS, "A2")
        self._body_row = 1

    def add(self, listed: ListedArticle, details: Details, copy: str) -> None:
        """Write a row of the list and its text."""
        if self._rows == _MAX_SHEET_ROWS:
            self._finish_sheet()
            self._start_sheet()
        row = _Row(listed, details, copy, f"'{_BODY_SHEET}'!A{self._body_row + 1}")
        self._sheets[-1].append([self._cell(row, column) for column in self._columns])
        self._rows += 1
        self._add_body(listed, details.text)

    def save(self, path: Path) -> None:
        """Write the file."""
        self._finish_sheet()
        self._bodies.auto_filter.ref = f"A1:C{self._body_row}"
        help_sheet = self._new_sheet(_HELP_SHEET, (("栏目", 16), ("说明", 90)), "A2")
        for name, text in _HELP:
            help_sheet.append([self._text(help_sheet, name), self._text(help_sheet, text)])
        self._book.save(path)

    def _start_sheet(self) -> None:
        number = len(self._sheets) + 1
        name = self._name if number == 1 else f"{self._name} {number}"
        columns = [(column.header, column.width) for column in self._columns]
        self._sheets.append(self._new_sheet(name, columns, "C2"))
        self._rows, self._links = 1, 0

    def _finish_sheet(self) -> None:
        sheet = self._sheets[-1]
        sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self._rows}"
        if self._rows > 1:
            choice = DataValidation(type="list", formula1='"是,否"', allow_blank=True,
                                    showErrorMessage=True, error="请选 是 或 否，或留空",
                                    errorTitle=JUDGEMENT)  # fmt: skip
            choice.add(f"A2:A{self._rows}")
            sheet.data_validations.append(choice)

    def _new_sheet(self, name: str, columns: Sequence[tuple[str, int]], frozen: str) -> Any:
        sheet = self._book.create_sheet(name)
        sheet.freeze_panes = frozen
        for number, (_, width) in enumerate(columns, start=1):
            sheet.column_dimensions[get_column_letter(number)].width = width
        cells = [WriteOnlyCell(sheet, value=header) for header, _ in columns]
        for cell in cells:
            for name, style in _HEADER.items():
                setattr(cell, name, style)
        sheet.append(cells)
        return sheet

    def _add_body(self, listed: ListedArticle, text: str) -> None:
        # A text that is longer than a cell goes on in the row below.
        for start in range(0, max(len(text), 1), _MAX_CELL_CHARS - 1_000):
            piece = text[start : start + _MAX_CELL_CHARS - 1_000]
            title = listed.title if start == 0 else f"{listed.title}（续）"
            self._bodies.append([listed.id, self._text(self._bodies, title),
                                 self._text(self._bodies, piece)])  # fmt: skip
            self._body_row += 1

    def _cell(self, row: _Row, column: _Column) -> Any:
        sheet, value = self._sheets[-1], column.value(row)
        if isinstance(value, _Linked):
            return self._link(sheet, value)
        if isinstance(value, str):
            return self._text(sheet, value)
        number_format = column.number_format
        if isinstance(value, datetime):
            # Excel knows no zones. A page that names a day only has no hour to show.
            value = value.astimezone(SHANGHAI).replace(tzinfo=None, second=0, microsecond=0)
            number_format = _MOMENT if value.hour or value.minute else _DAY
        cell = WriteOnlyCell(sheet, value=value)
        cell.alignment = _WRAPPED
        if number_format:
            cell.number_format = number_format
        return cell

    def _link(self, sheet: Any, link: _Linked) -> Any:
        cell = self._text(sheet, link.text)
        if self._links < _MAX_SHEET_LINKS:
            self._links += 1
            cell.hyperlink = Hyperlink(
                ref="", target=link.target or None, location=link.place or None
            )
            cell.font = _LINK
        return cell

    def _text(self, sheet: Any, text: str) -> Any:
        cell = WriteOnlyCell(sheet, value=neutral(xml_text(text))[:_MAX_CELL_CHARS])
        cell.data_type = "s"  # openpyxl would take text that starts with "=" for a formula
        cell.alignment = _WRAPPED
        return cell


exporters.register("xlsx")(Exporter(".xlsx", count_listed, write_workbook, for_people=True))
