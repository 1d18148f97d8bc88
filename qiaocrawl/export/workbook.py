"""Articles as an Excel workbook for people: one row an article, or one a reprint group.

The first column is for the reader's own judgement; a marked file goes back by
``qiaocrawl topic judge TOPIC --from FILE``, which finds its column and that of the addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils.exceptions import WorkbookAlreadySaved
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from sqlalchemy import Connection

from qiaocrawl.export.base import ExportReport, Progress
from qiaocrawl.export.excel import MAX_CELL_CHARS, add_filter, height_of, new_sheet, text_cell
from qiaocrawl.export.pages import link_to_copy, write_copy_beside
from qiaocrawl.export.readable import reprint_note, summary_of
from qiaocrawl.reading.listing import Details, ListedArticle, list_articles, with_details
from qiaocrawl.storage.backup import growing_file, growing_folder
from qiaocrawl.storage.selection import Selection
from qiaocrawl.text.zones import SHANGHAI
from qiaocrawl.topic.pack import TERM_KINDS
from qiaocrawl.topic.workbook.vocabulary import JUDGEMENT_HEADER, URL_HEADER

_TIMES = "均为北京时间。"
_MAX_SHEET_ROWS = 1_048_576
_MAX_SHEET_LINKS = 65_530
_DAY, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
# At the right edge a number would touch the text of the next column.
_CENTRED = Alignment(horizontal="center", vertical="top")
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
    """A column of the list; ``explanation`` stands in the sheet that explains them all."""

    header: str
    width: int
    value: Callable[[_Row], Any]
    explanation: str
    number_format: str = ""


def _outlet(row: _Row) -> Any:
    return row.listed.outlet.name


_JUDGED = _Column(
    JUDGEMENT_HEADER,
    17,
    lambda row: None,
    "请在下拉单中选 是（切题）或 否（不切题），留空为未判。存盘后用 "
    "`qiaocrawl topic judge 主题 --from 本文件` 交回，即刻生效；判“否”的报道，其各家转载一并不列。",
)
_TITLE = _Column(
    "标题", 44, lambda row: _Linked(row.listed.title, row.listed.url), "点开即原网页。"
)
_SCORE = _Column(
    "切题度",
    9,
    lambda row: row.listed.score,
    "该文与主题相关的程度，由程序判定；人的判断优先：是为 100%，否为 0%。",
    "0%",
)
_OUTLETS = _Column(
    "媒体数",
    9,
    lambda row: len(row.listed.group.outlets),
    "刊发同一报道的媒体数，同一媒体的几个网址只算一家。",
)
_ABOUT = (
    _Column(
        "类别",
        9,
        lambda row: TERM_KINDS.get(row.details.class_name, row.details.class_name),
        "文章说的是哪一类，由人指定或由程序判定（`qiaocrawl analyse`）；没有把握的留空。",
    ),
    _Column(
        "命中词", 22, lambda row: "、".join(row.details.terms), "文中使其切题的词，最有力者在前。"
    ),
    _Column("摘要", 60, lambda row: summary_of(row.details.text), "正文开头一段。"),
)
_END = (
    _Column("地区", 9, lambda row: row.listed.outlet.region, "该媒体的地区，出自主题的站点表。"),
    _Column(
        "级别",
        7,
        lambda row: row.listed.outlet.tier,
        "该媒体的级别，1 最高，5 最低，出自主题的站点表；表外的媒体无级别。",
    ),
    _Column(
        "正文", 8, lambda row: _Linked("全文", place=row.body), "全文在“正文”表，点“全文”即到。"
    ),
    _Column(
        "存档",
        8,
        lambda row: _Linked("存档", row.copy) if row.copy else "",
        "点开即采集时存下的网页（不运行脚本，不载入外部内容），文件在本表旁的文件夹里，"
        "移动本表时请一并移动。",
    ),
    _Column(
        URL_HEADER, 44, lambda row: row.listed.url, "原网页的地址；交回判断时凭此认文章，请勿改动。"
    ),
    _Column(
        "其他网址",
        30,
        lambda row: "\n".join(row.listed.other_urls),
        "同一媒体上同一网页的其他地址，如打印版、手机版。",
    ),
    _Column(
        "采集时间", 17, lambda row: row.listed.fetched_at, f"采到该网页的时间，{_TIMES}", _MOMENT
    ),
    _Column(
        "编号",
        8,
        lambda row: row.listed.id,
        "库中的编号；`qiaocrawl article show 编号` 看全文与依据。",
    ),
)
_BY_ARTICLE = (
    _JUDGED,
    _TITLE,
    _Column("媒体", 16, _outlet, "刊发的媒体：站点表中的名称，表外的为其域名。"),
    _Column(
        "发布时间",
        17,
        lambda row: row.listed.published_at,
        f"原网页写明的发布时间，{_TIMES}只有日期者，原网页未写时刻；空白者未写。",
        _MOMENT,
    ),
    _SCORE,
    _OUTLETS,
    _Column("转载", 24, lambda row: reprint_note(row.listed), "同一报道由谁首发，另有几家刊发。"),
    *_ABOUT,
    _Column("来源", 16, lambda row: row.listed.source, "原网页写明的稿件来源。"),
    _Column("作者", 12, lambda row: row.listed.author, "原网页写明的作者。"),
    *_END,
)
_BY_GROUP = (
    _JUDGED,
    _TITLE,
    _OUTLETS,
    _Column("首发媒体", 16, lambda row: row.listed.group.first_outlet, "最早刊发该报道的媒体。"),
    _Column(
        "首发时间",
        17,
        lambda row: row.listed.group.first,
        f"各家之中最早的发布时间，{_TIMES}",
        _MOMENT,
    ),
    _Column(
        "最近刊发",
        17,
        lambda row: row.listed.group.last,
        f"各家之中最近的发布时间，{_TIMES}",
        _MOMENT,
    ),
    _Column(
        "刊发媒体",
        36,
        lambda row: "、".join(row.listed.group.outlets),
        "刊发该报道的各家媒体，先发者在前。",
    ),
    _SCORE,
    *_ABOUT,
    *_END,
)
_BODY_SHEET, _HELP_SHEET = "正文", "说明"
_BODY_LINES = 8
_A4 = 9
_BODY_COLUMNS = (("编号", 8), ("标题", 40), ("正文", 110))


def write_workbook(
    c: Connection, selection: Selection, out: Path, progress: Progress
) -> ExportReport:
    """The workbook, and beside it a folder with the stored pages it leads to."""
    listed = list_articles(c, selection)
    with (
        growing_folder(out.with_name(f"{out.stem}-copies")) as folder,
        growing_file(out) as part,
        _new_book(selection.by_group) as book,
    ):
        for article, details in with_details(c, listed, selection.topic):
            copy = folder / f"{article.id}.html"
            is_there = selection.with_copies and write_copy_beside(c, article.id, copy)
            book.add(article, details, link_to_copy(copy) if is_there else "")
            progress(1)
        book.save(part)
    return ExportReport(len(listed))


@contextmanager
def _new_book(by_group: bool) -> Iterator[_Book]:
    book = _Book(_BY_GROUP if by_group else _BY_ARTICLE, by_group)
    try:
        yield book
    except BaseException:
        book.discard()
        raise


class _Book:
    """A workbook written row by row."""

    def __init__(self, columns: Sequence[_Column], by_group: bool) -> None:
        self._columns = columns
        self._name = "转载组" if by_group else "文章"
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
        cells = [self._cell(row, column) for column in self._columns]
        texts = [str(cell.value or "") for cell in cells]
        widths = [column.width for column in self._columns]
        self._rows += 1
        _append(self._sheets[-1], self._rows, cells, height_of(zip(texts, widths, strict=True), 5))
        self._add_body(listed, details.text)

    def save(self, path: Path) -> None:
        """Write the file."""
        self._finish_sheet()
        add_filter(self._bodies, len(_BODY_COLUMNS), self._body_row)
        help_sheet = self._new_sheet(_HELP_SHEET, (("栏目", 16), ("说明", 90)), "A2")
        for number, column in enumerate(self._columns, start=2):
            texts = (column.header, column.explanation)
            cells = [text_cell(help_sheet, text) for text in texts]
            height = height_of(zip(texts, (16, 90), strict=True), 9)
            _append(help_sheet, number, cells, height)
        self._book.save(path)

    def discard(self) -> None:
        """Close all sheets: openpyxl complains on the terminal of those left open."""
        for sheet in self._book.worksheets:
            with suppress(OSError, WorkbookAlreadySaved):
                sheet.close()

    def _start_sheet(self) -> None:
        number = len(self._sheets) + 1
        name = self._name if number == 1 else f"{self._name} {number}"
        columns = [(column.header, column.width) for column in self._columns]
        self._sheets.append(self._new_sheet(name, columns, "C2"))
        self._rows, self._links = 1, 0

    def _finish_sheet(self) -> None:
        sheet = self._sheets[-1]
        add_filter(sheet, len(self._columns), self._rows)
        if self._rows > 1:
            choice = DataValidation(
                type="list",
                formula1='"是,否"',
                allow_blank=True,
                showErrorMessage=True,
                error="请选 是 或 否，或留空",
                errorTitle=JUDGEMENT_HEADER,
            )
            choice.add(f"A2:A{self._rows}")
            sheet.data_validations.append(choice)

    def _new_sheet(self, name: str, columns: Sequence[tuple[str, int]], frozen: str) -> Any:
        sheet = new_sheet(self._book, name, columns, frozen)
        # On paper: lying, the header on every page.
        sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", _A4
        sheet.print_title_rows = "1:1"
        return sheet

    def _add_body(self, listed: ListedArticle, text: str) -> None:
        # A text that is longer than a cell goes on in the row below.
        for start in range(0, max(len(text), 1), MAX_CELL_CHARS - 1_000):
            piece = text[start : start + MAX_CELL_CHARS - 1_000]
            title = listed.title if start == 0 else f"{listed.title}（续）"
            self._body_row += 1
            number = WriteOnlyCell(self._bodies, value=listed.id)
            number.alignment = _CENTRED
            cells = [number, text_cell(self._bodies, title), text_cell(self._bodies, piece)]
            height = height_of(((title, 40), (piece, 110)), _BODY_LINES)
            _append(self._bodies, self._body_row, cells, height)

    def _cell(self, row: _Row, column: _Column) -> Any:
        sheet, value = self._sheets[-1], column.value(row)
        if isinstance(value, _Linked):
            return self._link(sheet, value)
        if isinstance(value, str):
            return text_cell(sheet, value)
        number_format = column.number_format
        if isinstance(value, datetime):
            # Excel knows no zones. A page that names a day only has no hour to show.
            value = value.astimezone(SHANGHAI).replace(tzinfo=None, second=0, microsecond=0)
            number_format = _MOMENT if value.hour or value.minute else _DAY
        cell = WriteOnlyCell(sheet, value=value)
        cell.alignment = _CENTRED
        if number_format:
            cell.number_format = number_format
        return cell

    def _link(self, sheet: Any, link: _Linked) -> Any:
        cell = text_cell(sheet, link.text)
        if self._links < _MAX_SHEET_LINKS:
            self._links += 1
            cell.hyperlink = Hyperlink(
                ref="", target=link.target or None, location=link.place or None
            )
            cell.font = _LINK
        return cell


def _append(sheet: Any, number: int, cells: Sequence[Any], height: float) -> None:
    """Write the row *number* of a write-only sheet; its height must be known before."""
    sheet.row_dimensions[number].height = height
    sheet.append(cells)
    # The sheet would keep them all in memory.
    del sheet.row_dimensions[number]
