"""Text of PDF files, by pypdf."""

from __future__ import annotations

import io
import logging
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from pypdf import Configuration, PageObject, PdfReader, apply_configuration
from pypdf.errors import PyPdfError
from pypdf.generic import EncodedStreamObject, StreamObject

from qiaocrawl.extract.documents.document import (
    MAX_CHARS,
    MAX_PAGES,
    Document,
    DocumentError,
    element,
)
from qiaocrawl.text.normalise import collapse

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
    page_tree_maximum_entries=10_000,
    xform_maximum_invocations_per_extraction=1_000,
)
"""A page of text draws some thousand strokes; maps draw millions, and say little."""
_MAX_SHOWN = 600_000
"""Of a whole file: pieces of text and moves between them, 6 us each. What is bounded a stream or
a page could be shown on each page again."""
_FORM_COSTS = 80
"""What is read for a form that shows nothing, in such pieces."""
_MAX_OBJECTS = 1_000
_SCANNED_LETTERS = 20
"""A page of text has more letters; a page number has fewer."""
_FAULTS = (
    PyPdfError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    RecursionError,
    OSError,
    AssertionError,
    NotImplementedError,
)
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
    except _FAULTS as error:
        reason = (str(error).splitlines() or [""])[0][:150]
        raise DocumentError(f"PDF: {type(error).__name__}: {reason}") from error


def _read(reader: PdfReader) -> Document:
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentError("PDF: encrypted, asks for a password")
    lines: list[str] = []
    chars = pictured = letters = read = 0
    count = len(reader.pages)
    work = _Work()
    for page in reader.pages[:MAX_PAGES]:
        text = work.text_of(page)
        if text is None:
            break
        read += 1
        chars += len(text)
        letters += sum(map(str.isalnum, text))
        pictured += _has_picture(page)
        lines += _paragraphs(text)
        if chars > MAX_CHARS:
            break
    if not read:
        raise DocumentError("PDF: its first page shows more pieces of text than are read")
    notes = (f"pages past the first {read} not read",) * (read < min(count, MAX_PAGES + 1))
    return Document(
        tuple(lines),
        "\n".join(element("p", line) for line in lines),
        collapse(str(reader.metadata.title or "")) if reader.metadata else "",
        _creation_time(reader),
        is_scanned=pictured > 0 and letters < _SCANNED_LETTERS * read,
        notes=notes,
    )


class _Work:
    """What the pages of one file cost together, looked at before each is read."""

    def __init__(self) -> None:
        self._left = _MAX_SHOWN

    def text_of(self, page: PageObject) -> str | None:
        """The text of *page*; None where it, or what came before it, is too much."""
        contents = page.get("/Contents")
        shown = contents.get_object() if contents is not None else None
        for stream in shown if isinstance(shown, list) else [shown]:
            self._take(stream)
        if self._left < 0:
            return None
        read_form = page.extract_xform_text

        def read_bounded(form: EncodedStreamObject, *arguments: Any, **named: Any) -> str:
            self._left -= _FORM_COSTS
            self._take(form)
            return read_form(form, *arguments, **named) if self._left >= 0 else ""

        # pypdf comes here for each form a page or a form shows, also for one it has shown before.
        page.extract_xform_text = read_bounded  # type: ignore[assignment]
        text = page.extract_text()
        return text if self._left >= 0 else None

    def _take(self, stream: Any) -> None:
        stream = stream.get_object() if stream is not None else None
        if isinstance(stream, StreamObject):
            try:
                # Unpacked once, whoever shows it.
                data = stream.get_data()
            except _FAULTS:
                # What is damaged is told by who reads it.
                return
            self._left -= data.count(b"(") + data.count(b"<") + data.count(b"T")


def _has_picture(page: PageObject) -> bool:
    """Whether a picture stands on the page; none is decoded."""
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    shown = objects.get_object().values() if objects is not None else ()
    # Each page may name the same thousands of them.
    return any(one.get_object().get("/Subtype") == "/Image" for one in islice(shown, _MAX_OBJECTS))


def _creation_time(reader: PdfReader) -> datetime | None:
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
