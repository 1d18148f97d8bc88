"""What classes are called: by people, and to people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from qiaocrawl.language import CHINESE, N_, _, language
from qiaocrawl.topic.pack import TERM_KINDS
from qiaocrawl.topic.tables import as_choice

UNSURE = "unsure"
"""What people may write for articles of which no class is sure."""
_UNSURE_SHOWN = N_("not sure")
_UNSURE_CHINESE = "没有把握"

# What a term is, not what an article with it is about.
_NO_CLASSES = frozenset({"core", "group", "person", "organisation", "event", "place", "other"})


class MarkedArticle(NamedTuple):
    """An article of which a person said the class."""

    title: str
    text: str
    name: str


class ArticleClass(NamedTuple):
    """What an article is about.

    Args:
        name: of the class; "" where none is sure.
        certainty: of the likeliest, a probability.
        words: what spoke for it, the heaviest first.
    """

    name: str
    certainty: float
    words: tuple[str, ...]


def class_names(kinds: Iterable[str], marked: Iterable[str] = ()) -> tuple[str, ...]:
    """The classes of a topic whose terms have these *kinds*, and those that people *marked*."""
    there = set(kinds)
    own = [kind for kind in TERM_KINDS if kind in there and kind not in _NO_CLASSES]
    return tuple(dict.fromkeys([*own, *sorted(set(marked))]))


def class_named(written: str) -> str:
    """The class that *written* means (教育 is education); "" of :data:`UNSURE`."""
    name = as_choice(" ".join(written.split()), TERM_KINDS, "")
    return "" if name in (UNSURE, _UNSURE_CHINESE) else name


def class_label(name: str) -> str:
    """What a class is called to people, in their language; "" is not sure."""
    if not name:
        return _(_UNSURE_SHOWN)
    return TERM_KINDS.get(name, name) if language() == CHINESE else name
