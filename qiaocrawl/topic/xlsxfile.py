"""Excel workbooks: one sheet of plain values, read as rows of text, guarded against bombs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import openpyxl
from openpyxl.cell import WriteOnlyCell

from qiaocrawl.errors import QiaoError, RowFault, TopicError
from qiaocrawl.language import _
from qiaocrawl.text import office_archive as archive
from qiaocrawl.text.office_archive import ArchiveBounds, ArchiveFault, ArchiveRefusedError
from qiaocrawl.topic.files import (
    MAX_ROWS,
    MAX_SCANNED_CELLS,
    OLE_MAGIC,
    RawTable,
    escape_formula,
    unescape_formula,
)

MAX_PARTS = 1_000
MAX_UNPACKED_BYTES = 32 * 1024 * 1024
# openpyxl makes an object of every element, up to a kilobyte each in styles, a fifth of
# that in cells; these keep a hostile workbook under some hundred megabytes.
MAX_SHEET_ELEMENTS = 1_500_000
MAX_OTHER_ELEMENTS = 100_000

_SHEETS = ("xl/worksheets/", "xl/sharedStrings")

Rows = list[tuple[int, tuple[str, ...]]]


def parse_xlsx(data: bytes, table: str) -> RawTable:
    """The rows of the one sheet that holds any; numbers and text both become text.

    Raises:
        TopicError: encrypted, damaged, too large, empty, or rows on several sheets.
    """
    with streamed_workbook(data, table) as workbook:
        sheets = [(sheet.title, _read_sheet(sheet, table)) for sheet in workbook.worksheets]
    filled = [(title, rows) for title, rows in sheets if rows.rows or rows.faults]
    if not filled:
        raise TopicError(_("{table} is empty", table=table))
    if len(filled) > 1:
        names = ", ".join(repr(title) for title, _ in filled)
        raise TopicError(
            _("{table} has rows on several sheets ({names}); keep one", table=table, names=names)
        )
    return filled[0][1]


def format_xlsx(rows: Iterable[Sequence[str | float | int]], title: str) -> bytes:
    """A workbook of one sheet called *title*; numbers stay numbers, text is never a formula."""
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet(title)
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])
    return workbook_bytes(workbook)


def workbook_bytes(workbook: Any) -> bytes:
    """*workbook*, openpyxl's object, as the bytes of an ``.xlsx`` file."""
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def _cell(sheet: Any, value: str | float | int) -> Any:
    if isinstance(value, float) and float(f"{value:.16g}") != value:
        value = repr(value)  # openpyxl writes 16 digits, some doubles need 17
    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet, value=escape_formula(value))
    cell.data_type = "s"  # "#N/A" is text here, not an error value
    return cell


def guard_archive(data: bytes, table: str, max_sheet_elements: int = MAX_SHEET_ELEMENTS) -> None:
    """Refuse what unpacks too large or could make the XML parser blow up.

    Raises:
        TopicError: it does, or is no archive.
    """
    bounds = ArchiveBounds(
        MAX_PARTS, MAX_UNPACKED_BYTES, _SHEETS, max_sheet_elements, MAX_OTHER_ELEMENTS
    )
    try:
        archive.guard_archive(data, bounds)
    except ArchiveRefusedError as refused:
        raise TopicError(_refusal(refused, table)) from None
    except Exception as error:  # a damaged archive raises nearly anything, zlib.error to KeyError
        raise TopicError(
            _("{table} is no Excel workbook: {error}", table=table, error=error)
        ) from error


def _refusal(refused: ArchiveRefusedError, table: str) -> str:
    if refused.fault is ArchiveFault.ENCRYPTED:
        return _("{table} is encrypted; save it without a password", table=table)
    if refused.fault is ArchiveFault.FOREIGN_XML:
        return _(
            "{table} holds XML that no spreadsheet writes, in {name!r}",
            table=table,
            name=refused.name,
        )
    if refused.fault is ArchiveFault.TOO_MANY_ELEMENTS:
        return _(
            "{table} holds too many cells or styles ({number})", table=table, number=refused.found
        )
    if refused.fault is ArchiveFault.TOO_MANY_PARTS:
        return _(
            "{table} has {count} parts, at most {most} are read",
            table=table,
            count=refused.found,
            most=MAX_PARTS,
        )
    return _(
        "{table} unpacks to {unpacked} bytes, at most {most} are read",
        table=table,
        unpacked=refused.found,
        most=MAX_UNPACKED_BYTES,
    )


def open_workbook(
    data: bytes, table: str, *, read_only: bool = False, data_only: bool = False
) -> Any:
    """The workbook as openpyxl's object; *data* must have passed :func:`guard_archive`.

    Args:
        data_only: what formulas came to when a spreadsheet last saved it, not the formulas.

    Raises:
        TopicError: it is damaged.
    """
    try:
        with warnings.catch_warnings():
            # Unread extras (validation lists, themes) are no news to who imports a list.
            warnings.simplefilter("ignore")
            return openpyxl.load_workbook(
                io.BytesIO(data), read_only=read_only, data_only=data_only
            )
    except Exception as error:  # openpyxl lets the XML's errors through, of any type
        raise TopicError(
            _("{table} is no Excel workbook: {error!r}", table=table, error=error)
        ) from error


@contextmanager
def streamed_workbook(data: bytes, table: str, *, data_only: bool = False) -> Iterator[Any]:
    """A guarded workbook whose rows are parsed as they are read (:func:`sheet_rows`).

    Args:
        data_only: as of :func:`open_workbook`.

    Raises:
        TopicError: encrypted, damaged or too large.
    """
    if data.startswith(OLE_MAGIC):
        raise TopicError(
            _("{table} is protected by a password or an old .xls; save it as .xlsx", table=table)
        )
    guard_archive(data, table)
    workbook = open_workbook(data, table, read_only=True, data_only=data_only)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield workbook
    except QiaoError:
        raise
    except Exception as error:  # rows are parsed as they are read
        raise TopicError(
            _("{table} is no Excel workbook: {error!r}", table=table, error=error)
        ) from error
    finally:
        workbook.close()


def sheet_rows(sheet: Any, table: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The cells of every row of a streamed *sheet*, with the row's 1-based line.

    Raises:
        TopicError: far too many blank cells.
    """
    sheet.reset_dimensions()  # the declared size may be wrong, the cells are not
    scanned = 0
    for line, cells in enumerate(sheet.iter_rows(), start=1):
        scanned += max(1, len(cells))
        if scanned > MAX_SCANNED_CELLS:
            raise TopicError(_("{table} has far too many blank cells", table=table))
        yield line, cells


def _read_sheet(sheet: Any, table: str) -> RawTable:
    rows: Rows = []
    faults: list[RowFault] = []
    for line, cells in sheet_rows(sheet, table):
        if len(rows) > MAX_ROWS:
            raise TopicError(_("{table} has more than {limit} rows", table=table, limit=MAX_ROWS))
        texts = []
        for cell in cells:
            reason = _cell_reason(cell)
            if reason:
                faults.append(RowFault(table, line, reason))
            texts.append("" if reason else _cell_text(cell.value))
        if any(texts):
            rows.append((line, tuple(texts)))
    return RawTable(tuple(rows), tuple(faults))


def _cell_reason(cell: Any) -> str:
    kind = cell.data_type if cell.value is not None else "n"
    if kind == "f":
        return _("{cell} holds a formula; paste its value instead", cell=cell.coordinate)
    if kind == "e":
        return _("{cell} holds the error {value!r}", cell=cell.coordinate, value=cell.value)
    if kind == "d":
        return _(
            "{cell} holds a date; format the cell as text and type it again", cell=cell.coordinate
        )
    return ""


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # Excel keeps every number as a float: 985 is 985.0
    return unescape_formula(str(value).strip())
