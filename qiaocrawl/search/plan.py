"""Plans all queries: keyword x site x engine, and each keyword without a site (Q1).

A budget may end the plan anywhere, so every prefix of it should be a fair sample: heavier
terms come first and more often, and every site and engine is included early.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from qiaocrawl.search.plan_periods import can_ask
from qiaocrawl.search.plan_terms import MAX_WORDS, TermGroup, group_terms
from qiaocrawl.search.query import EVERYWHERE, Query
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.topic.pack import Site, TopicPack


def plan(
    pack: TopicPack,
    engines: Sequence[EngineDefinition],
    *,
    sites: Sequence[str] | None = None,
    max_terms: int | None = None,
    period: str = "",
    fold_synonyms: bool = True,
) -> Iterator[Query]:
    """All queries of a topic, each once, for result page 1, in the order they should be asked.

    Terms take turns in proportion to their weights (stride scheduling, Waldspurger and Weihl
    1995: the n-th query of a term is due at n / weight). A term is first asked without a
    site, then on the sites, always on the one asked least so far. Each query goes to all
    engines in a row, another engine beginning each time; engines that cannot be restricted to
    a site get only the queries without one. Deterministic; O(sites) a query.

    Args:
        pack: terms and sites; terms that differ only in spelling are one.
        engines: the engines to ask.
        sites: only these hosts, the most important first, with :data:`EVERYWHERE` for the
            query without a site; None = that and all sites of the pack, by authority.
        max_terms: only this many of the heaviest terms (groups of synonyms); None = all.
        period: asked of engines that can be asked for it; the others are asked for any time.
        fold_synonyms: ask synonyms in one group where the engine has groups.
    """
    hosts = [EVERYWHERE, *_by_authority(pack.sites)] if sites is None else list(sites)
    hosts = list(dict.fromkeys(hosts))
    by_words: dict[int, list[EngineDefinition]] = {}
    # Engines that ask the same groups of words share a line, so that a term comes to all at once.
    for engine in engines:
        by_words.setdefault(words_per_query(engine) if fold_synonyms else 1, []).append(engine)
    lines = [
        _plan(pack.name, group_terms(pack.terms, most_words)[:max_terms], hosts, some, period)
        for most_words, some in sorted(by_words.items())
    ]
    # Round-robin over the engines, each time beginning with another one.
    # zip_longest: lines of engines that take more words at once are shorter.
    for number, lines_now in enumerate(zip_longest(*lines, fillvalue=())):
        round_queries = [query for queries in lines_now for query in queries]
        first = number % len(round_queries) if round_queries else 0
        yield from round_queries[first:] + round_queries[:first]


def words_per_query(engine: EngineDefinition) -> int:
    """How many words are asked as alternatives in one query; 1 where there are no groups."""
    return min(MAX_WORDS, engine.any_of.max_terms) if engine.any_of else 1


def _plan(
    topic: str,
    groups: Sequence[TermGroup],
    hosts: Sequence[str],
    engines: Sequence[EngineDefinition],
    period: str,
) -> Iterator[Sequence[Query]]:
    """Query by query, the queries for *engines*, which all ask the same groups."""
    # Without such an engine a site would only repeat the query without one.
    if not any(engine.supports_site for engine in engines):
        hosts = [host for host in hosts if host == EVERYWHERE]
    for group, site in _questions(groups, hosts):
        yield [
            Query(
                topic, group.term, site, engine.name, also=group.also,
                period=period if can_ask(engine, period) else "",
            )
            for engine in engines if site == EVERYWHERE or engine.supports_site
        ]  # fmt: skip


def _by_authority(sites: Iterable[Site]) -> list[str]:
    return [site.host for site in sorted(sites, key=lambda site: site.tier)]


def _questions(
    groups: Sequence[TermGroup], hosts: Sequence[str]
) -> Iterator[tuple[TermGroup, str]]:
    times = dict.fromkeys(hosts, 0)
    waiting = [list(hosts) for _ in groups]
    due = (
        # Stride scheduling: a term of weight 2 is due twice as often as one of weight 1.
        [(1 / term_group.weight, rank, 1) for rank, term_group in enumerate(groups)]
        if hosts
        else []
    )
    heapq.heapify(due)
    while due:
        _, rank, turn = heapq.heappop(due)
        group = groups[rank]
        # Of equals min() takes the first, which is the more important site.
        # A term is asked everywhere first, then where least was asked so far.
        site = min(waiting[rank], key=lambda host: -1 if host == EVERYWHERE else times[host])
        waiting[rank].remove(site)
        times[site] += 1
        yield group, site
        if waiting[rank]:
            heapq.heappush(due, ((turn + 1) / group.weight, rank, turn + 1))
