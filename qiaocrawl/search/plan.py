"""The order of questions: keyword x site x engine, and each keyword without a site (Q1).

A budget may end the plan anywhere, so every beginning of it should be a fair sample: heavier
terms come first and more often, every site and every engine gets its turn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from qiaocrawl.items import Query
from qiaocrawl.search.plan_periods import can_ask
from qiaocrawl.search.plan_terms import MAX_WORDS, TermGroup, group_terms
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.topic.pack import Site, TopicPack

EVERYWHERE = ""
"""In a list of sites: the question without a site."""


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
    1995: the n-th question of a term is due at n / weight). A term is first asked without a
    site, then on the sites, always on the one asked least so far. Each question goes to all
    engines in a row, another engine beginning each time; engines that cannot be restricted to
    a site get only the questions without one. Deterministic; O(sites) a question.

    Args:
        pack: terms and sites; terms that differ only in spelling are one.
        engines: the engines to ask.
        sites: only these hosts, the most important first, with :data:`EVERYWHERE` for the
            question without a site; None = that and all sites of the pack, by authority.
        max_terms: only this many of the heaviest terms (groups of synonyms); None = all.
        period: asked of engines that can be asked for it; the others are asked for any time.
        fold_synonyms: ask synonyms in one group where the engine has groups.
    """
    hosts = [EVERYWHERE, *_by_authority(pack.sites)] if sites is None else list(sites)
    hosts = list(dict.fromkeys(hosts))
    by_words: dict[int, list[EngineDefinition]] = {}
    for one in engines:
        by_words.setdefault(words_of(one) if fold_synonyms else 1, []).append(one)
    parts = []
    for most_words, some in sorted(by_words.items()):
        groups = group_terms(pack.terms, most_words)[:max_terms]
        questions = _plan(pack.name, groups, hosts, some, period)
        parts.append(_placed(questions, len(groups) * _questions_a_term(some, hosts)))
    for _, query in heapq.merge(*parts, key=lambda placed: placed[0]):
        yield query


def words_of(engine: EngineDefinition) -> int:
    """How many words are asked as alternatives in one question; 1 where there are no groups."""
    if not engine.supports_any:
        return 1
    return min(MAX_WORDS, engine.any_of.max_terms or MAX_WORDS)


def _placed(questions: Iterator[Query], count: int) -> Iterator[tuple[float, Query]]:
    """About *count* questions, evenly spread over [0, 1]."""
    for number, query in enumerate(questions):
        yield (number + 0.5) / count, query


def _questions_a_term(engines: Sequence[EngineDefinition], hosts: Sequence[str]) -> int:
    everywhere = int(EVERYWHERE in hosts)
    return sum(len(hosts) if engine.supports_site else everywhere for engine in engines)


def _plan(
    topic: str,
    groups: Sequence[TermGroup],
    hosts: Sequence[str],
    engines: Sequence[EngineDefinition],
    period: str,
) -> Iterator[Query]:
    if not any(engine.supports_site for engine in engines):
        hosts = [host for host in hosts if host == EVERYWHERE]
    for number, (group, site) in enumerate(_questions(groups, hosts)):
        for step in range(len(engines)):
            engine = engines[(number + step) % len(engines)]
            if site == EVERYWHERE or engine.supports_site:
                asked = period if can_ask(engine, period) else ""
                yield Query(
                    topic, group.term, site, engine.name, period=asked, also=group.also
                )


def _by_authority(sites: Iterable[Site]) -> list[str]:
    return [site.host for site in sorted(sites, key=lambda site: site.tier)]


def _questions(
    groups: Sequence[TermGroup], hosts: Sequence[str]
) -> Iterator[tuple[TermGroup, str]]:
    asked = dict.fromkeys(hosts, 0)
    waiting = [list(hosts) for _ in groups]
    due = [(1 / one.weight, rank, 1) for rank, one in enumerate(groups)] if hosts else []
    heapq.heapify(due)
    while due:
        _, rank, turn = heapq.heappop(due)
        group = groups[rank]
        # min() takes the first of equals: the more important site.
        site = min(waiting[rank], key=lambda host: -1 if host == EVERYWHERE else asked[host])
        waiting[rank].remove(site)
        asked[site] += 1
        yield group, site
        if waiting[rank]:
            heapq.heappush(due, ((turn + 1) / group.weight, rank, turn + 1))
