"""Texts as tokens: pairs of Chinese characters, whole words of other scripts.

Any run of two or more characters is found, whether a dictionary has it or not: it is a row of
pairs (侨务工作: 侨务 务工 工作). The last character of a run stands by itself as well, so that
rows of two runs never touch and a single character is the beginning of some token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import add

from qiaocrawl.text.normalise import fold

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"([{_HAN}]+)|([^\\W_{_HAN}]+)")
_TERM = re.compile(r'(-?)(?:"([^"]+)"|“([^”]+)”|(\S+))')
MAX_TERMS, MAX_TERM_CHARS = 20, 100
"""Of what is searched for; the rest is left out."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing searched for: a row of tokens that stand side by side.

    Attributes:
        text: as it was written, without quotes.
        is_open: the last token is only the beginning of one.
        is_unwanted: written with ``-`` before it.
    """

    text: str
    tokens: tuple[str, ...]
    is_open: bool
    is_unwanted: bool


def tokens(text: str) -> list[str]:
    """The tokens of *text*, in their order."""
    row: list[str] = []
    for han, other in _RUN.findall(fold(text)):
        if han:
            row += map(add, han, han[1:])
            row.append(han[-1])
        else:
            row.append(other)
    return row


def terms(searched: str) -> list[Term]:
    """What *searched* asks for: words apart by spaces, ``"a phrase"``, ``-not this``."""
    found = []
    for minus, *texts in _TERM.findall(searched):
        text = "".join(texts)[:MAX_TERM_CHARS]
        row = tuple(tokens(text))
        if not row:
            continue
        last = _RUN.findall(fold(text))[-1][0]
        is_single = len(last) == 1
        # The end of what is searched for is seldom the end of a run of the text.
        closed = row[:-1] if last and not is_single else row
        found.append(Term(text, closed, is_single, bool(minus)))
    return found[:MAX_TERMS]
