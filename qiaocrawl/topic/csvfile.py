"""CSV as people have it: UTF-8 with or without BOM, UTF-16, GB18030; comma, tab or semicolon."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from qiaocrawl.errors import TopicError
from qiaocrawl.language import _
from qiaocrawl.topic.escape import escape_formula, unescape_formula
from qiaocrawl.topic.files import MAX_ROWS, MAX_SCANNED_CELLS, RawTable

DELIMITERS = ",\t;"


def parse_csv(data: bytes, table: str) -> RawTable:
    """The rows of a CSV file; a quoted line break counts in the line of the next row.

    Raises:
        TopicError: empty, of an unknown encoding, too many rows, or broken quotes.
    """
    text = _decode(data, table)
    if not text.strip():
        raise TopicError(_("{table} is empty", table=table))
    rows = []
    scanned = 0
    for line, cells in _lines(text, table):
        scanned += len(cells)
        if scanned > MAX_SCANNED_CELLS:
            raise TopicError(
                _("{table} has more than {limit} cells", table=table, limit=MAX_SCANNED_CELLS)
            )
        stripped = tuple(unescape_formula(cell.strip()) for cell in cells)
        if any(stripped):
            rows.append((line, stripped))
        if len(rows) > MAX_ROWS:
            raise TopicError(_("{table} has more than {limit} rows", table=table, limit=MAX_ROWS))
    return RawTable(tuple(rows))


def format_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """A CSV file of *rows*: UTF-8 with BOM (so that Excel reads it as UTF-8), comma."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for cells in rows:
        writer.writerow([escape_formula(cell) for cell in cells])
    return text.getvalue().encode("utf-8-sig")


def _decode(data: bytes, table: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]  # Excel's "Unicode text"
    else:
        encodings = ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            raise TopicError(_("{table} is no text: it holds NUL bytes", table=table))
        return text
    raise TopicError(
        _("{table} is neither UTF-8 nor GB18030 text; save it as CSV UTF-8", table=table)
    )


def _lines(text: str, table: str) -> Iterator[tuple[int, list[str]]]:
    # newline="": the csv module itself ends rows at \r, \n and \r\n, and nowhere else.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise TopicError(
            _("{table}:{line}: broken CSV: {error}", table=table, line=line, error=error)
        ) from error


def _delimiter(text: str) -> str:
    """The delimiter that stands most often in the first written line (the header)."""
    header = next(line for line in text.splitlines() if line.strip())
    return max(DELIMITERS, key=header.count)
