"""How much other outlets take from an outlet: what it is listened to for, beside its tier."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from qiaocrawl.language import N_, _
from qiaocrawl.news.spread.publication import outlet_of
from qiaocrawl.news.spread.stored import publications_of
from qiaocrawl.news.spread.tree import spread_figures, spread_tree
from qiaocrawl.news.stories import lists as story_lists
from qiaocrawl.news.stories import texts as story_texts
from qiaocrawl.news.stories.hot import StoryWish, hot_stories

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from qiaocrawl.news.spread.edges import Edge, Evidence, EvidenceKind
    from qiaocrawl.news.spread.publication import ChangeKind, Publication
    from qiaocrawl.news.spread.tree import SpreadFigures, SpreadTree
    from qiaocrawl.news.stories.hot import HotStory, LastDays


@dataclass(frozen=True, slots=True)
class OutletInfluence:
    """What an outlet did in stories, and what became of it.

    Args:
        name: of the outlet; one that is only named as a source is there too, without articles.
        host: of its site; "" for one that is only named.
        tier, region: of its site; None and "" for unknown.
        articles, stories: its own, and the stories they are in.
        firsts: stories of two outlets or more that it surely published first.
        takers: different outlets that took an article from it, directly.
        taken: articles that were taken from it, directly.
        reached: articles taken from it directly or through others.
        borrowed: its own articles that it took from elsewhere.
    """

    name: str
    host: str
    tier: int | None
    region: str
    articles: int
    stories: int
    firsts: int
    takers: int
    taken: int
    reached: int
    borrowed: int


def influence_of(trees: Iterable[SpreadTree]) -> list[OutletInfluence]:
    """Every outlet of the spreads of stories, those that most outlets take from first.

    What an outlet takes from itself, as a portal from its newspaper, counts for nobody.
    """
    desk = _Desk()
    for tree in trees:
        desk.add(tree)
    return desk.outlets()


class _Desk:
    def __init__(self) -> None:
        self._shown: dict[str, str] = {}
        self._sites: dict[str, Publication] = {}
        self._takers: defaultdict[str, set[str]] = defaultdict(set)
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, tree: SpreadTree) -> None:
        """Count the spread of one story."""
        keys = {key: self._note_site(own) for key, own in tree.publications.items()}
        for outlet in set(keys.values()):
            self._counts[outlet]["stories"] += 1
        for key, outlet in keys.items():
            self._counts[outlet]["articles"] += 1
            self._take(tree, keys, key)
        first = tree.first
        if first is not None and not first.alternatives and len(set(keys.values())) > 1:
            self._counts[keys.get(first.key) or self._outlet_of_name(first.outlet)]["firsts"] += 1

    def _take(self, tree: SpreadTree, keys: dict[str, str], key: str) -> None:
        """Count an article for all it came from, directly or through others."""
        taker, seen = keys[key], {keys[key]}
        edge = tree.edges[key]
        giver = self._giver(keys, edge.parent, edge.outside)
        if giver and giver != taker:
            self._counts[taker]["borrowed"] += 1
            self._counts[giver]["taken"] += 1
            self._takers[giver].add(taker)
        while giver:
            if giver not in seen:
                self._counts[giver]["reached"] += 1
            seen.add(giver)
            above = tree.edges.get(edge.parent)
            if above is None:
                return
            edge = above
            giver = self._giver(keys, edge.parent, edge.outside)

    def _giver(self, keys: dict[str, str], parent: str, outside: str) -> str:
        return keys.get(parent, "") or (self._outlet_of_name(outside) if outside else "")

    def _note_site(self, own: Publication) -> str:
        outlet = outlet_of(own.outlet, own.host)
        known = self._sites.get(outlet)
        if known is None or (known.tier is None and own.tier is not None):
            self._sites[outlet] = own
        self._shown[outlet] = self._sites[outlet].name
        return outlet

    def _outlet_of_name(self, name: str) -> str:
        outlet = outlet_of(name)
        self._shown.setdefault(outlet, name)
        return outlet

    def outlets(self) -> list[OutletInfluence]:
        """All that were counted."""
        found = [self._outlet(outlet) for outlet in self._shown]
        return sorted(
            found, key=lambda own: (-own.takers, -own.reached, -own.firsts, -own.articles, own.name)
        )

    def _outlet(self, outlet: str) -> OutletInfluence:
        counts, site = self._counts[outlet], self._sites.get(outlet)
        return OutletInfluence(
            self._shown[outlet],
            site.host if site else "",
            site.tier if site else None,
            site.region if site else "",
            counts["articles"],
            counts["stories"],
            counts["firsts"],
            len(self._takers[outlet]),
            counts["taken"],
            counts["reached"],
            counts["borrowed"],
        )


# --- What evidence and figures of a spread are called, in the language of who reads ---------------

_EVIDENCE: Mapping[EvidenceKind, str] = {
    "source_link": N_("its source line leads there"),
    "source": N_("its source line names “{value}”"),
    "credit": N_("its text credits “{value}”"),
    "link": N_("its text links there"),
    "text": N_("{value} of the text is the same"),
    "earlier": N_("{value} later"),
    "later": N_("though dated {value} earlier"),
    "own": N_("its source line names itself"),
}
CHANGES: Mapping[ChangeKind, str] = {
    "corrected": N_("corrected"),
    "deleted": N_("deleted"),
    "restored": N_("restored"),
}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def evidence_text(evidence: Evidence) -> str:
    """One thing that speaks for an edge."""
    value = evidence.value
    if evidence.kind in ("earlier", "later"):
        value = duration(float(value))
    return _(_EVIDENCE[evidence.kind], value=value)


def edge_text(edge: Edge) -> str:
    """All that speaks for an edge; that it is unknown where nothing does."""
    if not edge.evidence:
        return _("origin unknown")
    return _("; ").join(evidence_text(evidence) for evidence in edge.evidence)


def duration(seconds: float) -> str:
    """How long something took, in its two largest units."""
    whole = round(seconds)
    if whole < _MINUTE:
        return _("less than a minute")
    if whole < _HOUR:
        return _("{minutes} min", minutes=whole // _MINUTE)
    if whole < _DAY:
        return _("{hours} h {minutes} min", hours=whole // _HOUR, minutes=whole % _HOUR // _MINUTE)
    return _("{days} d {hours} h", days=whole // _DAY, hours=whole % _DAY // _HOUR)


def tier_name(tier: int | None) -> str:
    """What a tier is called."""
    return _("tier {tier}", tier=tier) if tier is not None else _("tier unknown")


# --- What outlets are listened to for, over the stored stories of a topic -------------------------

_MOST_STORIES = 20_000
_AT_A_TIME = 200


def outlet_influence(
    c: Connection, topic: str, since: datetime, before: datetime | None = None
) -> list[OutletInfluence]:
    """Every outlet of the stories that have something new since the aware moment *since*.

    Args:
        before: of stories that were told of between both, by date of publication; None for those
            that something was stored of since.

    Raises:
        StorageError: the topic was never imported.
    """
    lines = story_lists.list_stories(
        c,
        topic_name=topic,
        since_minute=int(since.timestamp() // 60),
        published=None if before is None else (since, before),
        least_articles=1,
        limit=_MOST_STORIES,
    )
    return influence_of(_trees(c, topic, [line.id for line in lines]))


def _trees(c: Connection, topic: str, numbers: list[int]) -> Iterator[SpreadTree]:
    for start in range(0, len(numbers), _AT_A_TIME):
        texts = story_texts.texts_of(c, numbers[start : start + _AT_A_TIME], topic)
        for own in texts.values():
            if publications := publications_of(c, [text.article_id for text in own], topic):
                yield spread_tree(publications)


# --- How far and how fast the events went that most outlets took up -------------------------------


@dataclass(frozen=True, slots=True)
class EventSpread:
    """An event, and how far and how fast it went."""

    story: HotStory
    figures: SpreadFigures

    @property
    def half(self) -> str:
        """In which time half of its articles were out; "" where that is not known."""
        seconds = self.figures.half_seconds
        return "" if seconds is None else duration(seconds)


def event_spreads(c: Connection, topic: str, period: LastDays, most: int) -> list[EventSpread]:
    """Of at most *most* events of several outlets that something came to in *period*."""
    stories = hot_stories(c, period, StoryWish(topic, least=2, limit=most, with_round_ups=True))
    texts = story_texts.texts_of(c, [story.id for story in stories], topic)
    found = []
    for story in stories:
        ids = [text.article_id for text in texts.get(story.id, ())]
        tree = spread_tree(publications_of(c, ids, topic))
        found.append(EventSpread(story, spread_figures(tree)))
    return found
