"""Pages and pictures as WARC records, each a gzip member of its own."""

from __future__ import annotations

import gzip
import hashlib
import io
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from qiaocrawl.errors import PageStoreError
from qiaocrawl.items import FetchedPage, PagePicture
from qiaocrawl.language import _

if TYPE_CHECKING:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

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
    return _checked(page, extra, _http_headers(page))


def _checked(page: FetchedPage, extra: dict[str, str], headers: StatusAndHeaders) -> bytes:
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
    return _member(_writer().create_warc_record(
        page.final_url or page.url, "response", payload=io.BytesIO(page.body),
        length=len(page.body), http_headers=headers, warc_headers_dict=extra,
    ))  # fmt: skip


def picture_member(address: str, picture: PagePicture) -> bytes:
    """A ``resource`` record with the picture of the page at *address*.

    ``urn:view:`` tells it from the page itself, which replays find under the plain address.
    """
    extra = {
        "WARC-Date": picture.taken_at.strftime(_TIME_FORMAT),
        "WARC-Payload-Digest": f"sha256:{digest_of(picture.data).hex()}",
    }
    return _member(_writer().create_warc_record(
        f"urn:view:{address}", "resource", payload=io.BytesIO(picture.data),
        length=len(picture.data), warc_content_type=picture.media_type, warc_headers_dict=extra,
    ))  # fmt: skip


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
