"""Files of a pack: read with a size limit, written so that they are whole or not there."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from qiaocrawl.errors import RowFault, TopicError
from qiaocrawl.language import _

ZIP_MAGIC = b"PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Old ``.xls`` files, and new ones behind a password."""

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Twenty thousand full rows fit; a larger file is not a list somebody wrote."""

MAX_ROWS = 20_000
"""Rows of one table, the header included."""

MAX_SCANNED_CELLS = 2_000_000
"""Of one table, blank ones too: a sheet may name its last row or column only, and a CSV file
be all delimiters."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as it was read: blank rows left out, each row with its 1-based line."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    faults: tuple[RowFault, ...] = ()


def read_limited(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file of at most *max_bytes*.

    Raises:
        TopicError: no such file, not readable, no regular file, or too large.
    """
    try:
        if not path.is_file():
            word = _("is no file") if path.exists() else _("does not exist")
            raise TopicError(f"{str(path)!r} {word}")
        with path.open("rb") as file:
            # One byte more than allowed tells a file that is too large without a look at its size.
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise TopicError(_("cannot read {path!r}: {error}", path=str(path), error=error)) from error
    if len(data) > max_bytes:
        raise TopicError(
            _("{path!r} is larger than {max_bytes} bytes", path=str(path), max_bytes=max_bytes)
        )
    return data


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* beside *path* and rename it into place.

    Raises:
        TopicError: the folder cannot be written.
    """
    try:
        with _beside(path) as temporary:
            temporary.write_bytes(data)
            os.replace(temporary, path)
    except (OSError, ValueError) as error:
        raise TopicError(
            _("cannot write {path!r}: {error}", path=str(path), error=error)
        ) from error


def replace_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Put a folder made by *fill* in the place of *folder*; the old one stays if that fails.

    *fill* gets an empty folder beside the target. Between the two renames at the end the
    old folder lies beside as ``.NAME.*/old``.

    Raises:
        TopicError: the parent folder cannot be written.
    """
    folder = folder.resolve()  # a symbolic link keeps pointing at the new folder
    try:
        with _beside(folder) as temporary:
            temporary.mkdir()
            fill(temporary)
            _swap(temporary, folder)
    except (OSError, ValueError) as error:
        raise TopicError(
            _("cannot write {folder!r}: {error}", folder=str(folder), error=error)
        ) from error


def _swap(new: Path, folder: Path) -> None:
    old = new.with_name("old")
    existed = folder.exists()
    if existed:
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if existed:
            old.rename(folder)
        raise


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A path of the same name in a folder of its own on the same file system, then removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as own:
        yield Path(own) / "new"


# --- Cells a spreadsheet would run as formulas: made harmless when written, undone when read ------

# The signs that start a formula in Excel and LibreOffice, also in their full-width forms,
# which East Asian versions accept. Cells that already start with the escape are escaped
# once more, so that reading gives back exactly what was written.
_FORMULA = re.compile(r"'*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_ESCAPED = re.compile(r"'+[=+\-@\uff1d\uff0b\uff0d\uff20]")


def escape_formula(cell: str) -> str:
    """*cell* with an apostrophe in front when a spreadsheet would take it for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """*cell* without the apostrophe of :func:`escape_formula`."""
    return cell[1:] if _ESCAPED.match(cell) else cell


# --- CSV as people have it: UTF-8 with or without BOM, UTF-16, GB18030; comma, tab or semicolon

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
