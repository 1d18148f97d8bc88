"""Whom and what stored articles name, and where the places lie; as `analyse` has read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from qiaocrawl.analysis.entities.places import resolve_place
from qiaocrawl.analysis.place_map import RegionCounts, count_regions
from qiaocrawl.storage.analysis.names import names_of_articles
from qiaocrawl.storage.converters import from_time
from qiaocrawl.storage.export.choice import Selection, article_conditions, published
from qiaocrawl.storage.export.listing import OutletNames
from qiaocrawl.storage.schema import article, story_article
from qiaocrawl.text.zones import SHANGHAI


class Named(NamedTuple):
    """A name of some articles.

    Args:
        kind: person, place, organisation.
        lies_in: country and province of a place; "" where unknown, and of anything else.
        first, last: days in China on which it was named.
    """

    kind: str
    name: str
    lies_in: str
    articles: int
    outlets: int
    first: date
    last: date


class NamedOfTopic(NamedTuple):
    """What is named in most articles comes first."""

    names: list[Named]
    regions: RegionCounts


@dataclass(slots=True)
class _Tally:
    days: list[date] = field(default_factory=list)
    outlets: set[str] = field(default_factory=set)


def regions_of(c: Connection, url_ids: Sequence[int]) -> RegionCounts:
    """Where the places lie that these articles name."""
    return _regions(names_of_articles(c, url_ids))


def regions_of_story(c: Connection, number: int) -> RegionCounts:
    """Where the places lie that the articles of a story name."""
    own = select(story_article.c.url_id).where(story_article.c.story_id == number)
    return regions_of(c, c.execute(own).scalars().all())


def named_of_topic(c: Connection, topic: str, stretch: tuple[datetime, datetime]) -> NamedOfTopic:
    """Of all articles on topic from the first aware moment of *stretch* up to the second.

    Raises:
        StorageError: the topic was never imported.
    """
    since, before = stretch
    chosen = Selection(topic=topic, only_relevant=True, since=since, before=before)
    statement = select(article.c.url_id, article.c.site, published)
    rows = c.execute(statement.where(*article_conditions(c, chosen))).all()
    named = names_of_articles(c, [row[0] for row in rows])
    outlets = OutletNames(c, topic)
    tallies: dict[tuple[str, str], _Tally] = {}
    for url_id, site, stored in rows:
        at = from_time(stored)
        assert at is not None, "every article was fetched some time"
        for key in named.get(url_id, ()):
            tally = tallies.setdefault(key, _Tally())
            tally.days.append(at.astimezone(SHANGHAI).date())
            tally.outlets.add(outlets.of(site).key)
    names = [
        Named(kind, name, _lies_in(kind, name), len(own.days), len(own.outlets), min(own.days),
              max(own.days))
        for (kind, name), own in tallies.items()
    ]  # fmt: skip
    names.sort(key=lambda own: (-own.articles, -own.outlets, own.kind, own.name))
    return NamedOfTopic(names, _regions(named))


def _regions(named: dict[int, list[tuple[str, str]]]) -> RegionCounts:
    return count_regions([name for kind, name in own if kind == "place"] for own in named.values())


def _lies_in(kind: str, name: str) -> str:
    place = resolve_place(name) if kind == "place" else None
    return " ".join(filter(None, (place.country, place.province))) if place else ""
