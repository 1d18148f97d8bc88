"""WARC files: the response, resource and revisit records of http and https pages."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from qiaocrawl.errors import ReplayError
from qiaocrawl.language import _
from qiaocrawl.replay.encoding import TooLargeError
from qiaocrawl.replay.http import Answer, parse_answer
from qiaocrawl.replay.recording_index import IndexWriter, Origin, Revisit

SUFFIXES = (".warc", ".warc.gz")

# Status line and headers in front of a body that is just within the limit.
_MAX_HEAD_BYTES = 1024**2
_BLOCK_BYTES = 16 * 1024
_MAGIC = b"WARC/"
_PAGE_TYPES = frozenset({"response", "resource", "revisit"})


def find_warcs(path: Path) -> list[Path]:
    """The WARC files of *path*: itself, or all in the folder and below, by name."""
    if path.is_file():
        return [path] if path.name.endswith(SUFFIXES) else []
    return sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES) and p.is_file())


def read_warcs(files: Sequence[Path], writer: IndexWriter) -> None:
    """Write all recorded answers of *files* to *writer*.

    A file that breaks off keeps what stands before the break and is counted as
    ``truncated``, as is a body that breaks off. Other counts: ``too_large``,
    ``undecodable`` (a body not in its Content-Encoding, kept as it is), ``not_http`` (a
    response that is none), ``misaligned`` (a record longer than it says) and
    ``lost_revisit``.

    Raises:
        ReplayError: a file that is no WARC file, or is damaged before its end.
    """
    revisits: list[Revisit] = []
    for file in files:
        for record, url, block in _records(file, writer):
            if record.rec_type == "revisit":
                revisits.append(_revisit(record, url))
            else:
                _add_answer(record, url, block, writer)
    writer.add_revisits(revisits)


class _Bytes:
    """The unpacked bytes of a WARC file; where compressed data breaks off, they just end.

    Unpacked here, since warcio refuses files compressed as a whole and Python's gzip takes a
    file that ends within the first bytes of a member for damaged.
    """

    def __init__(self, raw: IO[bytes], file: Path, writer: IndexWriter) -> None:
        self._raw = raw
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        self._blocks = self._inflated(file, writer) if packed else self._plain()
        self.ended = False
        self.breaks_off = False
        self._block = io.BytesIO(next(self._blocks, b""))

    def start(self) -> bytes:
        """The first bytes; they are read again."""
        return self._block.getvalue()[: len(_MAGIC)]

    def read(self, size: int) -> bytes:
        """Up to *size* bytes; none at the end."""
        data = self._block.read(size)
        if not data:
            self._block = io.BytesIO(next(self._blocks, b""))
            data = self._block.read(size)
        self.ended = not data
        return data

    def _plain(self) -> Iterator[bytes]:
        while block := self._raw.read(_BLOCK_BYTES):
            yield block

    def _inflated(self, file: Path, writer: IndexWriter) -> Iterator[bytes]:
        inflater, within_member = zlib.decompressobj(31), False
        while packed := self._raw.read(_BLOCK_BYTES):
            while packed:
                # At most 1,032 times as large: 17 MB.
                block = inflater.decompress(packed)
                packed, within_member = b"", True
                if inflater.eof:
                    packed = inflater.unused_data.lstrip(b"\0")
                    inflater, within_member = zlib.decompressobj(31), False
                if block:
                    writer.spend(len(block), file)
                    yield block
        self.breaks_off = within_member


def _records(file: Path, writer: IndexWriter) -> Iterator[tuple[Any, str, bytes]]:
    """The records of pages with their URLs and blocks (empty for revisits)."""
    try:
        with file.open("rb") as raw:
            stream = _Bytes(raw, file, writer)
            if not _MAGIC.startswith(stream.start()):
                raise ReplayError(
                    _(
                        "{file} is no WARC file, it starts with {start!r}",
                        file=file,
                        start=stream.start(),
                    )
                )
            yield from _page_records(stream, writer)
            writer.faults["truncated"] += stream.breaks_off
    except (ArchiveLoadFailed, OSError, zlib.error) as error:
        raise ReplayError(_("{file} is damaged: {error}", file=file, error=error)) from error


def _page_records(stream: _Bytes, writer: IndexWriter) -> Iterator[tuple[Any, str, bytes]]:
    # Without HTTP parsing: warcio's knows no HTTP/2 and stops at records without a URL.
    records = ArchiveIterator(stream, no_record_parse=True)
    # What it would write to the terminal is counted instead.
    records.INC_RECORD = ""
    for record in _whole(records, stream):
        url = _target(record)
        if record.rec_type not in _PAGE_TYPES or not url.startswith(("http://", "https://")):
            continue
        if record.length > writer.limits.max_page_bytes + _MAX_HEAD_BYTES:
            writer.faults["too_large"] += 1
            continue
        block = b""
        if record.rec_type != "revisit":
            block = record.raw_stream.read()
            if record.raw_stream.limit or (not block and stream.ended):
                stream.breaks_off = True
                return
        yield record, url, block
    writer.faults["misaligned"] += records.err_count


def _whole(records: Any, stream: _Bytes) -> Iterator[Any]:
    """The records whose own headers are whole; only those of the last one may break off."""
    record = None
    try:
        for record in records:
            if record.length is None:
                if not stream.ended:
                    raise ArchiveLoadFailed("a record has no Content-Length")
                stream.breaks_off = True
                return
            yield record
        # Read to its end by now, whether it is a page's or not.
        if record is not None and record.raw_stream.limit:
            stream.breaks_off = True
    except ArchiveLoadFailed:
        if not stream.ended:
            raise
        stream.breaks_off = True


def _target(record: Any) -> str:
    return (record.rec_headers.get_header("WARC-Target-URI") or "").partition("#")[0]


def _header(record: Any, name: str) -> str:
    return (record.rec_headers.get_header(name) or "").strip()


def _revisit(record: Any, url: str) -> Revisit:
    refers_to = _header(record, "WARC-Refers-To-Target-URI").strip("<>").partition("#")[0]
    return Revisit(
        url=url,
        recorded_at=_header(record, "WARC-Date"),
        record_id=_header(record, "WARC-Refers-To"),
        payload_digest=_header(record, "WARC-Payload-Digest"),
        refers_to_url=refers_to,
    )


def _add_answer(record: Any, url: str, block: bytes, writer: IndexWriter) -> None:
    if record.rec_type == "resource":
        content_type = record.content_type or "application/octet-stream"
        answer: Answer | None = Answer(200, (("content-type", content_type),), block, ())
    else:
        try:
            answer = parse_answer(block, writer.limits.max_page_bytes)
        except TooLargeError:
            writer.faults["too_large"] += 1
            return
    if answer is None:
        writer.faults["not_http"] += 1
        return
    writer.faults.update(answer.faults)
    writer.spend(max(0, len(answer.body) - len(block)), url)
    origin = Origin(
        _header(record, "WARC-Date"),
        _header(record, "WARC-Record-ID"),
        _header(record, "WARC-Payload-Digest"),
    )
    writer.add(url, answer.status, answer.headers, writer.add_body(answer.body), origin)
