"""Names that need no guessing: of a topic pack, of public bodies, of places."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from qiaocrawl.analysis.entities.entity import Kind
from qiaocrawl.analysis.entities.names import NameList
from qiaocrawl.analysis.entities.places import gazetteer

if TYPE_CHECKING:
    from qiaocrawl.topic.pack import TopicPack

_TERM_KINDS: Mapping[str, Kind] = {
    "person": "person", "place": "place", "organisation": "organisation",
}  # fmt: skip


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

    def joined(self, names: Mapping[str, KnownName]) -> Gazetteers:
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
    return known.joined({**terms, **aliases})


def _bodies() -> dict[str, KnownName]:
    file = resources.files(__package__).joinpath("data", "bodies.toml")
    bodies = tomllib.loads(file.read_text(encoding="utf-8"))["bodies"]
    return {
        name: KnownName("organisation", full)
        for full, names in bodies.items()
        for name in (full, *names)
    }
