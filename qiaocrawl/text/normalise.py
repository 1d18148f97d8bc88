"""Normal forms: one for matching (:func:`fold`), one for keeping (:func:`clean_text`)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import opencc

# Fullwidth marks make NFKC's quick check fail on nearly every Chinese text; replaced one by
# one beforehand, the check passes and NFKC of a page costs 5 us instead of 200.
_WIDE = {mark: unicodedata.normalize("NFKC", mark) for mark in "，：；？！（）％～\u3000…"}

# C0 and C1 controls but tab and newline, lone surrogates, noncharacters: no database and no
# export format carries them all.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def fold(text: str) -> str:
    """*text* for matching only: NFKC, lower case, simplified characters."""
    text = with_narrow_marks(text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    return folded if folded.isascii() else to_simplified(folded)


def with_narrow_marks(text: str) -> str:
    """*text* with fullwidth marks as NFKC has them: what is to be normalised afterwards."""
    for mark, plain in _WIDE.items():
        if mark in text:
            text = text.replace(mark, plain)
    return text


def to_simplified(text: str) -> str:
    """*text* with traditional characters as simplified ones (OpenCC's ``t2s``)."""
    return str(_converter().convert(clean_surrogates(text)))


def clean_surrogates(text: str) -> str:
    """*text* with lone surrogates as U+FFFD, since UTF-8 cannot carry them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_text(text: str) -> str:
    """*text* without control characters, lone surrogates and noncharacters; newlines stay."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def collapse(text: str) -> str:
    """*text* on one line, every run of white space one space, and cleaned."""
    joined = " ".join(text.split())
    return joined if joined.isprintable() else _UNPRINTABLE.sub("", joined)


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")
