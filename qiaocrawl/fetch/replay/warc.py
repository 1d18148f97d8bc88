"""WARC files: the response, resource and revisit records of http and https pages."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import brotli
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from qiaocrawl.errors import ReplayError
from qiaocrawl.fetch.replay.recording_index import IndexWriter, Origin, Revisit
from qiaocrawl.language import _
from qiaocrawl.text.zstd import zstd

# --- Content-Encoding undone: gzip, deflate, br and zstd, also stacked, never above a limit -------


class TooLargeError(Exception):
    """The decoded body is above the limit."""


class NotDecodableError(Exception):
    """The body is not what its Content-Encoding says."""


def decode(body: bytes, encodings: Sequence[str], max_bytes: int) -> tuple[bytes, bool]:
    """*body* with *encodings* undone, the last one first.

    Returns:
        the decoded body, and whether its compressed form was cut short (what could be
        decoded is returned).

    Raises:
        NotDecodableError: an unknown encoding, or bytes that are not in it.
        TooLargeError: more than *max_bytes* come out.
    """
    cut_short = False
    for name in reversed(encodings):
        decoder = _DECODERS.get(name)
        if decoder is None:
            raise NotDecodableError(f"unknown Content-Encoding {name!r}")
        body, ended = decoder(body, max_bytes)
        cut_short = cut_short or not ended
    return body, cut_short


def content_encodings(values: Sequence[str]) -> list[str]:
    """The encodings named by all Content-Encoding headers, in order, ``identity`` left out."""
    names = [name.strip().lower() for value in values for name in value.split(",")]
    return [name for name in names if name not in ("", "identity")]


def _check_size(output: bytes, max_bytes: int) -> bytes:
    if len(output) > max_bytes:
        raise TooLargeError
    return output


def _gzip(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    # Members may follow one another; anything behind the last one is padding.
    output = b""
    ended = False
    rest = body
    while rest[:2] == b"\x1f\x8b":
        part, ended, rest = _inflate(rest, 31, max_bytes - len(output))
        output += part
        if not ended:
            return output, False
    if not ended:
        raise NotDecodableError("no gzip data")
    return output, True


def _deflate(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    try:
        output, ended, _ = _inflate(body, 15, max_bytes)
    except NotDecodableError:
        # Many servers send deflate without the zlib frame that the standard asks for.
        output, ended, _ = _inflate(body, -15, max_bytes)
    return output, ended


def _inflate(body: bytes, window_bits: int, max_bytes: int) -> tuple[bytes, bool, bytes]:
    decoder = zlib.decompressobj(window_bits)
    try:
        output = _check_size(decoder.decompress(body, max_bytes + 1), max_bytes)
    except zlib.error as error:
        raise NotDecodableError(str(error)) from error
    return output, decoder.eof, decoder.unused_data


def _br(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    decoder = brotli.Decompressor()
    try:
        output = decoder.process(body, output_buffer_limit=max_bytes + 1)
    except brotli.error as error:
        raise NotDecodableError(str(error)) from error
    return _check_size(output, max_bytes), decoder.is_finished()


def _zstd(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    decoder = zstd.ZstdDecompressor()
    try:
        output = decoder.decompress(body, max_length=max_bytes + 1)
    except zstd.ZstdError as error:
        raise NotDecodableError(str(error)) from error
    return _check_size(output, max_bytes), decoder.eof


_DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _br,
    "zstd": _zstd,
}


# --- A recorded HTTP answer taken apart: status, headers, and the body as a browser gets it -------

_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile("\r?\n")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
# These describe the body as transferred; the stored one is decoded.
_WIRE_HEADERS = frozenset({"content-encoding", "transfer-encoding", "content-length"})


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer; ``faults`` names what is wrong with its body, which is kept as it is."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    faults: tuple[str, ...]


def parse_answer(block: bytes, max_body_bytes: int) -> Answer | None:
    """The answer in *block* (status line, headers, body); None when it is none.

    Faults: ``truncated`` (a body that breaks off), ``undecodable`` (a body that is not in
    its Content-Encoding).

    Raises:
        TooLargeError: the decoded body is above *max_body_bytes*.
    """
    start = _STATUS_LINE.match(block)
    if start is None:
        return None
    end = _HEAD_END.search(block)
    head, body = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    headers = _headers(head)
    body, faults = _decode_body(body, headers, max_body_bytes)
    page_headers = tuple((name, value) for name, value in headers if name not in _WIRE_HEADERS)
    return Answer(int(start[1]), page_headers, body, faults)


def _headers(head: bytes) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    # Not splitlines(): 0x85, a part of 全 in UTF-8, would end a line.
    for line in _LINE_END.split(head.decode("latin-1"))[1:]:
        if line[:1] in (" ", "\t") and headers:
            # A header folded over two lines, as old servers do.
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers.append((name.strip().lower(), value.strip()))
    return headers


def _decode_body(
    body: bytes, headers: Iterable[tuple[str, str]], max_bytes: int
) -> tuple[bytes, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name, []).append(value)
    faults = set()
    if any("chunked" in value.lower() for value in values.get("transfer-encoding", ())):
        body, complete = dechunk(body)
    else:
        complete = len(body) >= _declared_length(values.get("content-length", []))
    encodings = content_encodings(values.get("content-encoding", []))
    if encodings and body:
        try:
            body, cut_short = decode(body, encodings, max_bytes)
            complete = complete and not cut_short
        except NotDecodableError:
            # Many recorders store a decoded body under its original headers: keep it as it is.
            faults.add("undecodable")
    if not complete:
        faults.add("truncated")
    return body, tuple(sorted(faults))


def _declared_length(values: list[str]) -> int:
    return int(values[0]) if values and values[0].isascii() and values[0].isdigit() else 0


def dechunk(body: bytes) -> tuple[bytes, bool]:
    """*body* without chunk sizes, and whether its last chunk was there.

    A body that does not begin with a chunk size was stored without chunks: it is returned
    as it is.
    """
    parts: list[bytes] = []
    position = 0
    while size_line := _CHUNK_SIZE.match(body, position):
        size = int(size_line[1], 16)
        if size == 0:
            return b"".join(parts), True
        chunk = body[size_line.end() : size_line.end() + size]
        parts.append(chunk)
        position = size_line.end() + size
        # The line end behind a chunk.
        position += 2 if body[position : position + 2] == b"\r\n" else 1
        if len(chunk) < size:
            break
    if not parts:
        return body, True
    return b"".join(parts), False


# --- WARC files: the response, resource and revisit records of http and https pages ---------------

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
        self._blocks = self._inflate(file, writer) if packed else self._plain()
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

    def _inflate(self, file: Path, writer: IndexWriter) -> Iterator[bytes]:
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
