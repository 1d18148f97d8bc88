"""How much other outlets take from an outlet: what it is listened to for, beside its tier."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qiaocrawl.analysis.spread.outlets import outlet_of

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.publication import Publication
    from qiaocrawl.analysis.spread.tree import SpreadTree


@dataclass(frozen=True, slots=True)
class OutletInfluence:
    """What an outlet did in stories, and what became of it.

    Args:
        name: of the outlet; one that is only named as a source is there too, without articles.
        tier, region: of its site; None and "" for unknown.
        articles, stories: its own, and the stories they are in.
        firsts: stories of two outlets or more that it surely published first.
        takers: different outlets that took an article from it, directly.
        taken: articles that were taken from it, directly.
        reached: articles taken from it directly or through others.
        borrowed: its own articles that it took from elsewhere.
    """

    name: str
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
        keys = {key: self._seen(own) for key, own in tree.publications.items()}
        for outlet in set(keys.values()):
            self._counts[outlet]["stories"] += 1
        for key, outlet in keys.items():
            self._counts[outlet]["articles"] += 1
            self._take(tree, keys, key)
        first = tree.first
        if first is not None and not first.alternatives and len(set(keys.values())) > 1:
            self._counts[keys.get(first.key) or self._named(first.outlet)]["firsts"] += 1

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
        return keys.get(parent, "") or (self._named(outside) if outside else "")

    def _seen(self, own: Publication) -> str:
        outlet = outlet_of(own.outlet, own.host)
        known = self._sites.get(outlet)
        if known is None or (known.tier is None and own.tier is not None):
            self._sites[outlet] = own
        self._shown[outlet] = self._sites[outlet].name
        return outlet

    def _named(self, name: str) -> str:
        outlet = outlet_of(name)
        self._shown.setdefault(outlet, name)
        return outlet

    def outlets(self) -> list[OutletInfluence]:
        """All that were counted."""
        found = [self._outlet(outlet) for outlet in self._shown]
        return sorted(found, key=lambda own: (
            -own.takers, -own.reached, -own.firsts, -own.articles, own.name,
        ))  # fmt: skip

    def _outlet(self, outlet: str) -> OutletInfluence:
        counts, site = self._counts[outlet], self._sites.get(outlet)
        return OutletInfluence(
            self._shown[outlet], site.tier if site else None, site.region if site else "",
            counts["articles"], counts["stories"], counts["firsts"], len(self._takers[outlet]),
            counts["taken"], counts["reached"], counts["borrowed"],
        )  # fmt: skip
