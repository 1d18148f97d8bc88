"""The order of questions: keyword x site x engine, and each keyword without a site (Q1).

A budget may end the plan anywhere, so every beginning of it should be a fair sample: heavier
terms come first and more often, every site and every engine gets its turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from qiaocrawl.items import Query
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.topic.pack import Site, Term, TopicPack

EVERYWHERE = ""
"""In a list of sites: the question without a site."""


def plan(
    pack: TopicPack,
    engines: Sequence[EngineDefinition],
    *,
    sites: Sequence[str] | None = None,
    max_terms: int | None = None,
) -> Iterator[Query]:
    """All queries of a topic, each once, for result page 1, in the order they should be asked.

    Terms take turns in proportion to their weights (stride scheduling: the n-th question of a
    term is due at n / weight). A term is first asked without a site, then on the sites,
    always on the one asked least so far. Each question goes to all engines in a row, another
    engine beginning each time; engines that cannot be restricted to a site get only the
    questions without one. Deterministic; O(sites) a question.

    Args:
        pack: terms and sites; of equal terms (white space aside) the heaviest counts.
        engines: the engines to ask.
        sites: only these hosts, the most important first, with :data:`EVERYWHERE` for the
            question without a site; None = that and all sites of the pack, by authority.
        max_terms: only this many of the heaviest terms; None = all.
    """
    hosts = [EVERYWHERE, *_by_authority(pack.sites)] if sites is None else list(sites)
    if not any(engine.supports_site for engine in engines):
        hosts = [host for host in hosts if host == EVERYWHERE]
    questions = _questions(_ranked(pack.terms, max_terms), list(dict.fromkeys(hosts)))
    for number, (term, site) in enumerate(questions):
        for step in range(len(engines)):
            engine = engines[(number + step) % len(engines)]
            if site == EVERYWHERE or engine.supports_site:
                yield Query(pack.name, term, site, engine.name)


def _by_authority(sites: Iterable[Site]) -> list[str]:
    return [site.host for site in sorted(sites, key=lambda site: site.tier)]


def _ranked(terms: Iterable[Term], max_terms: int | None) -> list[tuple[str, float]]:
    """Distinct terms with their weights, the heaviest first, in given order where equal."""
    weights: dict[str, float] = {}
    for term in terms:
        if text := " ".join(term.text.split()):
            weights[text] = max(term.weight, weights.get(text, 0.0))
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])
    return ranked[:max_terms]


def _questions(terms: list[tuple[str, float]], hosts: list[str]) -> Iterator[tuple[str, str]]:
    asked = dict.fromkeys(hosts, 0)
    waiting = {text: list(hosts) for text, _ in terms}
    due = [(1 / weight, rank, 1) for rank, (_, weight) in enumerate(terms)] if hosts else []
    heapq.heapify(due)
    while due:
        _, rank, turn = heapq.heappop(due)
        text, weight = terms[rank]
        # min() takes the first of equals: the more important site.
        site = min(waiting[text], key=lambda host: -1 if host == EVERYWHERE else asked[host])
        waiting[text].remove(site)
        asked[site] += 1
        yield text, site
        if waiting[text]:
            heapq.heappush(due, ((turn + 1) / weight, rank, turn + 1))
