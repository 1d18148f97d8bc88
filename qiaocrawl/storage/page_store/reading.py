"""Payloads out of the files of all stores, each compared with its digest."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, select

from qiaocrawl.errors import ConfigError, PageStoreError
from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.language import _
from qiaocrawl.storage.page_store.files import PageFiles
from qiaocrawl.storage.schema import page_file, page_record, page_store

if TYPE_CHECKING:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

# --- Pages and pictures as WARC records, each a gzip member of its own ----------------------------

# warcio is imported where a record is made or read: with what it imports it takes longer than all
# else of this package, and most crawls keep their pages in the database.

# Bodies are stored decoded, which these headers do not describe: kept under another name.
_OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})
# warcio's own 9 takes twice the time of gzip's default for a hundredth of the size.
_GZIP_LEVEL = 6
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def digest_of(payload: bytes) -> bytes:
    """What a record is found by: SHA-256 of its payload."""
    return hashlib.sha256(payload).digest()


def info_member(file_name: str) -> bytes:
    """The record that a file begins with."""
    about = {
        "software": "qiaocrawl",
        "format": "WARC File Format 1.0",
        "description": _("bodies are decoded from their Content-Encoding"),
    }
    return _member(_writer().create_warcinfo_record(file_name, about))


def page_member(page: FetchedPage) -> bytes:
    """A ``response`` record with the body of *page* as its payload."""
    extra = {"WARC-Date": page.fetched_at.strftime(_TIME_FORMAT)}
    if page.truncated:
        # ISO 28500's words for a connection that was lost and for a limit.
        extra["WARC-Truncated"] = "disconnect" if page.connection_lost else "length"
    return _build_member(page, extra, _http_headers(page))


def _build_member(page: FetchedPage, extra: dict[str, str], headers: StatusAndHeaders) -> bytes:
    extra["WARC-Payload-Digest"] = f"sha256:{digest_of(page.body).hex()}"
    member = _page_member(page, extra, headers)
    try:
        is_good = payload_of(member) == page.body
    except PageStoreError:
        is_good = False
    if is_good:
        return member
    # A header that no parser reads back must not cost the body; the database has all headers.
    return _page_member(page, extra, _headers(page, []))


def _page_member(page: FetchedPage, extra: dict[str, str], headers: StatusAndHeaders) -> bytes:
    return _member(
        _writer().create_warc_record(
            page.final_url or page.url,
            "response",
            payload=io.BytesIO(page.body),
            length=len(page.body),
            http_headers=headers,
            warc_headers_dict=extra,
        )
    )


def picture_member(address: str, picture: PagePicture) -> bytes:
    """A ``resource`` record with the picture of the page at *address*.

    ``urn:view:`` tells it from the page itself, which replays find under the plain address.
    """
    extra = {
        "WARC-Date": picture.taken_at.strftime(_TIME_FORMAT),
        "WARC-Payload-Digest": f"sha256:{digest_of(picture.data).hex()}",
    }
    return _member(
        _writer().create_warc_record(
            f"urn:view:{address}",
            "resource",
            payload=io.BytesIO(picture.data),
            length=len(picture.data),
            warc_content_type=picture.media_type,
            warc_headers_dict=extra,
        )
    )


def payload_of(member: bytes) -> bytes:
    """The payload of the record in *member*.

    Raises:
        PageStoreError: it is no record of ours, or a damaged one.
    """
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed
    from warcio.statusandheaders import StatusAndHeadersParserException

    try:
        record = next(iter(ArchiveIterator(io.BytesIO(member))), None)
        payload: bytes = b"" if record is None else record.raw_stream.read()
    except (ArchiveLoadFailed, StatusAndHeadersParserException, ValueError, EOFError) as error:
        raise PageStoreError(_("no WARC record: {error}", error=error)) from error
    if record is None:
        raise PageStoreError(_("no WARC record: nothing is there"))
    return payload


def _writer() -> WARCWriter:
    from warcio.warcwriter import WARCWriter

    # Unpacked: it would pack everything at level 9.
    return WARCWriter(io.BytesIO(), gzip=False)


def _member(record: Any) -> bytes:
    writer = _writer()
    writer.write_record(record)
    # Without a time of packing: the same page is the same bytes.
    return gzip.compress(writer.out.getvalue(), _GZIP_LEVEL, mtime=0)


def _status(page: FetchedPage) -> str:
    try:
        phrase = HTTPStatus(page.status).phrase
    except ValueError:
        phrase = "Unknown"
    return f"{page.status} {phrase}"


def _http_headers(page: FetchedPage) -> StatusAndHeaders:
    headers = [
        (f"X-Archive-Orig-{name}" if name in _OF_THE_WIRE else name, _one_line(value))
        for name, value in page.headers
    ]
    headers.append(("Content-Length", str(len(page.body))))
    return _headers(page, headers)


def _headers(page: FetchedPage, headers: list[tuple[str, str]]) -> StatusAndHeaders:
    from warcio.statusandheaders import StatusAndHeaders

    return StatusAndHeaders(_status(page), headers, protocol="HTTP/1.1")


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


# --- Payloads out of the files of all stores, each compared with its digest -----------------------

# Records so near to each other are read in one go: a request costs more than the bytes between.
_GAP_BYTES = 64 * 1024
_SPAN_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands."""

    record_id: int
    digest: bytes
    file_id: int
    offset: int
    length: int
    address: str
    name: str

    def __str__(self) -> str:
        return f"{self.address}/{self.name} @{self.offset}"


def place_rows() -> Select[Any]:
    """The query of places; conditions and order are the caller's."""
    return (
        select(
            page_record.c.id,
            page_record.c.digest,
            page_record.c.file_id,
            page_record.c.offset_bytes,
            page_record.c.length_bytes,
            page_store.c.address,
            page_file.c.name,
        )
        .join(page_file, page_file.c.id == page_record.c.file_id)
        .join(page_store, page_store.c.id == page_file.c.store_id)
    )


def places(c: Connection, record_ids: Collection[int]) -> dict[int, Place]:
    """Where these records stand, by their number."""
    rows = c.execute(place_rows().where(page_record.c.id.in_(set(record_ids))))
    return {row[0]: Place(*row) for row in rows}


def payload(c: Connection, record_id: int) -> bytes:
    """The payload of one record.

    Raises:
        PageStoreError: it is missing, damaged or another one; names file and offset.
    """
    payloads_read = payloads(c, [record_id])
    result = payloads_read[record_id]
    if isinstance(result, PageStoreError):
        raise result
    return result


def payloads(c: Connection, record_ids: Collection[int]) -> dict[int, bytes | PageStoreError]:
    """The payload of each record, or what is wrong with it."""
    results: dict[int, bytes | PageStoreError] = {}
    for place, member in members(places(c, record_ids).values()):
        results[place.record_id] = (
            member if isinstance(member, PageStoreError) else _payload(place, member)
        )
    for record_id in record_ids:
        # Only where somebody changed the tables by hand: the reference is a foreign key.
        results.setdefault(
            record_id, PageStoreError(_("record {number} is missing", number=record_id))
        )
    return results


def _payload(place: Place, member: bytes) -> bytes | PageStoreError:
    try:
        return checked_payload(place, member)
    except PageStoreError as error:
        return error


def checked_payload(place: Place, member: bytes) -> bytes:
    """The payload of *member*, which was read at *place*.

    Raises:
        PageStoreError: it is damaged or another one.
    """
    try:
        data = payload_of(member)
    except PageStoreError as error:
        raise PageStoreError(f"{place}: {error}") from error
    if digest_of(data) != bytes(place.digest):
        raise PageStoreError(_("{place}: the page there is not the one it must be", place=place))
    return data


def members(
    chosen: Iterable[Place],
) -> Iterator[tuple[Place, bytes | PageStoreError]]:
    """The bytes at each place, or what is wrong; file by file, neighbours read in one go."""
    places_in_order = sorted(chosen, key=lambda one: (one.address, one.name, one.offset))
    for (address, name), group in groupby(places_in_order, lambda one: (one.address, one.name)):
        for span in _spans(group):
            yield from _read_span(address, name, span)


def _spans(group: Iterator[Place]) -> Iterator[list[Place]]:
    span: list[Place] = []
    for place in group:
        if span and (
            place.offset - (span[-1].offset + span[-1].length) > _GAP_BYTES
            or place.offset + place.length - span[0].offset > _SPAN_BYTES
        ):
            yield span
            span = []
        span.append(place)
    yield span


def _read_span(
    address: str, name: str, span: list[Place]
) -> Iterator[tuple[Place, bytes | PageStoreError]]:
    first, last = span[0], span[-1]
    try:
        data = files_at(address).read(name, first.offset, last.offset + last.length - first.offset)
    except PageStoreError as error:
        yield from ((place, PageStoreError(str(error))) for place in span)
        return
    except ConfigError as error:
        # Of a store that was used before: no package or no credentials for it here.
        yield from ((place, PageStoreError(f"{place}: {error}")) for place in span)
        return
    for place in span:
        start = place.offset - first.offset
        yield place, data[start : start + place.length]


@cache
def files_at(address: str) -> PageFiles:
    """The files of the store at *address*, opened once a process.

    Raises:
        ConfigError: its package or credentials are missing.
    """
    return PageFiles(address)


# Connections of another process are not ours to use.
os.register_at_fork(after_in_child=files_at.cache_clear)
