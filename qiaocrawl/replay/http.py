"""A recorded HTTP answer taken apart: status, headers, and the body as a browser gets it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qiaocrawl.replay.encoding import NotDecodableError, content_encodings, decode

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
    body, faults = _decoded(body, headers, max_body_bytes)
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


def _decoded(
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
