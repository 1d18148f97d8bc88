"""A spread at the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from qiaocrawl.cli.output import folding_table, joined, shown_moment
from qiaocrawl.cli.terminal import echo
from qiaocrawl.language import _, ngettext
from qiaocrawl.news.spread.influence import CHANGES, duration, edge_text, tier_name
from qiaocrawl.news.spread.tree import change_reports, spread_figures

if TYPE_CHECKING:
    from qiaocrawl.news.spread.publication import Publication
    from qiaocrawl.news.spread.tree import SpreadFigures, SpreadTree


def print_spread(console: Console, tree: SpreadTree) -> None:
    """Who had it from whom, then figures, then corrections and deletions."""
    numbers = {key: str(number) for number, key in enumerate(tree.publications, 1)}
    table = folding_table("#", _("time"), _("outlet"), _("from"), _("why"), _("URL"))
    for key, own in tree.publications.items():
        outlet = own.name if own.tier is None else f"{own.name} ({tier_name(own.tier)})"
        table.add_row(
            f"{'●' if _is_first(tree, key) else ''}{numbers[key]}", moment_of(own), escape(outlet),
            escape(parent_of(tree, key, numbers)), escape(why_of(tree, key)), escape(key),
        )  # fmt: skip
    console.print(table)
    for line in [*first_lines(tree, numbers), *figure_lines(spread_figures(tree))]:
        echo(line)
    for report in change_reports(tree):
        change = report.change
        outlet = f"{numbers[report.key]} {tree.publications[report.key].name}"
        line = f"{outlet} {_(CHANGES[change.kind])} {shown_moment(change.at)}"
        if report.not_followed:
            line += ngettext("; {count} that took it still stands as it was",
                             "; {count} that took it still stand as they were",
                             len(report.not_followed))  # fmt: skip
        echo(line)


def moment_of(own: Publication) -> str:
    """When it came out, as closely as is known."""
    if own.published_at is None:
        return _("unknown time")
    return shown_moment(own.published_at, "%Y-%m-%d %H:%M" if own.tells_hour else "%Y-%m-%d")


def parent_of(tree: SpreadTree, key: str, numbers: Mapping[str, str]) -> str:
    """The number of the parent, the name of an outlet outside, or that it is unknown."""
    edge = tree.edges[key]
    if edge.parent:
        return numbers[edge.parent]
    if edge.outside:
        return edge.outside
    if edge.alternatives:
        others = joined(numbers[other] for other in edge.alternatives)
        return _("unknown ({others}?)", others=others)
    return "–" if edge.evidence or _is_first(tree, key) else _("origin unknown")


def why_of(tree: SpreadTree, key: str) -> str:
    """What speaks for where a publication comes from."""
    edge = tree.edges[key]
    if edge.evidence:
        return edge_text(edge)
    return _("the earliest") if _is_first(tree, key) else ""


def _is_first(tree: SpreadTree, key: str) -> bool:
    return tree.first is not None and tree.first.key == key


def first_lines(tree: SpreadTree, numbers: Mapping[str, str]) -> Iterator[str]:
    """Who was first, and who may have been."""
    first = tree.first
    if first is None:
        return
    if first.key:
        yield _("first: {name}", name=first.outlet)
    else:
        yield _("first: {name}, which is not stored; {count} name it", name=first.outlet,
                count=first.named_by)  # fmt: skip
    if first.alternatives:
        others = joined(numbers.get(other, other) for other in first.alternatives)
        yield _("it may also have been {others}: times do not tell", others=others)


def figure_lines(figures: SpreadFigures) -> Iterator[str]:
    """How far and how fast it went."""
    yield _("{articles} articles, {outlets} outlets, {depth} steps deep; of {unknown} the origin "
            "is unknown", articles=figures.publications, outlets=figures.outlets,
            depth=figures.depth, unknown=figures.unknown)  # fmt: skip
    tiers = sorted(figures.by_tier.items(), key=lambda entry: (entry[0] is None, entry[0]))
    yield joined(f"{tier_name(tier)} ×{count}" for tier, count in tiers)
    regions = sorted(figures.by_region.items(), key=lambda entry: (-entry[1], entry[0]))
    yield joined(f"{region or _('region unknown')} ×{count}" for region, count in regions)
    if figures.half_seconds is not None:
        yield _("half of them within {half}, at most {count} in an hour (of {timed} that tell "
                "the minute)", half=duration(figures.half_seconds),
                count=figures.most_in_an_hour, timed=figures.timed)  # fmt: skip
    if figures.median_lag_seconds is not None:
        yield _("taken up after {lag} as a rule (median)", lag=duration(figures.median_lag_seconds))
