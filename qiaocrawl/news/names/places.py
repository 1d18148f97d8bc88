"""Counts of articles by the country and the province that the places they name lie in."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from qiaocrawl.text.normalise import to_simplified

# --- Where a named place lies: its country, and in China its province -----------------------------

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


# --- Counts of articles by the country and the province that the places they name lie in ----------

CHINA = "中国"
"""The country whose provinces are counted too."""


@dataclass(frozen=True, slots=True)
class Region:
    """A country, or a province of China.

    Args:
        articles: that name a place in it, each counted once.
        places: the names they have, each with its articles, the most frequent first.
    """

    name: str
    articles: int
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RegionCounts:
    """Where the places of some articles lie; the regions of most articles come first.

    Args:
        articles: that name any place.
        provinces: of China.
        home_only: articles that name China and none of its provinces.
        unplaced: names that no list knows, each with its articles.
        unplaced_articles: that name at least one of these.
    """

    articles: int
    countries: tuple[Region, ...]
    provinces: tuple[Region, ...]
    home_only: int
    unplaced: tuple[tuple[str, int], ...]
    unplaced_articles: int


def count_regions(articles: Iterable[Collection[str]]) -> RegionCounts:
    """Count *articles*, each given as the names of places it has.

    An article that names several places of a region counts once there, and in each region it
    names a place of.
    """
    total = home_only = unplaced_articles = 0
    countries: Counter[str] = Counter()
    provinces: Counter[str] = Counter()
    names: dict[str, Counter[str]] = {}
    unplaced: Counter[str] = Counter()
    for places in map(frozenset, articles):
        total += bool(places)
        own_countries, own_provinces, unknown = set(), set(), set()
        for name in places:
            place = resolve_place(name)
            if place is None:
                unknown.add(name)
                continue
            own_countries.add(place.country)
            # A province is a place of its country too: it stands in both lists of names.
            for region in filter(None, {place.country, place.province}):
                names.setdefault(region, Counter())[name] += 1
            if place.province:
                own_provinces.add(place.province)
        countries.update(own_countries)
        provinces.update(own_provinces)
        home_only += CHINA in own_countries and not own_provinces
        unplaced.update(unknown)
        unplaced_articles += bool(unknown)
    return RegionCounts(
        total,
        _regions(countries, names),
        _regions(provinces, names),
        home_only,
        tuple(_order_counts(unplaced)),
        unplaced_articles,
    )


def _regions(counts: Counter[str], names: Mapping[str, Counter[str]]) -> tuple[Region, ...]:
    return tuple(
        Region(name, articles, tuple(_order_counts(names[name])))
        for name, articles in _order_counts(counts)
    )


def _order_counts(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda own: (-own[1], own[0]))
