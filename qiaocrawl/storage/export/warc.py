"""Pages as a WARC file, which this crawler and any web archive tool can replay."""

from __future__ import annotations

import io
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Connection
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from qiaocrawl.items import FetchedPage
from qiaocrawl.language import _
from qiaocrawl.storage.export.base import ExportReport, Progress
from qiaocrawl.storage.export.choice import Selection
from qiaocrawl.storage.export.selection import iter_pages
from qiaocrawl.storage.outfile import growing_file

# Bodies are stored decoded, which these headers do not describe: kept under another name.
_OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})


def write_warc(c: Connection, selection: Selection, out: Path, progress: Progress) -> ExportReport:
    """A ``response`` record a page, gzipped each on its own."""
    written = cut = 0
    with growing_file(out) as part, part.open("wb") as file:
        writer = _begun(file, out.name)
        for page in iter_pages(c, selection):
            _write_page(writer, page)
            written += 1
            cut += page.truncated
            progress(1)
    return ExportReport(
        written, (_("{cut} pages had been cut when they were stored", cut=cut),) * bool(cut)
    )


def write_record(page: FetchedPage, out: Path) -> None:
    """Write one *page* as such a file.

    Raises:
        StorageError: the file cannot be written.
    """
    with growing_file(out) as part, part.open("wb") as file:
        _write_page(_begun(file, out.name), page)


def _begun(file: BinaryIO, name: str) -> WARCWriter:
    writer = WARCWriter(file, gzip=True)
    about = {
        "software": "qiaocrawl",
        "format": "WARC File Format 1.0",
        "description": _("bodies are decoded from their Content-Encoding"),
    }
    writer.write_record(writer.create_warcinfo_record(name, about))
    return writer


def _write_page(writer: WARCWriter, page: FetchedPage) -> None:
    extra = {"WARC-Date": page.fetched_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
    if page.truncated:
        extra["WARC-Truncated"] = "length"
    writer.write_record(writer.create_warc_record(
        page.final_url or page.url, "response", payload=io.BytesIO(page.body),
        length=len(page.body), http_headers=_http_headers(page), warc_headers_dict=extra,
    ))  # fmt: skip


def _http_headers(page: FetchedPage) -> StatusAndHeaders:
    headers = [
        (f"X-Archive-Orig-{name}" if name in _OF_THE_WIRE else name, _one_line(value))
        for name, value in page.headers
    ]
    headers.append(("Content-Length", str(len(page.body))))
    try:
        phrase = HTTPStatus(page.status).phrase
    except ValueError:
        phrase = "Unknown"
    return StatusAndHeaders(f"{page.status} {phrase}", headers, protocol="HTTP/1.1")


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")
