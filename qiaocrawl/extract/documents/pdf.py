"""Text of PDF files, by pypdf."""

from __future__ import annotations

import io
import logging
from datetime import UTC, datetime

from pypdf import Configuration, PageObject, PdfReader, apply_configuration
from pypdf.errors import PyPdfError

from qiaocrawl.extract.documents.document import (
    MAX_CHARS,
    MAX_PAGES,
    Document,
    DocumentError,
    element,
)
from qiaocrawl.text import collapse

# Damage is told once, by us.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

_MAX_STREAM_BYTES = 4_000_000
_BOUNDS = Configuration(
    zlib_maximum_output_length=_MAX_STREAM_BYTES,
    zlib_maximum_recovery_input_length=_MAX_STREAM_BYTES,
    lzw_maximum_output_length=_MAX_STREAM_BYTES,
    run_length_maximum_output_length=_MAX_STREAM_BYTES,
    array_based_stream_maximum_output_length=_MAX_STREAM_BYTES,
    stream_decoding_work_maximum_length=10 * _MAX_STREAM_BYTES,
    stream_parsing_work_maximum_count=500_000,
)
"""A page of text draws some thousand strokes; maps draw millions, and say little."""
_SCANNED_LETTERS = 20
"""A page of text has more letters; a page number has fewer."""
_FULL_LINE_SHARE = 0.75
_ENDS = tuple("。！？：；.!?:;”）)")


def read_pdf(body: bytes) -> Document:
    """The text of a PDF file, its lines joined to paragraphs.

    Raises:
        DocumentError: it is encrypted, damaged, or would grow too large.
    """
    try:
        with apply_configuration(_BOUNDS):
            return _read(PdfReader(io.BytesIO(body)))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError,
            RecursionError, OSError, AssertionError, NotImplementedError) as error:  # fmt: skip
        reason = (str(error).splitlines() or [""])[0][:150]
        raise DocumentError(f"PDF: {type(error).__name__}: {reason}") from error


def _read(reader: PdfReader) -> Document:
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentError("PDF: encrypted, asks for a password")
    lines: list[str] = []
    chars = pictured = letters = 0
    count = len(reader.pages)
    for page in reader.pages[:MAX_PAGES]:
        text = page.extract_text()
        chars += len(text)
        letters += sum(map(str.isalnum, text))
        pictured += _has_picture(page)
        lines += _paragraphs(text)
        if chars > MAX_CHARS:
            break
    read = min(count, MAX_PAGES)
    notes = (f"pages past the first {MAX_PAGES} not read",) * (count > MAX_PAGES)
    return Document(
        tuple(lines),
        "\n".join(element("p", line) for line in lines),
        collapse(str(reader.metadata.title or "")) if reader.metadata else "",
        _created(reader),
        is_scanned=pictured > 0 and letters < _SCANNED_LETTERS * read,
        notes=notes,
    )


def _has_picture(page: PageObject) -> bool:
    """Whether a picture stands on the page; none is decoded."""
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    shown = objects.get_object().values() if objects is not None else ()
    return any(one.get_object().get("/Subtype") == "/Image" for one in shown)


def _created(reader: PdfReader) -> datetime | None:
    try:
        created = reader.metadata.creation_date if reader.metadata else None
    except (ValueError, TypeError):
        return None
    return created.replace(tzinfo=created.tzinfo or UTC) if created is not None else None


def _paragraphs(text: str) -> list[str]:
    """The lines of a page, those that end only at its margin joined to the next. **(ours)**"""
    lines = [line for line in map(collapse, text.split("\n")) if line]
    full = _FULL_LINE_SHARE * max(map(_width, lines), default=0)
    paragraphs: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on:
            space = " " if paragraphs[-1][-1].isascii() and line[0].isascii() else ""
            paragraphs[-1] += space + line
        else:
            paragraphs.append(line)
        goes_on = _width(line) >= full and not line.endswith(_ENDS)
    return paragraphs


def _width(line: str) -> int:
    """How wide *line* is printed, in Latin letters: a Chinese character is two."""
    return len(line.encode("gb18030", "replace"))
