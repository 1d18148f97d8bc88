"""Where words stand in a text: passages around them, for lists and pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from qiaocrawl.text.normalise import script_forms

_BEFORE, _AFTER = 12, 24
"""Characters of a text that are shown before and behind a word."""


class Passage(NamedTuple):
    """A word as it stands in a text, and what stands around it in its line."""

    before: str
    word: str
    after: str


def passage(text: str, word: str, before: int = _BEFORE, after: int = _AFTER) -> Passage | None:
    """The first place of *word* in *text*, in simplified or traditional characters."""
    lower = text.lower()
    places = [(lower.find(form), form) for form in script_forms(word.lower())]
    at, form = min((place for place in places if place[0] >= 0), default=(-1, ""))
    # Lower case may have another length, in a few scripts: nothing is shown then.
    if at < 0 or len(lower) != len(text):
        return None
    end = at + len(form)
    start = max(at - before, text.rfind("\n", 0, at) + 1)
    rest = text[end : end + after].partition("\n")[0]
    return Passage(text[start:at].lstrip(), text[at:end], rest.rstrip())


def marked_pieces(text: str, words: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """*text* in pieces, and whether each is one of *words*, in either script."""
    forms = sorted({form for word in words if word for form in script_forms(word)}, key=len)
    if not forms:
        yield text, False
        return
    pattern = "|".join(map(re.escape, reversed(forms)))
    for number, piece in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE)):
        if piece:
            yield piece, number % 2 == 1
