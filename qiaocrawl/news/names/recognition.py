"""The persons, places and organisations of an article."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, cast

from qiaocrawl.lexicon.expansion import aliases, is_abbreviation
from qiaocrawl.news.names.entity import Entity, Span
from qiaocrawl.news.names.features import word_columns
from qiaocrawl.news.names.places import resolve_place
from qiaocrawl.news.names.tagger import Tagger, read_model, simplify

if TYPE_CHECKING:
    from qiaocrawl.news.names.entity import Gazetteers, Kind, KnownName

# --- Who of the persons named acts in public: those with a title of office, and authors -----------

_REACH = 14
# All that stands between a title and a name: 会长、侨领陈某, 陈某(会长).
_BETWEEN = '[ 　、（(：:“”"]{0,2}'


def public_persons(text: str, persons: Sequence[Span]) -> dict[Span, str]:
    """Of *persons* marked in *text* those that act in public, with the name each goes by.

    A title beside one mention makes all mentions of that name public. A mention by surname and
    title (陈会长) goes by the one full name of that surname, where there is one.
    """
    titled = {_name(text, span) for span in persons if has_title(text, span.start, span.end)}
    full = {name for name in titled if len(name) > 1}
    public = {}
    for span in persons:
        name = _name(text, span)
        if len(name) == 1:
            bearers = [other for other in full if other.startswith(name)]
            if len(bearers) == 1 and name in titled:
                public[span] = bearers[0]
        elif name in titled:
            public[span] = name
    return public


def has_title(text: str, start: int, end: int) -> bool:
    """Whether the name at *start* to *end* stands beside a title of office."""
    before, behind = _patterns()
    return bool(
        before.search(text, max(0, start - _REACH), start) or behind.match(text, end, end + _REACH)
    )


def _name(text: str, span: Span) -> str:
    return re.sub(r"\s", "", text[span.start : span.end])


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    titles = "|".join(sorted(map(re.escape, offices()), key=len, reverse=True))
    # 主席X和Y: the second of two names shares the title.
    shared = "(?:[\\w·]{2,4}[和、及与])?"
    return (
        re.compile(f"(?:{titles}){_BETWEEN}{shared}$"),
        re.compile(f"{_BETWEEN}(?:{titles})(?!们)"),
    )


@cache
def offices() -> frozenset[str]:
    """The titles of office that come along."""
    file = resources.files(__package__).joinpath("data", "offices.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


# --- The persons, places and organisations of an article ------------------------------------------

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
        from qiaocrawl.news.names.entity import default_gazetteers

        gazetteers = default_gazetteers()
    written = f"{title}\n{text}"
    whole = simplify(written)
    spans = (tagger or default_tagger()).tag(whole)
    known = dict(_whole_words(whole, gazetteers.matches(whole)))
    spans = [
        span for span in _merge_spans(spans, known) if span in known or not _is_people(whole, span)
    ]
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


def _merge_spans(spans: Iterable[Span], known: Iterable[Span]) -> list[Span]:
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
