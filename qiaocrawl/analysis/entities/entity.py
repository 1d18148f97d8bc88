"""The records of named things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["person", "place", "organisation"]

KINDS: tuple[Kind, ...] = ("person", "place", "organisation")


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place or organisation that a text names once.

    Args:
        kind: one of ``KINDS``.
        text: as it stands in the text.
        normal_form: the name it goes by: 国务院侨务办公室 of 国侨办.
        start: where it begins, in characters of title, line end and text.
        end: behind its last character.
        certainty: in (0, 1]; 1 for a name of a gazetteer.
    """

    kind: Kind
    text: str
    normal_form: str
    start: int
    end: int
    certainty: float


class Span(NamedTuple):
    """What the tagger marks: characters ``start`` to ``end`` (exclusive) of a text.

    Kinds are ``KINDS``; a model of other kinds (times, say) marks those.
    """

    start: int
    end: int
    kind: str
    certainty: float = 1.0
