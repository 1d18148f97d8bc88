"""Other names that texts give to a thing themselves: 简称, 全称, 又称, brackets behind a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from qiaocrawl.text.normalise import fold

Kind = Literal["short", "full", "other", "bracket"]

_QUOTE = "[“”\"'「」『』《》‘’]?"
_NAME = r"[\w·-]{2,24}"
_SHORT = "(?:以下简称|下称|简称)为?"
_OTHER = "(?:又称|亦称|也称|又叫|俗称|别称|别名|原名|旧称|曾用名|英文名?称?)为?"
_FULL = "全称为?"
_WORDS: tuple[tuple[Kind, str], ...] = (("short", _SHORT), ("other", _OTHER), ("full", _FULL))
# The name before: 中国华侨公共外交协会(简称侨协); 中华全国归国华侨联合会(以下简称“中国侨联”)成立.
_STATED: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(f"({_NAME}){_QUOTE}[(,]?{word}[:]?{_QUOTE}({_NAME}?){_QUOTE}[),.。;]"))
    for kind, word in _WORDS
)
# 世界卫生组织(WHO), 华助中心(华人互助中心).
_BRACKET = re.compile(rf"({_NAME}){_QUOTE}\({_QUOTE}([A-Za-z][\w .&-]{{1,40}}|{_NAME}){_QUOTE}\)")
# What a sentence has before a name, and no name has within it.
_LEAD = re.compile(".*(?:近日|日前|今天|昨天|当天|当日|记者从|[由在对向及的是于被把让了])")
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one thing.

    Args:
        name: the one that stands first in the text.
        alias: the other one.
        kind: how the text says so.
        texts: in how many texts it does.
    """

    name: str
    alias: str
    kind: Kind
    texts: int = 1


def aliases(texts: Iterable[str], *, least_texts: int = 1) -> list[Alias]:
    """The names that *texts* state to be one, the most often stated first.

    What stands in brackets alone counts where it could be an abbreviation: its letters stand in the
    name in this order, or it is of Latin letters.
    """
    counts: Counter[tuple[str, str, Kind]] = Counter()
    for text in texts:
        counts.update(set(_stated(fold(text))))
    return [
        Alias(name, alias, kind, number)
        for (name, alias, kind), number in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
        if number >= least_texts
    ]


def is_abbreviation(short: str, full: str) -> bool:
    """Whether the letters of *short* stand in *full* in their order, its first letter early.

    >>> is_abbreviation("中国侨联", "中华全国归国华侨联合会"), is_abbreviation("北京", "中国侨联")
    (True, False)
    """
    if len(short) >= len(full):
        return False
    letters = iter(full)
    return all(letter in letters for letter in short)


def _stated(text: str) -> Iterator[tuple[str, str, Kind]]:
    for kind, pattern in _STATED:
        for match in pattern.finditer(text):
            yield from _pair(match[1], match[2], kind)
    for match in _BRACKET.finditer(text):
        name, alias = match[1], match[2].strip()
        if alias.isascii() or is_abbreviation(alias, name) or is_abbreviation(name, alias):
            yield from _pair(name, alias, "bracket")


def _pair(name: str, alias: str, kind: Kind) -> Iterator[tuple[str, str, Kind]]:
    name = _begun(name)
    if len(name) >= _SHORTEST and len(alias) >= _SHORTEST and name != alias:
        yield name, alias, kind


def _begun(name: str) -> str:
    """*name* without what stands before it: of 近日由海外侨团联合会 the name is 海外侨团联合会."""
    lead = _LEAD.match(name)
    return name[lead.end() :] if lead and lead.end() < len(name) - 1 else name
