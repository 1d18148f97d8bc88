"""How far and how fast a story went, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from qiaocrawl.analysis.spread.outlets import outlet_of
from qiaocrawl.analysis.spread.publication import plainest

if TYPE_CHECKING:
    from qiaocrawl.analysis.spread.publication import Change, Publication
    from qiaocrawl.analysis.spread.tree import SpreadTree

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
    depths = Counter(depth for root in tree.roots() for node, depth in tree.walk(root)
                     if node in tree.publications)  # fmt: skip
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
        unknown=sum(not edge.is_known and not edge.evidence and key != first
                    for key, edge in tree.edges.items()),
        first_at=moments[0] if has_span else None,
        last_at=moments[-1] if has_span else None,
        half_seconds=seconds[(len(seconds) - 1) // 2] if has_span else None,
        most_in_an_hour=_busiest(seconds),
        median_lag_seconds=_median_lag(tree),
        timed=len(moments),
        engagement=dict(sum((Counter(own.engagement) for own in shown), Counter())),
        shown=len(shown),
        comments=sum(remarks) if remarks else None,
    )  # fmt: skip


def change_reports(tree: SpreadTree) -> list[ChangeReport]:
    """Every correction, deletion and restoration, in time's order."""
    reports = [
        ChangeReport(key, change, _not_followed(tree, key, change))
        for key, own in tree.publications.items() for change in own.changes
    ]  # fmt: skip
    return sorted(reports, key=lambda report: (report.change.at, report.key))


def _not_followed(tree: SpreadTree, key: str, change: Change) -> tuple[str, ...]:
    if change.kind == "restored":
        return ()
    below = [tree.publications[node] for node, depth in tree.walk(key) if depth]
    since = change.at - _SEEN_WITHIN
    left = [
        own for own in below
        if own.window.latest < change.at
        and not any(later.at >= since and later.kind != "restored" for later in own.changes)
    ]  # fmt: skip
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
        and own.tells_hour and parent.tells_hour
    ]  # fmt: skip
    return float(median(max(lag, 0.0) for lag in lags)) if lags else None
