"""Names that need no guessing: of a topic pack, of public bodies, of places."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from qiaocrawl.news.names.places import gazetteer
from qiaocrawl.vsm.terms import tagged_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qiaocrawl.topic.pack import TopicPack

# --- The records of named things ------------------------------------------------------------------

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


# --- Lists of names, found in a text: the longest that begins at a character and overlaps no
# other

_LONGEST_SHOWN = 6
# What jieba's dictionary says a word is; nrt are foreign names.
_TAGS: Mapping[str, Kind] = {
    "nr": "person",
    "nrt": "person",
    "nrfg": "person",
    "ns": "place",
    "nt": "organisation",
}


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
    for word, tag in tagged_words():
        if kind := _TAGS.get(tag):
            names[kind].add(word)
    return names


def foreign_names() -> set[str]:
    """Names of persons that its dictionary holds as foreign ones."""
    return {word for word, tag in tagged_words() if tag == "nrt"}


# --- Names that need no guessing: of a topic pack, of public bodies, of places --------------------

_TERM_KINDS: Mapping[str, Kind] = {
    "person": "person",
    "place": "place",
    "organisation": "organisation",
}


class KnownName(NamedTuple):
    """What a name stands for."""

    kind: Kind
    normal_form: str


class Gazetteers:
    """Known names, to be found in texts.

    Args:
        names: by their spelling; a later mapping wins.
    """

    def __init__(self, *names: Mapping[str, KnownName]) -> None:
        self._names: dict[str, KnownName] = {}
        for mapping in names:
            self._names.update(mapping)
        self._list = NameList(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def get(self, name: str) -> KnownName | None:
        """What *name* stands for; None of an unknown one."""
        return self._names.get(name)

    def of_kind(self, kind: Kind) -> list[str]:
        """The names of one kind, sorted."""
        return sorted(name for name, known in self._names.items() if known.kind == kind)

    def matches(self, text: str) -> Iterator[tuple[int, int, KnownName]]:
        """Start, end and meaning of the known names in *text*, the longest at each place."""
        for start, end in self._list.matches(text):
            yield start, end, self._names[text[start:end]]

    def with_names(self, names: Mapping[str, KnownName]) -> Gazetteers:
        """These and *names*, which win."""
        return Gazetteers(self._names, names)


@cache
def default_gazetteers() -> Gazetteers:
    """Those that come along: public bodies and places."""
    return Gazetteers(
        {name: KnownName("place", place.name) for name, place in gazetteer().items()},
        _bodies(),
    )


def gazetteers_of(pack: TopicPack, more: Mapping[str, Iterable[str]] | None = None) -> Gazetteers:
    """Those that come along and the persons, places and organisations of *pack*.

    Args:
        more: organisations by their full name with other names, of an ontology or of an office.
    """
    known = default_gazetteers()
    terms = {}
    for term in pack.terms:
        kind = _TERM_KINDS.get(term.kind)
        if kind and (known.get(term.text) is None):
            terms[term.text] = KnownName(kind, term.text)
    aliases = {
        name: KnownName("organisation", full)
        for full, names in (more or {}).items()
        for name in (full, *names)
    }
    return known.with_names({**terms, **aliases})


def _bodies() -> dict[str, KnownName]:
    file = resources.files(__package__).joinpath("data", "bodies.toml")
    bodies = tomllib.loads(file.read_text(encoding="utf-8"))["bodies"]
    return {
        name: KnownName("organisation", full)
        for full, names in bodies.items()
        for name in (full, *names)
    }
