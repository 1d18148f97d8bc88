"""How a spread is told in words: when, from whom, why one thinks so, how far and how fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from qiaocrawl.language import _
from qiaocrawl.news.spread.influence import duration, edge_text, tier_name
from qiaocrawl.text.zones import DAY, MINUTE, china_time

if TYPE_CHECKING:
    from qiaocrawl.news.spread.publication import Publication
    from qiaocrawl.news.spread.tree import SpreadFigures, SpreadTree


def moment_of(own: Publication) -> str:
    """When it came out, as closely as is known."""
    if own.published_at is None:
        return _("unknown time")
    return china_time(own.published_at, MINUTE if own.tells_hour else DAY)


def parent_of(tree: SpreadTree, key: str, numbers: Mapping[str, str]) -> str:
    """The number of the parent, the name of an outlet outside, or that it is unknown."""
    edge = tree.edges[key]
    if edge.parent:
        return numbers[edge.parent]
    if edge.outside:
        return edge.outside
    if edge.alternatives:
        others = _(", ").join(numbers[other] for other in edge.alternatives)
        return _("unknown ({others}?)", others=others)
    return "–" if edge.evidence or is_first(tree, key) else _("origin unknown")


def why_of(tree: SpreadTree, key: str) -> str:
    """What speaks for where a publication comes from."""
    edge = tree.edges[key]
    if edge.evidence:
        return edge_text(edge)
    return _("the earliest") if is_first(tree, key) else ""


def is_first(tree: SpreadTree, key: str) -> bool:
    """Whether that publication is the one that was first."""
    return tree.first is not None and tree.first.key == key


def first_lines(tree: SpreadTree, numbers: Mapping[str, str]) -> Iterator[str]:
    """Who was first, and who may have been."""
    first = tree.first
    if first is None:
        return
    if first.key:
        yield _("first: {name}", name=first.outlet)
    else:
        yield _(
            "first: {name}, which is not stored; {count} name it",
            name=first.outlet,
            count=first.named_by,
        )
    if first.alternatives:
        others = _(", ").join(numbers.get(other, other) for other in first.alternatives)
        yield _("it may also have been {others}: times do not tell", others=others)


def figure_lines(figures: SpreadFigures) -> Iterator[str]:
    """How far and how fast it went."""
    yield _(
        "{articles} articles, {outlets} outlets, {depth} steps deep; of {unknown} the origin "
        "is unknown",
        articles=figures.publications,
        outlets=figures.outlets,
        depth=figures.depth,
        unknown=figures.unknown,
    )
    tiers = sorted(figures.by_tier.items(), key=lambda entry: (entry[0] is None, entry[0]))
    yield _(", ").join(f"{tier_name(tier)} ×{count}" for tier, count in tiers)
    regions = sorted(figures.by_region.items(), key=lambda entry: (-entry[1], entry[0]))
    yield _(", ").join(f"{region or _('region unknown')} ×{count}" for region, count in regions)
    if figures.half_seconds is not None:
        yield _(
            "half of them within {half}, at most {count} in an hour (of {timed} that tell "
            "the minute)",
            half=duration(figures.half_seconds),
            count=figures.most_in_an_hour,
            timed=figures.timed,
        )
    if figures.median_lag_seconds is not None:
        yield _("taken up after {lag} as a rule (median)", lag=duration(figures.median_lag_seconds))
