"""What speaks for two texts telling one happening, and what against it, beside likeness of words.

Two reports written after one pattern (a donation, a graduation, a marathon) have most words in
common and nothing else: other places, other people, other figures. Two reports of one happening may
differ in one of these, seldom in two, and each names what the other's headline names.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.vsm.terms import NAME, NUMBER, usage, word_class

if TYPE_CHECKING:
    from qiaocrawl.news.stories.story import Voice

KINDS = ("place", "person", "name", "number")
"""What is compared: places, persons, other names (bodies, works, ships), and numbers."""

# Of what is alike in words so much is left, by how many kinds disagree. Chosen on the open halves
# of the labelled sets and on the demo's months; see docs/analysis.md.
_LEFT_BY_CONFLICTS = (1.0, 0.9, 0.5, 0.2, 0.1)
# So much is lost where neither text has a name of the other's headline.
_LOST_BY_HEADINGS = 0.9
# A short text need not say all that happened.
_LONG_CHARS = 100
_LEAST_DIGITS = 2
# Counts of jieba's dictionary, of 60 million words.
_USUAL_PLACE, _USUAL_NAME = 6_000, 300


class Marks(NamedTuple):
    """What tells a happening from others like it, as numbers of terms.

    Args:
        kinds: of each of :data:`KINDS` what title and lead have.
        heading: the names and numbers of the title.
        named: all names and numbers of the text, as far as it is read.
        is_long: whether the text says enough for a name to be missed in it.
    """

    kinds: tuple[frozenset[int], ...]
    heading: frozenset[int] = frozenset()
    named: frozenset[int] = frozenset()
    is_long: bool = False


NO_MARKS = Marks((frozenset(),) * len(KINDS))


@cache
def kind_of(word: str) -> str | None:
    """Which of :data:`KINDS` the folded *word* is; None: of none.

    By jieba's dictionary and the gazetteer of places; a word neither knows is of none, nor is one
    that everybody writes: 中国 tells no happening from another, and 长大 is no place at all.
    """
    of_word = word_class(word)
    if of_word == NUMBER:
        return "number" if sum(map(str.isdigit, word)) >= _LEAST_DIGITS else None
    if len(word) < 2:
        return None
    known = usage(word)
    count, tag = known or (0, "")
    if resolve_place(word):
        return "place" if count <= _USUAL_PLACE else None
    if of_word != NAME or count > _USUAL_NAME:
        return None
    return {"ns": "place", "nr": "person"}.get(tag[:2], "name")


def is_long(text: str) -> bool:
    """Whether a name could be missed in *text*."""
    return len(text) >= _LONG_CHARS


class Agreement(NamedTuple):
    """The kinds of which two texts have the same, and those of which neither has the other's."""

    shared: tuple[str, ...]
    conflicts: tuple[str, ...]


def agreement(one: Voice, other: Voice) -> Agreement:
    """How *one* and *other* agree beside their words."""
    shared, conflicts = [], []
    for kind, own, its in zip(KINDS, one.marks.kinds, other.marks.kinds, strict=True):
        if _is_conflict(own, its):
            conflicts.append(kind)
        elif own and its:
            shared.append(kind)
    return Agreement(tuple(shared), tuple(conflicts))


def missing_names(one: Voice, other: Voice) -> frozenset[int]:
    """The names in the headline of *one* that *other* does not have; none where that is short."""
    return one.marks.heading - other.marks.named if other.marks.is_long else frozenset()


def weigh(product: float, one: Voice, other: Voice, most_counted: float) -> float:
    """*product* of the vectors of two texts, lessened by what speaks against them.

    Texts after one pattern are more alike in words than two reports of one happening ever are: so
    where anything speaks against them, what is above *most_counted* does not count.
    """
    conflicts = 0
    # Of all that is done for a text this is done most often: no call for each kind.
    for own, its in zip(one.marks.kinds, other.marks.kinds, strict=True):
        if own and its and own.isdisjoint(its):
            conflicts += 1
    left = _LEFT_BY_CONFLICTS[conflicts]
    # The second is asked only where the first has something to miss.
    if missing := _share_missing(one, other):
        left *= 1 - _LOST_BY_HEADINGS * min(missing, _share_missing(other, one))
    return product if left == 1 else min(product, most_counted) * left


def _is_conflict(own: frozenset[int], its: frozenset[int]) -> bool:
    return bool(own) and bool(its) and own.isdisjoint(its)


def _share_missing(one: Voice, other: Voice) -> float:
    """The share of the names in the headline of *one* that *other* does not have."""
    missing = missing_names(one, other)
    return len(missing) / len(one.marks.heading) if missing else 0.0
