"""The demo web's records, and how it writes them: charsets, scripts, small files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

CHINA_TIME = timezone(timedelta(hours=8), "Asia/Shanghai")
"""Every date of the demo web is meant and shown in this zone."""


class Kind(StrEnum):
    """What a page is. The first six hold an article of their own."""

    ARTICLE = "article"
    BRIEF = "brief"
    PHOTO = "photo"
    BLOG = "blog"
    FORUM = "forum"
    PRINT = "print"
    PART = "part"
    """Second or later page of a paged article; gold title and body are the whole article's."""
    SHELL = "shell"
    """The body stands in a script only: the page needs rendering."""
    LOGIN_WALL = "login_wall"
    """An article that sends visitors to the login form."""
    LOGIN = "login"
    LIST = "list"
    HOME = "home"
    CALENDAR = "calendar"
    FEED = "feed"
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    REDIRECT = "redirect"
    DEAD = "dead"
    SOFT_404 = "soft_404"
    FILE = "file"


ARTICLE_KINDS = frozenset({Kind.ARTICLE, Kind.BRIEF, Kind.PHOTO, Kind.BLOG, Kind.FORUM, Kind.PRINT})


@dataclass(frozen=True, slots=True)
class Gold:
    """The truth about one page.

    ``body`` is the article's text, a paragraph a line, without title, date line, editor line
    or replies. ``published_at`` is aware (China time). ``on_topic`` says whether the article
    belongs to the topic ``qiaoqing``. Articles that share ``reprint_group`` tell the same
    story; every article has one, be it alone in it. ``charset`` is the one the bytes are in,
    whatever the page declares.
    """

    url: str
    kind: Kind
    charset: str
    title: str = ""
    body: str = ""
    published_at: datetime | None = None
    author: str = ""
    source: str = ""
    channel: str = ""
    on_topic: bool = False
    reprint_group: str = ""
    target_url: str = ""
    """Where a redirect ends, or the first page of a part, or the article a print page shows."""
    robots_allowed: bool = True
    taken_from: str = ""
    """The host from which an article was taken; of one group there is one article on each."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One answer of the demo web. ``drop`` cuts the connection instead of answering."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    gold: Gold | None = None
    drop: bool = False


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One site as a topic pack lists it; ``tier`` 1 is the most authoritative of 4."""

    host: str
    name: str
    role: str
    tier: int
    region: str
    kind: str
    start_url: str


class EngineSite(Protocol):
    """A host whose answers are computed: a search engine. Header names come in lower case."""

    host: str

    def respond(self, target: str, headers: Mapping[str, str]) -> DemoPage:
        """The answer to a GET of *target* (path and query as sent)."""
        ...


# --- Bytes of a page in its charset; what the charset lacks becomes a character reference ---------

# What browsers read the labels as: a page's bytes must mean the same to both codecs.
_READ_AS = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs"}
_GB2312_FIRST, _GB2312_LAST_LEAD = 0xA1, 0xF7


def encode_page(text: str, charset: str) -> bytes:
    """*text* in *charset* (utf-8, gb2312, gbk, gb18030 or big5)."""
    codec = "gbk" if charset == "gb2312" else charset
    if charset not in _READ_AS:
        return text.encode(codec)
    missing = {ord(char): f"&#{ord(char)};" for char in set(text) if not _fits(char, charset)}
    return (text.translate(missing) if missing else text).encode(codec)


@lru_cache(maxsize=20_000)
def _fits(char: str, charset: str) -> bool:
    try:
        raw = char.encode("gbk" if charset == "gb2312" else charset)
        same = raw.decode(_READ_AS[charset]) == char
    except UnicodeError:
        return False
    # GB2312 is the part of GBK whose two bytes both lie above A0.
    inside = len(raw) == 1 or (raw[0] <= _GB2312_LAST_LEAD and min(raw) >= _GB2312_FIRST)
    return same and (charset != "gb2312" or inside)


def content_type(kind: str, charset: str) -> tuple[str, str]:
    """A Content-Type header; *charset* "" declares none."""
    return ("Content-Type", f"{kind}; charset={charset}" if charset else kind)


# --- Simplified text as sites of a script show it: traditional characters and their quotes --------

_QUOTES = str.maketrans("“”‘’", "「」『』")


def script_converter(script: str) -> Callable[[str], str]:
    """What turns simplified text into *script*: ``"hans"`` (as it is) or ``"hant"``."""
    return _to_traditional if script == "hant" else _same_text


def _same_text(text: str) -> str:
    return text


@lru_cache(maxsize=20_000)
def _to_traditional(text: str) -> str:
    converted: str = _opencc().convert(text)
    return converted.translate(_QUOTES)


@lru_cache(maxsize=1)
def _opencc():  # type: ignore[no-untyped-def]
    # Imported when first needed: only the traditional sites of the demo web use it.
    from opencc import OpenCC

    return OpenCC("s2tw")


# --- Tiny files of other kinds: a PDF of one page, a grey picture ---------------------------------

_GREY = 0xC8


@lru_cache(maxsize=8)
def png_file(width: int, height: int) -> bytes:
    """A grey PNG picture of *width* x *height* pixels."""
    rows = (b"\0" + bytes([_GREY]) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@lru_cache(maxsize=1)
def pdf_file() -> bytes:
    """A PDF document with one empty page."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
    )
    body, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    xref = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return body + xref + trailer % (len(objects) + 1, len(body))
