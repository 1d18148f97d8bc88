"""The persons, places and organisations of an article."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, cast

from qiaocrawl.analysis.entities.entity import Entity, Span
from qiaocrawl.analysis.entities.features import word_columns
from qiaocrawl.analysis.entities.model import read_model
from qiaocrawl.analysis.entities.offices import public_persons
from qiaocrawl.analysis.entities.places import resolve_place
from qiaocrawl.analysis.entities.tagger import Tagger, simplified
from qiaocrawl.lexicon.expansion import aliases, is_abbreviation

if TYPE_CHECKING:
    from qiaocrawl.analysis.entities.entity import Kind
    from qiaocrawl.analysis.entities.gazetteers import Gazetteers, KnownName

_MODEL = "tagger.npz.xz"
_PEOPLE = re.compile(".(?:华人|华侨|华裔|侨胞|侨界|侨民)$")


def entities_of(
    title: str,
    text: str,
    gazetteers: Gazetteers | None = None,
    *,
    tagger: Tagger | None = None,
    all_persons: bool = False,
) -> tuple[Entity, ...]:
    """What an article names, in the order of the text.

    Positions count in *title*, one line end and *text*. Persons are those that act in public office
    or as authors. Normal forms are in simplified characters, whatever the article is in.

    Args:
        gazetteers: known names; None: those that come along.
        tagger: an office's own; None: the one that comes along.
        all_persons: also those without a title, to measure by.
    """
    if gazetteers is None:
        from qiaocrawl.analysis.entities.gazetteers import default_gazetteers

        gazetteers = default_gazetteers()
    written = f"{title}\n{text}"
    whole = simplified(written)
    spans = (tagger or default_tagger()).tag(whole)
    known = dict(_whole_words(whole, gazetteers.matches(whole)))
    spans = [span for span in _merged(spans, known) if span in known or not _is_people(whole, span)]
    persons = [span for span in spans if span.kind == "person"]
    public = public_persons(whole, persons)
    if all_persons:
        public = {span: whole[span.start : span.end] for span in persons} | public
    stated = _stated_names(whole)
    return tuple(
        replace(
            _entity(whole, span, public, known.get(span), stated),
            text=written[span.start : span.end],
        )
        for span in spans
        if span.kind != "person" or span in public or span in known
    )


@cache
def default_tagger() -> Tagger:
    """The tagger that comes along."""
    file = resources.files(__package__).joinpath("data", _MODEL)
    return Tagger(read_model(file.read_bytes(), _MODEL))


def _whole_words(
    text: str, matches: Iterable[tuple[int, int, KnownName]]
) -> Iterator[tuple[Span, KnownName]]:
    """The *matches* that begin and end where words do: 中大 of 中大奖 is none."""
    places = word_columns(text)[2]
    for start, end, name in matches:
        if places[start] in (1, 4) and places[end - 1] in (3, 4):
            yield Span(start, end, name.kind), name


def _merged(spans: Iterable[Span], known: Iterable[Span]) -> list[Span]:
    """*spans* and *known* ones; of two that overlap the longer, of equal ones the known."""
    kept: list[Span] = []
    taken: set[int] = set()
    known = set(known)
    for span in sorted(
        {*spans, *known}, key=lambda span: (span.start - span.end, span not in known)
    ):
        letters = range(span.start, span.end)
        if taken.isdisjoint(letters):
            kept.append(span)
            taken.update(letters)
    return sorted(kept)


def _is_people(text: str, span: Span) -> bool:
    """Whether what was taken for a place are those who live there (法国华人)."""
    return span.kind == "place" and _PEOPLE.search(text[span.start : span.end]) is not None


def _entity(
    text: str,
    span: Span,
    public: dict[Span, str],
    known: KnownName | None,
    stated: dict[str, str],
) -> Entity:
    name = text[span.start : span.end]
    if known is not None:
        normal = known.normal_form
    elif span.kind == "person":
        normal = public[span]
    elif span.kind == "place":
        place = resolve_place(name)
        normal = place.name if place else name
    else:
        normal = stated.get(name, name)
    kind = cast("Kind", span.kind)
    return Entity(kind, name, normal, span.start, span.end, span.certainty)


def _stated_names(text: str) -> dict[str, str]:
    """Short names with the full ones that *text* says they stand for."""
    names: dict[str, str] = {}
    for alias in aliases([text]):
        short, full = sorted((alias.name, alias.alias), key=len)
        if alias.kind == "short" or is_abbreviation(short, full):
            names.setdefault(short, full)
    return names
