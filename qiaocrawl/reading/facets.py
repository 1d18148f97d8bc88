"""How many articles of a list have each value of its facets, counted within bounds.

A value's count is that of the list one gets by choosing it: of several sites, regions, tiers,
media or groups of words one must be met, so the count beside a site leaves the chosen sites out of
account. At most ``MOST_FACETED`` articles are looked at for each list; of more the counts are lower
bounds. Those articles are found as lists find them (``pages_of_a_list.py``), by an index in their
order.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, select

from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.schema import site, topic
from qiaocrawl.storage.selection import JUDGED, MARKS, REPRINT, UNJUDGED, Selection
from qiaocrawl.storage.sites.media import OutletMedia
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.topics.word_groups import group_names, hits_among
from qiaocrawl.topic.media import MEDIA as MEDIA_NAMES

MOST_FACETED = 10_000
"""So many articles of a list are looked at."""
TOPICS, SITES, REGIONS, TIERS = "topic", "site", "region", "tier"
RELEVANCE, STATUS, GROUPS = "relevance", "status", "group"
MEDIA = "medium"
RELEVANT, IRRELEVANT, EITHER = "yes", "no", "any"
_MOST_TOPICS = 20


@dataclass(frozen=True, slots=True)
class Count:
    """So many rows of a list; ``is_more``: at least so many."""

    rows: int
    is_more: bool


Counts = Mapping[str, Count]
"""By value."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The counts of a list.

    Attributes:
        counts: by facet, then by value; a facet for which the time did not suffice is not there.
        outlets: what the counted sites are called.
    """

    counts: Mapping[str, Counts]
    outlets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Found:
    """Rows of a list: articles, or reprint groups where it is folded.

    Attributes:
        articles: row id of each with the row it is.
        reprints: row ids of those that have the text of another.
        below: rows on a host or below it, for each host.
        on_site: rows on each site.
    """

    rows: set[int]
    articles: Mapping[int, int]
    reprints: Collection[int]
    below: Mapping[str, set[int]]
    on_site: Mapping[str, set[int]]
    is_more: bool

    @property
    def sites(self) -> Collection[str]:
        """The sites that have some."""
        return self.on_site.keys()

    def count(self, hosts: Iterable[str] | None = None) -> Count:
        """Of the sites at *hosts* and below them; of all for None."""
        rows = (
            self.rows
            if hosts is None
            else set[int]().union(*(self.below.get(host, ()) for host in hosts))
        )
        return Count(len(rows), self.is_more)

    def count_on(self, sites: Iterable[str]) -> Count:
        """Of exactly these sites."""
        return Count(len(set[int]().union(*(self.on_site[site] for site in sites))), self.is_more)

    def count_of(self, articles: Iterable[int]) -> Count:
        """Of these of its articles."""
        return Count(len({self.articles[row_id] for row_id in articles}), self.is_more)


@dataclass(slots=True)
class FacetCounter:
    """Counts for one selection.

    Args:
        folded: a reprint group is one row.
        is_part: the selection names only some of the articles that are meant.
        seconds: no facet is begun after that.
    """

    c: Connection
    selection: Selection
    folded: bool = True
    is_part: bool = False
    seconds: float = 1.5
    _lists: dict[Selection, _Found] = field(default_factory=dict)

    def facets(self) -> Facets:
        """All facets that can be counted in time, the cheapest first.

        Raises:
            StorageError: the selection's topic was never imported.
        """
        end = time.monotonic() + self.seconds
        names = OutletNames(self.c, self.selection.topic)
        on_sites = self._found(replace(self.selection, sites=()))
        outlets = {outlet.key: outlet.name for outlet in map(names.of, on_sites.sites)}
        counts: dict[str, Counts] = {
            SITES: {key: on_sites.count([key]) for key in (*outlets, *self.selection.sites)}
        }
        for facet, count in (
            (REGIONS, self._regions),
            (TIERS, self._tiers),
            (MEDIA, self._media),
            (GROUPS, self._groups),
            (RELEVANCE, self._relevance),
            (TOPICS, self._topics),
            (STATUS, self._status),
        ):
            if time.monotonic() < end:
                counts[facet] = count()
        return Facets(counts, outlets)

    def _regions(self) -> Counts:
        tiers = self.selection.tiers
        hosts = self._hosts(
            (region, host)
            for host, region, tier in self._outlets()
            if region and (not tiers or tier in tiers)
        )
        found = self._found(replace(self.selection, regions=()))
        return {region: found.count(hosts[region]) for region in hosts}

    def _tiers(self) -> Counts:
        regions = self.selection.regions
        hosts = self._hosts(
            (str(tier), host)
            for host, region, tier in self._outlets()
            if not regions or region in regions
        )
        found = self._found(replace(self.selection, tiers=()))
        return {tier: found.count(hosts[tier]) for tier in sorted(hosts)}

    def _media(self) -> Counts:
        found = self._found(replace(self.selection, media=()))
        media = OutletMedia(self.c, self.selection.topic)
        hosts: dict[str, set[str]] = {}
        for host in found.sites:
            hosts.setdefault(media.of(host).kind, set()).add(host)
        return {kind: found.count_on(own) for kind in MEDIA_NAMES if (own := hosts.get(kind))}

    def _groups(self) -> Counts:
        """Of groups of words, as far as articles are marked with them."""
        names = group_names(self.c, self.selection.topic)
        if not names:
            return {}
        found = self._found(replace(self.selection, groups=()))
        touched: dict[str, set[int]] = {name: set() for name in names}
        for name, row_id in hits_among(self.c, self.selection.topic, sorted(found.articles)):
            touched[name].add(row_id)
        return {name: found.count_of(own) for name, own in touched.items()}

    def _outlets(self) -> list[tuple[str, str, int]]:
        """Host, region and tier of the sites that the topic names, or any does."""
        statement = select(site.c.host, site.c.region, site.c.tier)
        if self.selection.topic is not None:
            statement = statement.where(site.c.topic_id == topic_id(self.c, self.selection.topic))
        return [tuple(row) for row in self.c.execute(statement)]

    @staticmethod
    def _hosts(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
        hosts: dict[str, set[str]] = {}
        for value, host in pairs:
            hosts.setdefault(value, set()).add(host.removeprefix("www."))
        return hosts

    def _relevance(self) -> Counts:
        return {
            value: self._count(
                replace(
                    self.selection,
                    only_relevant=value == RELEVANT,
                    only_irrelevant=value == IRRELEVANT,
                )
            )
            for value in (RELEVANT, IRRELEVANT, EITHER)
        }

    def _topics(self) -> Counts:
        names = self.c.execute(select(topic.c.name).order_by(topic.c.name).limit(_MOST_TOPICS))
        return {
            name: self._count(replace(self.selection, topic=name)) for name in names.scalars().all()
        }

    def _status(self) -> Counts:
        """Reprints, and what nobody judged, among those of the list; other marks have an index."""
        plain = self._found(replace(self.selection, marks=()))
        judged = self._found(replace(self.selection, marks=(JUDGED,)))
        counts = {JUDGED: judged.count(), REPRINT: plain.count_of(plain.reprints)}
        if not judged.is_more:
            counts[UNJUDGED] = plain.count_of(plain.articles.keys() - judged.articles.keys())
        return {
            mark: counts.get(mark) or self._count(replace(self.selection, marks=(mark,)))
            for mark in MARKS
        }

    def _count(self, selection: Selection) -> Count:
        """How many rows *selection* has, counted by the database where nobody asks where."""
        if selection in self._lists:
            return self._lists[selection].count()
        articles, groups = article_list.count_first(self.c, selection, MOST_FACETED)
        rows = min(groups if self.folded else articles, MOST_FACETED)
        return Count(rows, self.is_part or articles > MOST_FACETED)

    def _found(self, selection: Selection) -> _Found:
        """The rows of *selection*, looked for once."""
        if selection not in self._lists:
            self._lists[selection] = self._look_for(selection)
        return self._lists[selection]

    def _look_for(self, selection: Selection) -> _Found:
        places = article_list.first_places(self.c, selection, MOST_FACETED)
        shown = places[:MOST_FACETED]
        reprints = {row_id for row_id, _host, group in shown if row_id != group}
        articles = {row_id: group if self.folded else row_id for row_id, _host, group in shown}
        on_site: dict[str, set[int]] = {}
        for row_id, host, _group in shown:
            on_site.setdefault(host, set()).add(articles[row_id])
        below: dict[str, set[int]] = {}
        for host, rows in on_site.items():
            while host:
                below.setdefault(host, set()).update(rows)
                host = host.partition(".")[2]
        is_more = self.is_part or len(places) > MOST_FACETED
        return _Found(set(articles.values()), articles, reprints, below, on_site, is_more)
