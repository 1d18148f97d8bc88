"""The order of queries: complete, each once, fair from any beginning."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.search.definition import load_definitions
from qiaocrawl.search.plan import plan
from qiaocrawl.search.query import EVERYWHERE, Query
from qiaocrawl.search.record_checks import Addition, AnyOf, PeriodRules
from qiaocrawl.search.records import EngineDefinition
from qiaocrawl.topic.pack import Site, Term, TopicPack

DEFINITIONS = load_definitions()
SITED = [DEFINITIONS["bing"], DEFINITIONS["baidu"], DEFINITIONS["sogou"]]


PLAIN = replace(SITED[0], name="neither", any_of=None, period=PeriodRules())
DATED = replace(PLAIN, name="dated", period=PeriodRules(names={"week": "w"}))
GROUPING = replace(PLAIN, name="grouping", any_of=AnyOf("({terms})", " OR ", 10))
SITELESS = replace(DEFINITIONS["sogou"], name="plain", site=Addition())


def _word(text: str, weight: float = 1.0) -> Term:
    return Term(text, "core", weight)


def _pack(words: list[Term], hosts: list[str], tiers: list[int] | None = None) -> TopicPack:
    sites = tuple(
        Site(host, host, "target", tier, "", "news")
        for host, tier in zip(hosts, tiers or [1] * len(hosts), strict=True)
    )
    return TopicPack("t", "T", "", 0.1, tuple(words), sites, ())


def _planned(
    words: list[Term], hosts: list[str], engines: list[EngineDefinition], **limits: Any
) -> list[Query]:
    return list(plan(_pack(words, hosts), engines, **limits))


def test_every_pair_on_every_engine_once() -> None:
    queries = _planned([_word("甲"), _word("乙", 2)], ["a.test", "b.test"], SITED)
    assert len(queries) == len(set(queries)) == 2 * (2 + 1) * 3
    assert {query.page for query in queries} == {1}
    assert {query.topic for query in queries} == {"t"}


def test_nothing_to_ask() -> None:
    assert _planned([], ["a.test"], SITED) == []
    assert _planned([_word("甲")], ["a.test"], []) == []
    assert _planned([_word(" ")], [], SITED) == []


def test_first_question_of_a_term_is_without_site() -> None:
    seen: set[str] = set()
    for query in _planned([_word("甲"), _word("乙", 3)], ["a.test"], SITED[:1]):
        assert (query.site == "") == (query.term not in seen)
        seen.add(query.term)


def test_heavier_terms_come_first_and_more_often() -> None:
    words = [_word("轻", 1), _word("重", 4), _word("中", 2)]
    sites = [f"s{n}.test" for n in range(40)]
    queries = _planned(words, sites, SITED[:1])
    assert queries[0].term == "重"
    counts = Counter(query.term for query in queries[:35])
    assert counts["重"] == 2 * counts["中"] == 4 * counts["轻"] == 20


def test_sites_and_engines_take_turns_in_every_beginning() -> None:
    words = [_word(f"词{n}", 1 + n % 3) for n in range(20)]
    sites = [f"s{n}.test" for n in range(7)]
    queries = _planned(words, sites, SITED)
    for end in range(3, len(queries) // 2, 3):
        engines = Counter(query.engine for query in queries[:end])
        assert len(set(engines.values())) == 1
        asked = Counter(query.site for query in queries[:end] if query.site)
        per_site = [asked[site] for site in sites]
        assert max(per_site) - min(per_site) <= 3
    assert {query.engine for query in queries[::3]} == {engine.name for engine in SITED}


def test_engine_without_site_restriction_gets_the_free_questions_only() -> None:
    queries = _planned([_word("甲"), _word("乙")], ["a.test"], [SITELESS, SITED[0]])
    plain = [query for query in queries if query.engine == "plain"]
    assert [query.site for query in plain] == ["", ""]
    assert len(_planned([_word("甲")], ["a.test", "b.test"], [SITELESS])) == 1


def test_equal_terms_and_sites_count_once() -> None:
    words = [_word("侨 务"), _word("  侨  务 ", 5), _word("侨务")]
    queries = _planned(words, ["a.test", "a.test"], SITED[:1])
    assert [(q.term, q.site) for q in queries][:2] == [("侨 务", ""), ("侨 务", "a.test")]
    assert len(queries) == 2


def test_only_the_heaviest_terms() -> None:
    words = [_word("轻", 1), _word("重", 9), _word("中", 5)]
    queries = _planned(words, [], SITED[:1], max_terms=2)
    assert [query.term for query in queries] == ["重", "中"]


def test_sites_of_authority_come_first() -> None:
    pack = _pack([_word("甲")], ["c.test", "b.test", "a.test"], [3, 1, 1])
    sites = [query.site for query in plan(pack, SITED[:1])]
    assert sites == [EVERYWHERE, "b.test", "a.test", "c.test"]


def test_only_named_sites() -> None:
    named = _planned([_word("甲")], ["a.test", "b.test"], SITED[:1], sites=["b.test"])
    assert [query.site for query in named] == ["b.test"]
    everywhere = _planned([_word("甲")], ["a.test"], SITED[:1], sites=[EVERYWHERE])
    assert [query.site for query in everywhere] == [EVERYWHERE]
    assert _planned([_word("甲")], ["a.test"], SITED[:1], sites=[]) == []


def test_a_large_plan_begins_at_once() -> None:
    words = [_word(f"词{n}") for n in range(2000)]
    sites = [f"s{n}.test" for n in range(500)]
    first = list(islice(plan(_pack(words, sites), SITED), 30))
    assert len(set(first)) == 30


def test_a_period_is_asked_of_engines_that_know_it() -> None:
    queries = _planned([_word("甲")], [], [PLAIN, DATED], period="week")
    assert {query.engine: query.period for query in queries} == {"neither": "", "dated": "week"}


def test_synonyms_are_one_question_where_the_engine_has_groups() -> None:
    words = [_word("侨胞"), _word("華僑", 2), _word("华侨"), _word("海外侨胞", 3), _word("侨乡")]
    grouped = _planned(words, [], [GROUPING, PLAIN])
    by_engine: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for query in grouped:
        by_engine.setdefault(query.engine, []).append((query.term, query.also))
    # 海外侨胞 and 侨胞 are one concept of the shipped ontology; spellings are one everywhere.
    assert by_engine["grouping"] == [("海外侨胞", ("侨胞",)), ("華僑", ("华侨",)), ("侨乡", ())]
    assert [term for term, _ in by_engine["neither"]] == ["海外侨胞", "華僑", "侨胞", "侨乡"]
    assert not any(also for _, also in by_engine["neither"])
    alone = _planned(words, [], [GROUPING], fold_synonyms=False)
    assert not any(query.also for query in alone)


@settings(max_examples=50, deadline=None)
@given(
    weights=st.lists(st.floats(0.01, 10), max_size=8),
    site_count=st.integers(0, 6),
    engine_count=st.integers(0, 3),
)
def test_plan_is_complete_for_any_input(
    weights: list[float], site_count: int, engine_count: int
) -> None:
    words = [_word(f"词{n}", weight) for n, weight in enumerate(weights)]
    sites = [f"s{n}.test" for n in range(site_count)]
    queries = _planned(words, sites, SITED[:engine_count])
    assert len(set(queries)) == len(queries) == len(words) * (site_count + 1) * engine_count
    assert queries == _planned(words, sites, SITED[:engine_count])
