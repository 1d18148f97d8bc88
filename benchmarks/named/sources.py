"""Marked sentences: what this project wrote, its slots filled from lists of names."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from qiaocrawl.demo.inventory import load_background, load_frames, load_names
from qiaocrawl.news.names.entity import Kind, default_gazetteers, dictionary_names, foreign_names
from qiaocrawl.news.names.places import gazetteer
from qiaocrawl.news.names.recognition import offices
from qiaocrawl.news.names.training import MarkedText

_SENTENCES = Path(__file__).with_name("sentences.txt")
_BODIES = Path(__file__).with_name("bodies.txt")
_SLOT = re.compile(r"\{(\w+?)\d*\}")
_CHOICE = re.compile(r"\[([^\[\]|]*(?:\|[^\[\]|]*)+)\]")
# What the demo's slots hold; all others are words or numbers.
_DEMO_SLOTS = {
    "person": "P", "country": "C", "abroad": "L", "home": "L", "province": "L", "county": "L",
    "assoc": "O", "school": "O", "company": "O", "org": "O",
}  # fmt: skip
_KIND: dict[str, Kind] = {
    "P": "person", "F": "person", "S": "person", "L": "place", "C": "place", "O": "organisation",
}  # fmt: skip
_LONGEST_NAME, _LONGEST_FOREIGN = 3, 6


class Names:
    """Draws names of every slot.

    Args:
        rng: the source of chance.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        persons, places, bodies = (sorted(dictionary_names()[kind]) for kind in
                                   ("person", "place", "organisation"))  # fmt: skip
        names = load_names()
        self._surnames: list[str] = names["surnames"]
        self._given: list[str] = names["given"]
        letters = sorted({letter for name in self._given for letter in name})
        self._letters = letters
        own = [name for name in gazetteer() if len(name) > 1]
        self._chinese = [name for name in persons if len(name) <= _LONGEST_NAME
                         and name[0] in self._surnames]  # fmt: skip
        self._foreign = [name for name in sorted(foreign_names())
                         if 1 < len(name) <= _LONGEST_FOREIGN]  # fmt: skip
        self._places = [*own, *own, *places]
        self._countries = sorted({place.country for place in gazetteer().values()})
        self._bodies = bodies
        kinds, middles = _BODIES.read_text(encoding="utf-8").partition("\n")[2].split("--")
        self._kinds, self._middles = kinds.split(), middles.split()
        self._known_bodies = default_gazetteers().of_kind("organisation")
        self._offices = sorted(offices())

    def draw(self, slot: str) -> str:
        """A value of *slot*."""
        draws: dict[str, Callable[[], str]] = {
            "P": self._person, "F": self._foreigner, "L": self._place, "C": self._country,
            "O": self._body, "T": lambda: self._rng.choice(self._offices),
            "S": lambda: self._rng.choice(self._surnames),
        }  # fmt: skip
        if slot in draws:
            return draws[slot]()
        return str(self._rng.choice((3, 12, 20, 1998, 2019, 150, "三", "十二", "两", "2.5")))

    def _person(self) -> str:
        chance = self._rng.random()
        if chance < 0.35:
            return self._rng.choice(self._chinese)
        if chance < 0.65:
            return self._rng.choice(self._surnames) + self._rng.choice(self._given)
        return self._rng.choice(self._surnames) + "".join(self._rng.choices(self._letters, k=2))

    def _foreigner(self) -> str:
        name = self._rng.choice(self._foreign)
        if self._rng.random() < 0.2:
            name += "·" + self._rng.choice(self._foreign)
        return name

    def _country(self) -> str:
        return self._rng.choice(self._countries)

    def _place(self) -> str:
        return self._rng.choice(self._places) if self._rng.random() < 0.8 else self._country()

    def _body(self) -> str:
        chance = self._rng.random()
        if chance < 0.3:
            return self._rng.choice(self._known_bodies)
        if chance < 0.5:
            return self._rng.choice(self._bodies)
        start = self._place() if self._rng.random() < 0.7 else ""
        middle = self._rng.choice(self._middles) if not start or self._rng.random() < 0.4 else ""
        return start + middle + self._rng.choice(self._kinds)


def written_texts(count: int, seed: int = 1) -> Iterator[MarkedText]:
    """*count* marked sentences: half of our own, half of the demo's stories."""
    rng = random.Random(seed)
    names = Names(rng)
    ours, demo = _own_sentences(), _demo_sentences()
    for number in range(count):
        yield _filled(rng.choice(demo if number % 3 == 0 else ours), names, rng)


@cache
def _own_sentences() -> list[str]:
    lines = _SENTENCES.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@cache
def _demo_sentences() -> list[str]:
    frames = load_frames()
    lines = {
        line.lstrip("?") for frame in frames for line in (*frame.lines, *frame.titles, *frame.pool)
    }
    return sorted(lines | {line for lines in load_background().values() for line in lines})


def _filled(template: str, names: Names, rng: random.Random) -> MarkedText:
    template = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), template)
    text, spans, at = "", [], 0
    for match in _SLOT.finditer(template):
        text += template[at : match.start()]
        at = match.end()
        slot = _DEMO_SLOTS.get(match[1], match[1])
        value = names.draw(slot)
        if slot in _KIND:
            spans.append((len(text), len(text) + len(value), _KIND[slot]))
        text += value
    text += template[at:]
    return MarkedText(text, tuple(sorted([*spans, *_literal(text, spans)])))


def _literal(text: str, spans: list[tuple[int, int, Kind]]) -> Iterator[tuple[int, int, Kind]]:
    """Known names that stand in the template itself."""
    taken = {at for start, end, _ in spans for at in range(start, end)}
    for start, end, name in default_gazetteers().matches(text):
        if taken.isdisjoint(range(start, end)):
            yield start, end, name.kind
