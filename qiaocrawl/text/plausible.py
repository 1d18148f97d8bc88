"""Judges how plausible bytes are as text of a charset, by the share of everyday characters.

East Asian standards put the everyday characters into a first level of their table, so the
right charset shows nearly only those, and a wrong one scatters over rare characters.
"""

from __future__ import annotations

import re
from functools import cache

_ASCII = re.compile("[\\x00-\\x7f]+")
_WIDE_MARKS = frozenset("　、。·…—～〈〉《》「」『』【】！（），．：；？“”‘’￥・〜－")
_KANA = frozenset(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FD))))
# Japanese without kana is not told from Chinese, and Chinese is what is looked for.
_LEAST_KANA_SHARE = 0.15
_UTF8_COMMON = frozenset(map(chr, (*range(0xA0, 0x250), *range(0x4E00, 0x9FA6))))

# First level of each table: lead bytes from, to (exclusive), trail bytes.
_FIRST_LEVEL = {
    "gb18030": (0xB0, 0xD8, (*range(0xA1, 0xFF),)),
    "big5hkscs": (0xA4, 0xC7, (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
    "euc_jp": (0xB0, 0xD0, (*range(0xA1, 0xFF),)),
    "cp932": (0x88, 0x99, (*range(0x40, 0x7F), *range(0x80, 0xFD))),
    "cp949": (0xB0, 0xC9, (*range(0xA1, 0xFF),)),
}


def plausibility(sample: bytes, charset: str) -> float:
    """Share in [0, 1] of the non-ASCII characters of *sample* that are everyday ones.

    Undecodable bytes count as rare characters. A charset without a table here gives 1 when
    every byte decodes and falls with the errors. A sample without non-ASCII gives 1.
    """
    letters = list(_ASCII.sub("", sample.decode(charset, "replace")))
    if not letters:
        return 1.0
    if len(letters) > 1 and letters[-1] == "\ufffd":
        letters.pop()  # the sample may end inside a character
    share = sum(map(_common(charset).__contains__, letters)) / len(letters)
    if charset in ("euc_jp", "cp932"):
        kana = sum(map(_KANA.__contains__, letters)) / len(letters)
        return share if kana >= _LEAST_KANA_SHARE else 0.0
    return share if charset in _FIRST_LEVEL or charset == "utf-8" else _undamaged(letters)


def _undamaged(letters: list[str]) -> float:
    return 1.0 - letters.count("\ufffd") / len(letters)


@cache
def _common(charset: str) -> frozenset[str]:
    if charset == "utf-8":
        return _UTF8_COMMON | _WIDE_MARKS | _KANA
    if charset not in _FIRST_LEVEL:
        return frozenset()
    low, high, trails = _FIRST_LEVEL[charset]
    pairs = (bytes((lead, trail)) for lead in range(low, high) for trail in trails)
    characters = {pair.decode(charset, "ignore") for pair in pairs}
    kana = _KANA if charset in ("euc_jp", "cp932") else frozenset()
    return frozenset(c for c in characters if len(c) == 1) | _WIDE_MARKS | kana
