"""Normal forms: one for matching (:func:`fold`), one for keeping (:func:`clean_text`)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

import opencc

from qiaocrawl.text.variants import plain_variants

# Fullwidth marks make NFKC's quick check fail on nearly every Chinese text; replaced one by
# one beforehand, the check passes and NFKC of a page costs 5 us instead of 200.
_WIDE = {mark: unicodedata.normalize("NFKC", mark) for mark in "，：；？！（）％～｜\u3000…"}

# C0 and C1 controls but tab and newline, lone surrogates, noncharacters: no database and no
# export format carries them all.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_HAN = range(0x3400, 0xA000)
_IN_PHRASES = "覆沈藉坏瞭彷"
# One does; a dictionary that turns one character into another and back must not hang us.
_MORE_ROUNDS = 3
# Whole books would fill the memory of a worker.
_REMEMBERED_CHARS = 20_000


def fold(text: str) -> str:
    """*text* for matching only: NFKC, lower case, simplified characters; twice is once."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else _folded(text)


def _folded(text: str) -> str:
    text = with_narrow_marks(text)
    # Twice: lower() may give characters that NFKC changes again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    return folded if folded.isascii() else to_simplified(plain_variants(folded))


# The text of a page is folded for its prints, its words and its sample, one after the other.
_remembered = lru_cache(maxsize=16)(_folded)


def with_narrow_marks(text: str) -> str:
    """*text* with fullwidth marks as NFKC has them: what is to be normalised afterwards."""
    for mark, plain in _WIDE.items():
        if mark in text:
            text = text.replace(mark, plain)
    return text


def to_simplified(text: str) -> str:
    """*text* with traditional characters as simplified ones (OpenCC's ``t2s``); twice is once.

    OpenCC knows some phrases in traditional characters only (乾清宮): what is kept for their
    sake would go in text that is simplified already (乾清宫), so it goes in both.
    """
    text = clean_surrogates(text)
    simplified = str(_converter().convert(text))
    if simplified == text or _unsettled().search(simplified) is None:
        return simplified
    # Line by line, since few lines hold such a character and no phrase reaches over two.
    return "\n".join(map(_settled, simplified.split("\n")))


def clean_surrogates(text: str) -> str:
    """*text* with lone surrogates as U+FFFD, since UTF-8 cannot carry them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_text(text: str) -> str:
    """*text* without control characters, lone surrogates and noncharacters; newlines stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.replace("\n", "").isprintable() else _UNPRINTABLE.sub("", text)


def collapse(text: str) -> str:
    """*text* on one line, every run of white space one space, and cleaned."""
    joined = " ".join(text.split())
    return joined if joined.isprintable() else _UNPRINTABLE.sub("", joined)


def script_forms(text: str) -> tuple[str, ...]:
    """*text* as it is, in simplified characters and in those of Taiwan and Hong Kong; each once.

    >>> script_forms("侨胞")
    ('侨胞', '僑胞')
    """
    if text.isascii():
        return (text,)
    simplified = to_simplified(text)
    traditional = (str(converter.convert(simplified)) for converter in _to_traditional())
    return tuple(dict.fromkeys((text, simplified, *traditional)))


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")


@cache
def _to_traditional() -> tuple[opencc.OpenCC, ...]:
    return tuple(opencc.OpenCC(name) for name in ("s2t", "s2tw", "s2hk"))


def _settled(line: str) -> str:
    """*line*, converted once already, converted until nothing changes."""
    for _ in range(_MORE_ROUNDS):
        if _unsettled().search(line) is None:
            break
        before, line = line, str(_converter().convert(line))
        if line == before:
            break
    return line


@cache
def _unsettled() -> re.Pattern[str]:
    """Finds what converting once more may change: a character that is converted where it
    stands alone, or in phrases only.
    """
    letters = [chr(code) for code in _HAN]
    plain = str(_converter().convert("\n".join(letters))).split("\n")
    changed = [letter for letter, other in zip(letters, plain, strict=True) if letter != other]
    return re.compile(f"[{''.join(changed)}{_IN_PHRASES}]")
