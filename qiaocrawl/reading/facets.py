"""How many articles of a list have each value of its facets, counted within bounds.

Of a large collection the columns that are kept of all articles are counted
(``article_columns.py``), whole and at once, wherever they know what was chosen; of a small one,
and of what they do not know, the articles of the list are looked at. Both count alike.

A value's count is that of the list one gets by choosing it: of several sites, regions, tiers,
media or groups of words one must be met, so the count beside a site leaves the chosen sites out of
account. At most ``MOST_FACETED`` articles are looked at for each list; of more the counts are lower
bounds. Those articles are found as lists find them (``pages_of_a_list.py``), by an index in their
order.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from qiaocrawl.reading import pages_of_a_list as article_list
from qiaocrawl.reading.listing import OutletNames
from qiaocrawl.storage.schema import site, topic
from qiaocrawl.storage.selection import (
    JUDGED,
    MARKS,
    REPRINT,
    UNJUDGED,
    Selection,
    chosen_sites,
)
from qiaocrawl.storage.sites.media import OutletMedia
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.topics.word_groups import group_names, hits_among
from qiaocrawl.topic.media import MEDIA as MEDIA_NAMES

if TYPE_CHECKING:
    from qiaocrawl.reading.article_columns import ArticleColumns, Counting, Mask

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
        columns: of all articles, where they are kept.
    """

    c: Connection
    selection: Selection
    folded: bool = True
    is_part: bool = False
    seconds: float = 1.5
    columns: ArticleColumns | None = None
    _lists: dict[Selection, _Found] = field(default_factory=dict)
    _masks: dict[Selection, Mask | None] = field(default_factory=dict)

    def facets(self) -> Facets:
        """All facets that can be counted in time, the cheapest first.

        Raises:
            StorageError: the selection's topic was never imported.
        """
        if self.columns is not None:
            with self.columns.of_now(self.c) as counting:
                kept = None if counting is None else self._kept(counting)
            if kept is not None:
                return kept
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

    # --- Counted in the columns of all articles ---------------------------------------------------

    def _kept(self, counting: Counting) -> Facets | None:
        """All facets; None where the columns do not know all of the selection."""
        selection = self.selection
        base = counting.mask(replace(selection, sites=(), regions=(), tiers=(), media=()))
        if base is None:
            return None
        on_sites = self._on_sites(counting, base, sites=())
        names, media = OutletNames(self.c, selection.topic), OutletMedia(self.c, selection.topic)
        outlets = {own.key: own.name for own in map(names.of, counting.sites_of(on_sites))}
        keys = {*outlets, *selection.sites}
        by_site = self._labelled(counting, on_sites, {key: (key,) for key in keys})
        regions = self._on_sites(counting, base, regions=())
        tiers = self._on_sites(counting, base, tiers=())
        own_media = self._on_sites(counting, base, media=())
        by_tier = self._labelled(counting, tiers, _labels(self._tier_hosts()))
        counts: dict[str, Counts] = {
            SITES: {key: by_site.get(key, Count(0, self.is_part)) for key in keys},
            REGIONS: self._labelled(counting, regions, _labels(self._region_hosts())),
            TIERS: dict(sorted(by_tier.items())),
            MEDIA: self._of_media(counting, own_media, media),
            RELEVANCE: {},
            TOPICS: {},
            STATUS: {},
        }
        if group_names(self.c, selection.topic):
            counts[GROUPS] = self._groups()
        for facet, value, chosen in self._others():
            mask = counting.mask(replace(chosen, sites=(), regions=(), tiers=(), media=()))
            if mask is None:
                # More have the mark than are read for a count.
                own = self._count(chosen)
            else:
                rows = counting.rows(
                    self._on_sites(counting, mask, topic=chosen.topic), folded=self.folded
                )
                own = Count(rows, self.is_part)
            counts[facet] = {**counts[facet], value: own}
        return Facets(counts, outlets)

    def _others(self) -> Iterator[tuple[str, str, Selection]]:
        """Facet, value and selection of what is no matter of sites."""
        for value in (RELEVANT, IRRELEVANT, EITHER):
            yield RELEVANCE, value, self._of_relevance(value)
        for name in self._topic_names():
            yield TOPICS, name, replace(self.selection, topic=name)
        for mark in MARKS:
            yield STATUS, mark, replace(self.selection, marks=(mark,))

    def _on_sites(self, counting: Counting, mask: Mask, **changes: Any) -> Mask:
        """Those of *mask* on the sites that are chosen, with *changes* of the choice."""
        selection = self.selection
        choice = Selection(
            selection.topic,
            sites=selection.sites,
            regions=selection.regions,
            tiers=selection.tiers,
            media=selection.media,
        )
        wanted = replace(choice, **changes)
        if wanted not in self._masks:
            chosen = chosen_sites(self.c, wanted, counting.sites)
            on = None if chosen is None else counting.on(set(chosen).__contains__)
            self._masks[wanted] = on
        own = self._masks[wanted]
        return mask if own is None else mask & own

    def _labelled(
        self, counting: Counting, mask: Mask, labels_of_host: Mapping[str, Collection[str]]
    ) -> dict[str, Count]:
        found = counting.rows_by_label(mask, labels_of_host, folded=self.folded)
        return {label: Count(rows, self.is_part) for label, rows in found.items()}

    def _of_media(self, counting: Counting, mask: Mask, media: OutletMedia) -> Counts:
        # Of each site by itself: it need not be of the kind of the host above it.
        found = counting.rows_by_site_label(
            mask, lambda site: media.of(site).kind, folded=self.folded
        )
        return {kind: Count(found[kind], self.is_part) for kind in MEDIA_NAMES if kind in found}

    # --- Looked at, article by article ------------------------------------------------------------

    def _regions(self) -> Counts:
        hosts = self._region_hosts()
        found = self._found(replace(self.selection, regions=()))
        return {region: found.count(hosts[region]) for region in hosts}

    def _region_hosts(self) -> dict[str, set[str]]:
        tiers = self.selection.tiers
        return self._hosts(
            (region, host)
            for host, region, tier in self._outlets()
            if region and (not tiers or tier in tiers)
        )

    def _tier_hosts(self) -> dict[str, set[str]]:
        regions = self.selection.regions
        return self._hosts(
            (str(tier), host)
            for host, region, tier in self._outlets()
            if not regions or region in regions
        )

    def _tiers(self) -> Counts:
        hosts = self._tier_hosts()
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
            value: self._count(self._of_relevance(value))
            for value in (RELEVANT, IRRELEVANT, EITHER)
        }

    def _of_relevance(self, value: str) -> Selection:
        return replace(
            self.selection,
            only_relevant=value == RELEVANT,
            only_irrelevant=value == IRRELEVANT,
        )

    def _topic_names(self) -> Sequence[str]:
        names = self.c.execute(select(topic.c.name).order_by(topic.c.name).limit(_MOST_TOPICS))
        return names.scalars().all()

    def _topics(self) -> Counts:
        return {
            name: self._count(replace(self.selection, topic=name)) for name in self._topic_names()
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


def _labels(hosts: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
    """Which labels each host has."""
    of_host: dict[str, set[str]] = {}
    for label, own in hosts.items():
        for host in own:
            of_host.setdefault(host, set()).add(label)
    return of_host
