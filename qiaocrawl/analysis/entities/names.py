"""Lists of names, found in a text: the longest that begins at a character and overlaps no other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qiaocrawl.analysis.entities.entity import KINDS, Kind
from qiaocrawl.text.segment import dictionary_entries

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_SHOWN = 6
# What jieba's dictionary says a word is; nrt are foreign names.
_TAGS: Mapping[str, Kind] = {
    "nr": "person", "nrt": "person", "nrfg": "person", "ns": "place", "nt": "organisation",
}  # fmt: skip


class NameList:
    """Names to be found in texts.

    Args:
        names: any number; those of one character are left out.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(name for name in names if len(name) > 1)
        # By first two characters the lengths there are, the longest first.
        lengths: dict[str, set[int]] = {}
        for name in self._names:
            lengths.setdefault(name[:2], set()).add(len(name))
        self._lengths = {start: sorted(own, reverse=True) for start, own in lengths.items()}

    def __len__(self) -> int:
        return len(self._names)

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of every name in *text*, from left to right."""
        at = 0
        while at < len(text) - 1:
            end = self._end(text, at)
            if end:
                yield at, end
            at = end or at + 1

    def places(self, text: str) -> NDArray[np.uint64]:
        """Of every character 0, or a number for where it stands in a name how long."""
        places = np.zeros(len(text), np.uint64)
        for start, end in self.matches(text):
            size = min(end - start, _LONGEST_SHOWN) * 4
            places[start:end] = size + 2
            places[end - 1] = size + 3
            places[start] = size + 1
        return places

    def _end(self, text: str, at: int) -> int:
        for length in self._lengths.get(text[at : at + 2], ()):
            if text[at : at + length] in self._names:
                return min(at + length, len(text))
        return 0


@cache
def dictionary_lists() -> tuple[NameList, ...]:
    """Persons, places and organisations of jieba's dictionary, in the order of ``KINDS``."""
    return tuple(NameList(names) for names in dictionary_names().values())


def dictionary_names() -> dict[Kind, set[str]]:
    """The names of jieba's dictionary by kind."""
    names: dict[Kind, set[str]] = {kind: set() for kind in KINDS}
    for word, _, tag in dictionary_entries():
        if kind := _TAGS.get(tag):
            names[kind].add(word)
    return names


def foreign_names() -> set[str]:
    """Names of persons that its dictionary holds as foreign ones."""
    return {word for word, _, tag in dictionary_entries() if tag == "nrt"}
