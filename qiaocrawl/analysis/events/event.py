"""The records of events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qiaocrawl.analysis.entities.places import Place


@dataclass(frozen=True, slots=True)
class EventSource:
    """An article that may tell of events.

    Args:
        key: what the caller knows it by.
        title: of the article.
        text: its body.
        published: the day in China; None where unknown, and then 昨日 says nothing.
        persons: names of those it names in public office.
        bodies: names of bodies it names, beside those that come along.
        places: names of places it names, beside those that come along.
    """

    key: str
    title: str
    text: str
    published: date | None = None
    persons: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once; what no text says is None or empty.

    Args:
        number: in order of time, from 1.
        name: some clauses of one of the articles, verbatim.
        first, last: its day twice, or the days it lasted from and to; None where no text says.
        place: where.
        persons, bodies: named where articles tell of it, up to the end of the paragraph or to
            another day; most often named first.
        keys: of the articles that tell of it, in the order they were given.
    """

    number: int
    name: str
    first: date | None
    last: date | None
    place: Place | None
    persons: tuple[str, ...]
    bodies: tuple[str, ...]
    keys: tuple[str, ...]
