"""How a story went from outlet to outlet: a forest of publications, each edge with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from qiaocrawl.news.spread.edges import SURE_ABOVE, Edge, EdgeFinder, Evidence
from qiaocrawl.news.spread.publication import Publication, Window, outlet_of, plainest

if TYPE_CHECKING:
    from qiaocrawl.news.spread.publication import Change

# Two that name the same outlet outside are hardly both wrong.
_SURE, _NAMED_ONCE, _UNSURE = 0.95, 0.75, 0.5
_BEFORE_CHILD = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class FirstPublisher:
    """Who published first.

    Args:
        key: the publication; "" if it is not here.
        outlet: its name.
        certainty: in [0, 1], by the kind of evidence; no frequency.
        alternatives: others that may have been first, keys or names of outlets outside.
        named_by: publications that name it as their source, directly or through others.
    """

    key: str
    outlet: str
    certainty: float
    alternatives: tuple[str, ...]
    named_by: int


@dataclass(frozen=True, slots=True)
class SpreadTree:
    """The forest.

    Args:
        publications: by key, in the order of their latest possible time.
        edges: of every publication, by key, also those that know of no parent.
        first: None without publications.
    """

    publications: Mapping[str, Publication]
    edges: Mapping[str, Edge]
    first: FirstPublisher | None

    def parent_of(self, key: str) -> str:
        """Key of the parent, name of the outlet outside, or ""."""
        edge = self.edges[key]
        return edge.parent or edge.outside

    def children_of(self, node: str) -> list[str]:
        """Keys of what was taken from a publication, or from an outlet outside, in time's order."""
        return [key for key in self.publications if self.parent_of(key) == node and node]

    def roots(self) -> list[str]:
        """Where trees begin: outlets outside by name, and publications that come from nowhere."""
        roots = (edge.outside or key for key, edge in self.edges.items() if not edge.parent)
        return list(dict.fromkeys(roots))

    def walk(self, node: str, depth: int = 0) -> Iterator[tuple[str, int]]:
        """A node and all below it with their depth, each before its children."""
        children: dict[str, list[str]] = {}
        for key in self.publications:
            children.setdefault(self.parent_of(key), []).append(key)
        waiting = [(node, depth)]
        while waiting:
            current, level = waiting.pop()
            yield current, level
            waiting += [(child, level + 1) for child in reversed(children.get(current, []))]


def spread_tree(publications: Sequence[Publication]) -> SpreadTree:
    """The most certain forest: no circles, one parent each, "unknown" where little speaks for it.

    The same publications give the same forest in whatever order they come.

    Raises:
        ValueError: two of them have one key.
    """
    ordered = sorted(publications, key=lambda own: (own.window.latest, own.key))
    by_key = {publication.key: publication for publication in ordered}
    if len(by_key) < len(ordered):
        raise ValueError("two publications have one key")
    finder = EdgeFinder(ordered)
    edges = _edges(ordered, finder)
    tree = SpreadTree(by_key, {own.key: edges[own.key] for own in ordered}, None)
    return SpreadTree(by_key, tree.edges, _first(tree))


def _edges(ordered: Sequence[Publication], finder: EdgeFinder) -> dict[str, Edge]:
    outside = [finder.outside(at) for at in range(len(ordered))]
    proposed = [edge for at in range(len(ordered)) for edge in finder.proposals(at)]
    chosen: dict[str, Edge] = {}
    _choose(chosen, [*proposed, *(edge for edge in outside if edge)])
    votes = Counter(edge.parent for edge in chosen.values() if edge.parent)
    equals = [finder.among_equals(edge, votes) for edge in proposed if edge.alternatives]
    _choose(chosen, equals)
    for at, own in enumerate(ordered):
        if own.key not in chosen:
            chosen[own.key] = _without_parent(own, finder.says_own(at), proposed)
    return chosen


def _choose(chosen: dict[str, Edge], proposed: list[Edge]) -> None:
    """Add to *chosen* what is certain enough, the surest first, for those that have none yet."""
    proposed.sort(key=lambda edge: (-edge.certainty, edge.child, edge.parent, edge.outside))
    for edge in proposed:
        is_open = edge.certainty > SURE_ABOVE and edge.child not in chosen
        if is_open and not _closes_circle(chosen, edge):
            chosen[edge.child] = edge


def _closes_circle(chosen: Mapping[str, Edge], edge: Edge) -> bool:
    above = edge.parent
    while above:
        if above == edge.child:
            return True
        above = chosen[above].parent if above in chosen else ""
    return False


def _without_parent(own: Publication, says_own: bool, proposed: Sequence[Edge]) -> Edge:
    """An edge to nowhere, with those that it might have been."""
    maybe = [edge for edge in proposed if edge.child == own.key and edge.parent]
    alternatives = dict.fromkeys(key for edge in maybe for key in (edge.parent, *edge.alternatives))
    evidence = (Evidence("own", own.source),) if says_own else ()
    return Edge(own.key, "", "", _SURE if says_own else 0.0, evidence, tuple(alternatives))


def _first(tree: SpreadTree) -> FirstPublisher | None:
    """The root that is earliest, by what is known of times; ties by who has more below."""
    roots = tree.roots()
    if not roots:
        return None
    windows = {root: _root_window(tree, root) for root in roots}
    below = {root: sum(1 for _node in tree.walk(root)) - 1 for root in roots}
    best = min(roots, key=lambda root: (windows[root].latest, -below[root], root))
    rivals = tuple(
        root
        for root in roots
        if root != best
        and not windows[best].surely_before(windows[root])
        # Who had it from somebody unknown was not first.
        and (root not in tree.edges or not tree.edges[root].alternatives)
    )
    certainty = _UNSURE if rivals else _SURE
    if best not in tree.publications:
        certainty = min(certainty, _SURE if below[best] > 1 else _NAMED_ONCE)
        return FirstPublisher("", best, certainty, rivals, below[best])
    return FirstPublisher(best, tree.publications[best].name, certainty, rivals, below[best])


def _root_window(tree: SpreadTree, root: str) -> Window:
    """When a root was published; an outlet outside some time before the first that names it."""
    if root in tree.publications:
        return tree.publications[root].window
    first = min(
        (tree.publications[key].window for key in tree.children_of(root)),
        key=lambda window: window.latest,
    )
    return Window(first.earliest - _BEFORE_CHILD, first.latest - _BEFORE_CHILD)


# --- How far and how fast a story went, and what became of it -------------------------------------

_HOUR = 3_600.0
# A change is known by when it was seen: of two seen in one round nobody knows which came first.
_SEEN_WITHIN = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SpreadFigures:
    """Figures of a spread.

    Args:
        depth: edges of the longest way from a beginning; an outlet outside counts as one.
        by_depth: publications at each depth, from 0.
        outlets: different ones.
        by_tier, by_region: outlets; None and "" for unknown.
        unknown: publications of which it is unknown where they come from, without the first.
        first_at, last_at: of those dated to the minute; None if there are fewer than two.
        half_seconds: from the first until half of those dated to the minute were out.
        most_in_an_hour: publications in the busiest hour, dated to the minute.
        median_lag_seconds: between a publication and its parent, where both tell the minute.
        timed: publications that are dated to the minute.
        engagement: sums of what pages show; ``shown`` of the pages that show any.
        comments: remarks on all pages that show any; None if none does.
    """

    publications: int
    depth: int
    by_depth: tuple[int, ...]
    outlets: int
    by_tier: Mapping[int | None, int]
    by_region: Mapping[str, int]
    unknown: int
    first_at: datetime | None
    last_at: datetime | None
    half_seconds: float | None
    most_in_an_hour: int
    median_lag_seconds: float | None
    timed: int
    engagement: Mapping[str, int]
    shown: int
    comments: int | None


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """A correction or deletion, and who stands by the old text.

    Args:
        key: of the publication that changed.
        not_followed: keys below it, out before the change, of which no change was seen since.
    """

    key: str
    change: Change
    not_followed: tuple[str, ...]


def spread_figures(tree: SpreadTree) -> SpreadFigures:
    """The figures of *tree*."""
    publications = list(tree.publications.values())
    depths = Counter(
        depth
        for root in tree.roots()
        for node, depth in tree.walk(root)
        if node in tree.publications
    )
    moments = sorted(own.window.earliest for own in publications if own.tells_hour)
    seconds = [(moment - moments[0]).total_seconds() for moment in moments]
    has_span = len(moments) > 1
    shown = [own for own in publications if own.engagement]
    remarks = [own.comments for own in publications if own.comments is not None]
    first = tree.first.key if tree.first else ""
    return SpreadFigures(
        publications=len(publications),
        depth=max(depths, default=0),
        by_depth=tuple(depths[depth] for depth in range(max(depths, default=-1) + 1)),
        outlets=len(_by_outlet(publications)),
        by_tier=Counter(own.tier for own in _by_outlet(publications).values()),
        by_region=Counter(own.region for own in _by_outlet(publications).values()),
        unknown=sum(
            not edge.is_known and not edge.evidence and key != first
            for key, edge in tree.edges.items()
        ),
        first_at=moments[0] if has_span else None,
        last_at=moments[-1] if has_span else None,
        half_seconds=seconds[(len(seconds) - 1) // 2] if has_span else None,
        most_in_an_hour=_busiest(seconds),
        median_lag_seconds=_median_lag(tree),
        timed=len(moments),
        engagement=dict(sum((Counter(own.engagement) for own in shown), Counter())),
        shown=len(shown),
        comments=sum(remarks) if remarks else None,
    )


def change_reports(tree: SpreadTree) -> list[ChangeReport]:
    """Every correction, deletion and restoration, in time's order."""
    reports = [
        ChangeReport(key, change, _not_followed(tree, key, change))
        for key, own in tree.publications.items()
        for change in own.changes
    ]
    return sorted(reports, key=lambda report: (report.change.at, report.key))


def _not_followed(tree: SpreadTree, key: str, change: Change) -> tuple[str, ...]:
    if change.kind == "restored":
        return ()
    below = [tree.publications[node] for node, depth in tree.walk(key) if depth]
    since = change.at - _SEEN_WITHIN
    left = [
        own
        for own in below
        if own.window.latest < change.at
        and not any(later.at >= since and later.kind != "restored" for later in own.changes)
    ]
    # A page and its print version are one to whoever has to ask for the change.
    return tuple(own.key for own in left if plainest(own, left) is own)


def _by_outlet(publications: list[Publication]) -> dict[str, Publication]:
    """One publication of each outlet; of an outlet whose tier is known, one that tells it."""
    ordered = sorted(publications, key=lambda own: (own.tier is None, not own.region))
    outlets: dict[str, Publication] = {}
    for own in ordered:
        outlets.setdefault(outlet_of(own.outlet, own.host), own)
    return outlets


def _busiest(seconds: list[float]) -> int:
    """The most of ascending *seconds* that lie within an hour."""
    begin, most = 0, 0
    for end, moment in enumerate(seconds):
        while moment - seconds[begin] >= _HOUR:
            begin += 1
        most = max(most, end - begin + 1)
    return most


def _median_lag(tree: SpreadTree) -> float | None:
    lags = [
        (own.window.earliest - parent.window.earliest).total_seconds()
        for key, own in tree.publications.items()
        if (parent := tree.publications.get(tree.edges[key].parent))
        and own.tells_hour
        and parent.tells_hour
    ]
    return float(median(max(lag, 0.0) for lag in lags)) if lags else None
