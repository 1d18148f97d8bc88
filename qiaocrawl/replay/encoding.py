"""Content-Encoding undone: gzip, deflate, br and zstd, also stacked, never above a limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import brotli

from qiaocrawl.text.zstd import zstd


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


def _bounded(output: bytes, max_bytes: int) -> bytes:
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
        output = _bounded(decoder.decompress(body, max_bytes + 1), max_bytes)
    except zlib.error as error:
        raise NotDecodableError(str(error)) from error
    return output, decoder.eof, decoder.unused_data


def _br(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    decoder = brotli.Decompressor()
    try:
        output = decoder.process(body, output_buffer_limit=max_bytes + 1)
    except brotli.error as error:
        raise NotDecodableError(str(error)) from error
    return _bounded(output, max_bytes), decoder.is_finished()


def _zstd(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    decoder = zstd.ZstdDecompressor()
    try:
        output = decoder.decompress(body, max_length=max_bytes + 1)
    except zstd.ZstdError as error:
        raise NotDecodableError(str(error)) from error
    return _bounded(output, max_bytes), decoder.eof


_DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _br,
    "zstd": _zstd,
}
