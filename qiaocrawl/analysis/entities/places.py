"""Where a named place lies: its country, and in China its province."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from qiaocrawl.text.normalise import to_simplified

_HOME = "中国"
# A province or city without these is the same; 沙市 and 中山市 need theirs.
_ENDS = re.compile("(?:(?:壮族|回族|维吾尔)?自治区|特别行政区|自治[州县]|省|市|州|县|区|地区|盟)$")
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the gazetteer.

    Args:
        name: the one it goes by (福建 of 福建省).
        country: in Chinese.
        province: of China; "" elsewhere, and of the country as a whole.
    """

    name: str
    country: str
    province: str = ""


def resolve_place(name: str) -> Place | None:
    """What the gazetteer knows of *name*, in either script; None of what it does not.

    >>> resolve_place("泉州市")
    Place(name='泉州', country='中国', province='福建')
    """
    known, name = gazetteer(), to_simplified(name)
    if place := known.get(name):
        return place
    stem = _ENDS.sub("", name)
    if len(stem) >= _SHORTEST and (place := known.get(stem)):
        return place
    return _by_first_part(name)


def _by_first_part(name: str) -> Place | None:
    """福建省泉州市丰泽区 lies where the longest known part that it begins with lies."""
    known = gazetteer()
    lies_in: Place | None = None
    rest = name
    while rest:
        for end in range(len(rest) - 1, 1, -1):
            if place := known.get(rest[:end]):
                lies_in = place
                rest = rest[end:].lstrip("省市州县区")
                break
        else:
            break
    return lies_in and Place(name, lies_in.country, lies_in.province)


@cache
def gazetteer() -> Mapping[str, Place]:
    """Every name with its place."""
    file = resources.files(__package__).joinpath("data", "places.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    places: dict[str, Place] = {}
    # Of a name that two regions have the first counts; countries come first.
    for table, in_china in (("countries", False), ("provinces", True)):
        for region, names in tables[table].items():
            also = tables["also"].get(region, "")
            for name, place in _places_of(region, names, also, in_china):
                places.setdefault(name, place)
    return places


def _places_of(region: str, names: str, also: str, in_china: bool) -> Iterator[tuple[str, Place]]:
    """The region by all its names, and the places in it."""
    whole = Place(region, _HOME, region) if in_china else Place(region, region)
    yield region, whole
    yield from ((name, whole) for name in also.split())
    for name in names.split():
        stem = _ENDS.sub("", name)
        own_name = stem if len(stem) >= _SHORTEST else name
        yield name, Place(own_name, whole.country, whole.province)
