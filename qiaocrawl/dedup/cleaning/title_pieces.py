"""Splits a title at the signs that may separate the name of its site."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Signs that sites put before their name, by kind; a run of several is of the first kind here that
# is in it. 丨 is a character, but stands for a bar wherever it is met in headlines.
_KINDS = {
    "|": "|｜丨│┃∣¦",
    "_": "_＿",
    ">": ">»›＞",
    "-": "-－‐‑–−",
    "—": "—―─",
    "·": "·•・",
    ":": ":：",
}
_KIND_OF = {sign: kind for kind, signs in _KINDS.items() for sign in signs}
# Kinds that belong to the text without spaces around them: 张三：…, 科比·布莱恩特.
_SPACED_ONLY = "·:"


def _class_of(kinds: str) -> str:
    return "".join(re.escape(sign) for sign, kind in _KIND_OF.items() if kind in kinds)


# Strong signs separate wherever they stand, weak ones only between spaces.
_STRONG, _WEAK = _class_of("|_>-—"), _class_of(_SPACED_ONLY)
# Two searches for single characters cost a third of one with an alternative in it.
_HAS_STRONG = re.compile(f"[{_STRONG}]")
_HAS_WEAK = re.compile(rf"\s[{_WEAK}]\s")
# A run takes all signs and spaces up to the next piece: " - | ".
_RUN = re.compile(rf"(?:[{_STRONG}]|(?<=\s)[{_WEAK}](?=\s))[{_STRONG}{_WEAK}\s]*")


@dataclass(frozen=True, slots=True)
class Separator:
    """Signs between two pieces of a title.

    Attributes:
        start: where the piece before it ends, white space taken off.
        stop: where the next piece begins.
        kind: one of ``| _ > - — · :``, and ``--`` for several hyphens.
        is_spaced: whether white space stands before and behind the signs.
    """

    start: int
    stop: int
    kind: str
    is_spaced: bool


def separators(title: str) -> list[Separator]:
    """The separators of *title*, in order; [] for most titles, at the cost of one search.

    A hyphen inside a word (``4-0``, ``GPT-2``, ``歼-20``) is none, nor is a dot or a colon
    without space around it, nor what the title begins with.
    """
    if _HAS_STRONG.search(title) is None and _HAS_WEAK.search(title) is None:
        return []
    candidates = (_separator(title, run.start(), run.end()) for run in _RUN.finditer(title))
    return [separator for separator in candidates if separator is not None]


def _separator(title: str, begin: int, stop: int) -> Separator | None:
    before = title[:begin].rstrip()
    if not before:
        return None
    signs = [_KIND_OF[sign] for sign in title[begin:stop] if not sign.isspace()]
    # The first kind in the order of _KINDS, not of the title: "- |" is a bar.
    kind = next(kind for kind in _KINDS if kind in signs)
    is_spaced = len(before) < begin and (stop == len(title) or title[stop - 1].isspace())
    if kind == "-":
        if len(signs) > 1:
            kind = "--"
        elif begin == len(before) and _is_in_word(before[-1], title[begin + 1 : begin + 2]):
            return None
    return Separator(len(before), stop, kind, is_spaced)


def _is_in_word(before: str, behind: str) -> bool:
    """Whether a hyphen between these two is a word's: ``GPT-2``, ``4-0``, ``A-B``, ``歼-20``."""
    if behind.isdecimal():
        return before.isalnum()
    return before.isascii() and behind.isascii() and before.isalnum() and behind.isalnum()
