"""Bytes of a page in its charset; what the charset lacks becomes a character reference."""

from __future__ import annotations

from functools import lru_cache

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
