"""Texts of articles as they are stored: small, and readable for ever.

A packed text begins with a byte that begins no UTF-8 text; it names the format, which never changes
once rows have it: encoding and dictionary. What was stored before there were formats (plain UTF-8)
is read as it stands. A new dictionary is a new format beside the old ones.

Chinese in GB 18030 has two bytes a character, not three, and zstd finds its words in a dictionary
of common ones: .39 of the UTF-8 bytes in .14 ms a text, where plain zstd makes .53 in .05; English
comes out as with plain zstd (`benchmarks/growth.py --texts`). ``html`` says the text again with
tags around, so it is packed against the text and costs little more than its tags.
"""

from __future__ import annotations

import lzma
import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from qiaocrawl.text.zstd import zstd

# --- Page bodies as zstd frames. Compressing and hashing release the GIL --------------------------
# Measured on two collections of real pages (14 and 91 KB on average): level 3 takes them to 36 and
# 18 per cent in 0.08 and 0.33 ms each, level 6 to 34 and 17 per cent in three times that.

LEVEL = 3


# One a thread: a compressor must not be used by two at once.
class _PageCompressors(threading.local):
    def __init__(self) -> None:
        # Kept, since making its tables costs a fifth of compressing a page.
        self.one = zstd.ZstdCompressor(level=LEVEL)


_page_compressors = _PageCompressors()


def compress(body: bytes) -> bytes:
    """*body* as one zstd frame."""
    return compress_frame(_page_compressors.one, body)


def compress_frame(compressor: zstd.ZstdCompressor, body: bytes) -> bytes:
    """*body* as one frame of *compressor*, which can be used again."""
    # FLUSH_FRAME ends the frame, so that the next page begins one of its own.
    return compressor.compress(body, compressor.FLUSH_FRAME)


def decompress(frame: bytes) -> bytes:
    """The body in *frame*."""
    return zstd.decompress(frame)


# --- Texts of articles as they are stored: small, and readable for ever ---------------------------

# Above 5 a text gets no smaller; below, the dictionary is hardly used.
_LEVEL = 5
LEAST_BYTES = 48
"""Shorter texts are stored as they are: they gain nothing."""
# Versions of GB 18030 (2000, 2005, 2022) put these at different places, so a later Python may too.
_MOVED = re.compile("[\u1e3f\u9fa6-\u9fff\ue000-\uf8ff\ufe10-\ufe19]")
_GB, _UTF8 = "gb18030", "utf-8"
FRAME = b"\x28\xb5\x2f\xfd"
"""How a zstd frame begins; no UTF-8 text does."""
# English in GB 18030 is as long as in UTF-8, and its quotation marks are longer.
_LEAST_BYTES_A_CHARACTER = 1.25


@dataclass(frozen=True, slots=True)
class _Format:
    mark: bytes
    encoding: str
    # A file in data/; "" for the text that the row has besides.
    dictionary: str


_CHINESE = _Format(b"\x81", _GB, "words_zh_1.xz")
_OTHER = _Format(b"\x82", _UTF8, "words_en_1.xz")
_AGAINST_TEXT = {_GB: _Format(b"\x91", _GB, ""), _UTF8: _Format(b"\x92", _UTF8, "")}
_FORMATS = {f.mark: f for f in (_CHINESE, _OTHER, *_AGAINST_TEXT.values())}


class _Compressors(threading.local):
    # One a thread and format: a compressor must not be used by two at once.
    def __init__(self) -> None:
        self.of: dict[_Format, zstd.ZstdCompressor] = {}


_compressors = _Compressors()


def pack_text(text: str) -> bytes:
    """*text* as it is stored."""
    written = _gb_bytes(text)
    if written is not None and len(written) >= _LEAST_BYTES_A_CHARACTER * len(text):
        return _pack(_CHINESE, written, text)
    return _pack(_OTHER, text.encode(_UTF8, "replace"), text)


def unpack_text(stored: bytes | str | None) -> str:
    """The text in *stored*, by whatever version it was written; "" for None."""
    # SQLite gives what was stored as text as such.
    if not stored or isinstance(stored, str):
        return stored or ""
    form = _FORMATS.get(stored[:1])
    if form is None:
        return stored.decode(_UTF8)
    body = zstd.decompress(memoryview(stored)[1:], zstd_dict=_dictionary(form.dictionary))
    return body.decode(form.encoding)


def pack_html(html: str, text: str) -> bytes | None:
    """*html* of *text*, as it is stored beside that; None for none."""
    if not html:
        return None
    known, written = _gb_bytes(text), _gb_bytes(html)
    encoding = _UTF8 if known is None or written is None else _GB
    if known is None or written is None:
        known, written = text.encode(_UTF8, "replace"), html.encode(_UTF8, "replace")
    if len(known) < LEAST_BYTES:
        return pack_text(html)
    compressor = zstd.ZstdCompressor(options=_OPTIONS, zstd_dict=_prefix(known))
    return _AGAINST_TEXT[encoding].mark + compress_frame(compressor, written)


def unpack_html(stored: bytes | None, text: str) -> str:
    """The structure in *stored*, beside which *text* is stored; "" for None.

    Raises:
        zstd.ZstdError: it was not packed against *text*.
    """
    if not stored:
        return ""
    # A frame without a mark, as it was stored before there were formats.
    if stored[:4] == FRAME:
        return decompress(stored).decode()
    form = _FORMATS.get(stored[:1])
    if form is None or form.dictionary:
        return unpack_text(stored)
    known = text.encode(form.encoding)
    return zstd.decompress(memoryview(stored)[1:], zstd_dict=_prefix(known)).decode(form.encoding)


# A frame that was packed against another text must not be read as something else.
_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: _LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}


def _pack(form: _Format, written: bytes, text: str) -> bytes:
    if len(written) >= LEAST_BYTES:
        compressor = _compressors.of.get(form)
        if compressor is None:
            dictionary = _dictionary(form.dictionary).as_digested_dict
            compressor = zstd.ZstdCompressor(level=_LEVEL, zstd_dict=dictionary)
            _compressors.of[form] = compressor
        packed = form.mark + compress_frame(compressor, written)
        if len(packed) < len(written):
            return packed
    return text.encode(_UTF8, "replace")


def _gb_bytes(text: str) -> bytes | None:
    if _MOVED.search(text):
        return None
    try:
        return text.encode(_GB)
    except UnicodeEncodeError:
        return None


def _prefix(text: bytes) -> tuple[zstd.ZstdDict, int]:
    return zstd.ZstdDict(text, is_raw=True).as_prefix


@cache
def _dictionary(name: str) -> zstd.ZstdDict:
    packed = (files("qiaocrawl.storage") / "data" / name).read_bytes()
    return zstd.ZstdDict(lzma.decompress(packed))
