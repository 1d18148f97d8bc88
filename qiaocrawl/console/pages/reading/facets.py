"""The choices of a list with how many articles each has, asked for when somebody looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.page import Page
from qiaocrawl.console.pages.article_filter import SEVERAL, ArticleFilter
from qiaocrawl.console.pages.listed_articles import matches_of, selection_of
from qiaocrawl.console.render import render
from qiaocrawl.console.search.index import MOST_MATCHES
from qiaocrawl.console.work import read_kept
from qiaocrawl.language import N_, _
from qiaocrawl.reading import facets as counted
from qiaocrawl.reading.facets import Count, FacetCounter, Facets
from qiaocrawl.reading.pages_of_a_list import topic_titles

STATUS_NAMES = {
    "starred": N_("starred"),
    "noted": N_("with a note"),
    "judged": N_("judged"),
    "unjudged": N_("not judged yet"),
    "reprint": N_("reprints"),
    "gone": N_("gone from the web"),
}
RELEVANCE_NAMES = {"yes": N_("on topic"), "no": N_("off topic"), "any": N_("all")}
_FACET_NAMES = {
    counted.TOPICS: N_("Topic"),
    counted.RELEVANCE: N_("Relevance"),
    counted.STATUS: N_("Status"),
    counted.SITES: N_("Site"),
    counted.REGIONS: N_("Region"),
    counted.TIERS: N_("Tier"),
}
_MOST_SHOWN = 30
_KEPT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of a facet; ``query`` is the list with it, or without it where it is chosen."""

    name: str
    count: Count
    is_chosen: bool
    query: str


@dataclass(frozen=True, slots=True)
class ShownFacet:
    """A facet; ``more`` values are left out. Without values it was not counted."""

    name: str
    values: tuple[ShownValue, ...]
    more: int
    is_several: bool
    is_counted: bool


async def show(request: Request) -> Response:
    """The counts: a part of the list's page for its script, a page of its own for others."""
    choice = replace(ArticleFilter.of(request.query_params.multi_items()), page="")
    matches, notice = await matches_of(request, choice)
    facets, titles = Facets({}, {}), dict[str, str]()
    selection = selection_of(choice, matches)
    # Without the index each count would read thousands of texts.
    if not selection.reads_texts:
        is_part = matches is not None and matches.total > MOST_MATCHES

        def work(c: Connection) -> tuple[Facets, dict[str, str]]:
            counter = FacetCounter(c, selection, choice.folded, is_part)
            return counter.facets(), topic_titles(c)

        name = f"facets {choice.query()}"
        facets, titles = await read_kept(request, name, _KEPT_SECONDS, work)
    layout = "fragment.html" if "part" in request.query_params else "base.html"
    return render(
        request, "articles/facets.html", layout=layout, choice=choice, notice=notice,
        facets=_shown(choice, facets, titles), most=counted.MOST_FACETED,
        is_cut=any(count.is_more for counts in facets.counts.values() for count in counts.values()),
    )  # fmt: skip


def _shown(choice: ArticleFilter, facets: Facets, titles: Mapping[str, str]) -> list[ShownFacet]:
    tiers = {tier: _("tier {tier}", tier=tier) for tier in facets.counts.get(counted.TIERS, {})}
    names: dict[str, Mapping[str, str]] = {
        counted.TOPICS: titles,
        counted.SITES: facets.outlets,
        counted.TIERS: tiers,
        counted.RELEVANCE: {value: _(name) for value, name in RELEVANCE_NAMES.items()},
        counted.STATUS: {value: _(name) for value, name in STATUS_NAMES.items()},
    }
    return [
        _facet(choice, facet, facets.counts.get(facet), names.get(facet, {}))
        for facet in _FACET_NAMES
    ]


def _facet(
    choice: ArticleFilter, facet: str, counts: Mapping[str, Count] | None, names: Mapping[str, str]
) -> ShownFacet:
    chosen = getattr(choice, facet)
    values = []
    for value, count in (counts or {}).items():
        is_chosen = value in chosen if facet in SEVERAL else value == chosen
        if count.rows or is_chosen:
            query = choice.query_with(facet, value)
            values.append(ShownValue(names.get(value, value), count, is_chosen, query))
    if facet in (counted.SITES, counted.REGIONS):
        values.sort(key=lambda value: (not value.is_chosen, -value.count.rows, value.name))
    return ShownFacet(
        _(_FACET_NAMES[facet]), tuple(values[:_MOST_SHOWN]), max(0, len(values) - _MOST_SHOWN),
        facet in SEVERAL, counts is not None,
    )  # fmt: skip


PAGE = Page("/articles/facets", "articles.facets", show)
