"""Counts of articles by the country and the province that the places they name lie in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from qiaocrawl.analysis.entities.places import resolve_place

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
        total, _regions(countries, names), _regions(provinces, names), home_only,
        tuple(_ordered(unplaced)), unplaced_articles,
    )  # fmt: skip


def _regions(counts: Counter[str], names: Mapping[str, Counter[str]]) -> tuple[Region, ...]:
    return tuple(Region(name, articles, tuple(_ordered(names[name])))
                 for name, articles in _ordered(counts))  # fmt: skip


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda own: (-own[1], own[0]))
