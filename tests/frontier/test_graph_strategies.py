"""Strategies that remember the graph: PageRank, IPageRank, HITS, SVM, Shark-Search, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from frontier_graph import TOPIC, found, link_to, visited
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import LearningStrategy, make_strategy
from qiaocrawl.frontier.strategies.graph import Authorities, LinkGraph, RankFlow, RankingPace

PLAIN = [link_to("1"), link_to("2")]


def learner(name: str, options: str = "") -> LearningStrategy:
    made = make_strategy(name, TOPIC, options)
    assert isinstance(made, LearningStrategy)
    return made


def rescored(strategy: LearningStrategy, *nodes: int) -> list[float]:
    scores: list[float] = strategy.rescore(np.array(nodes)).tolist()
    return scores


# --- the graph --------------------------------------------------------------------------------


def test_links_of_a_page_that_is_visited_again_take_the_place_of_the_old_ones() -> None:
    graph = LinkGraph()
    graph.add_page(0, [1, 2], [1.0, 0.5])
    graph.add_page(1, [], [])
    graph.add_page(0, [3], [0.25])
    source, target, weight = graph.arrays()
    assert list(zip(source, target, weight, strict=True)) == [(0, 1, 0), (0, 2, 0), (0, 3, 0.25)]
    assert graph.nodes == 4
    assert graph.is_visited.tolist() == [True, True, False, False]
    assert graph.nbytes > 0


def test_ranking_anew_costs_ten_times_the_last_ranking_in_all() -> None:
    pace, cost, page, times = RankingPace(), 0, 0, 0
    for page in range(1, 20_001):
        if page % pace.next_step() == 0:
            cost, times = cost + page, times + 1
    assert cost < 11 * page
    # A tenth to a fifth more each time, and each of the first nine pages.
    assert 9 + 42 < times < 9 + 80


# --- PageRank and IPageRank ----------------------------------------------------------------------


def test_pagerank() -> None:
    # 0 -> 1, 2; 1 -> 2. PR(0) = .15; PR(1) = .15 + .85·.15/2 = .21375;
    # PR(2) = .15 + .85·(.15/2 + .21375) = .3954375.
    rank = learner("pagerank")
    assert rank.score(visited(), found(*PLAIN)) == pytest.approx([0.21375, 0.21375])
    assert rank.score(visited("lamp", node=1), found(PLAIN[1], nodes=[2])) == pytest.approx(
        [0.3954375]
    )
    assert rescored(rank, 2, 1) == pytest.approx([0.3954375, 0.21375])
    assert rank.explain_node(2) == pytest.approx({"along links": 0.2454375, "by itself": 0.15})
    assert learner("pagerank", "d=.5").score(visited(), found(*PLAIN)) == pytest.approx([0.625] * 2)


def test_pagerank_in_a_circle_settles() -> None:
    # 0 <-> 1: both have the rank 1 when the ranks hold still.
    rank = learner("pagerank")
    rank.score(visited(), found(PLAIN[0], nodes=[1]))
    rank.score(visited("lamp", node=1), found(PLAIN[0], nodes=[0]))
    assert rescored(rank, 0, 1) == pytest.approx([1.0, 1.0], abs=0.01)


def test_ipagerank() -> None:
    # A page of relevance .8 gives (1-.85)·.8 = .12 by itself. Its links weigh 1 (a term) and
    # .05 (stay=1: no second look, so the floor): .85·.12·1/1.05 and .85·.12·.05/1.05.
    rank = learner("ipagerank", "stay=1")
    links = found(link_to("1", "灯塔"), link_to("2", "渔船"))
    by_hand = [0.102 / 1.05, 0.0051 / 1.05]
    assert rank.score(visited(relevance=0.8), links) == pytest.approx(by_hand)
    assert rescored(rank, 1, 2) == pytest.approx(by_hand)
    # What nothing relevant leads to has nothing.
    assert rank.score(visited("about", node=9), found(PLAIN[1], nodes=[10])) == [0.0]
    assert rank.explain_node(1) == pytest.approx({"along links": by_hand[0], "by itself": 0.0})


def test_large_ranks_agree_with_an_independent_solution() -> None:
    random = np.random.default_rng(5)
    flow, size = RankFlow(0.85, 1.0), 60
    matrix = np.zeros((size, size))
    for page in range(40):
        targets = random.choice(size, 5, replace=False)
        weights = random.random(5)
        matrix[page, targets] = weights / weights.sum()
        flow.add_page(page, 1.0, targets.tolist(), weights.tolist())
        if page % 10 == 0:
            flow.converge()
    flow.converge()
    flow.name(size - 1)
    solved = np.linalg.solve(np.eye(size) - 0.85 * matrix.T, np.full(size, 0.15))
    assert flow.ranks(np.arange(size)) == pytest.approx(solved, rel=0.02)


# --- HITS ---------------------------------------------------------------------------------------


def test_hits() -> None:
    # 0 -> 1, 2; 3 -> 2. Of the hubs' matrix [[2, 1], [1, 1]] the largest eigenvalue is
    # (3 + √5)/2, so hub(3)/hub(0) = (√5 - 1)/2 = .618; authority(1) : authority(2)
    # = hub(0) : hub(0) + hub(3) = .618 : 1.
    hits = learner("hits")
    hits.score(visited(), found(*PLAIN))
    hits.score(visited("lamp", node=3), found(PLAIN[1], nodes=[2]))
    assert rescored(hits, 1, 2) == pytest.approx([0.618, 1.0], abs=0.005)
    assert hits.explain_node(3) == pytest.approx({"authority": 0.0, "hub": 0.618}, abs=0.005)


def test_hits_on_a_topic_counts_relevant_pages() -> None:
    # The links of 3, of relevance 0, weigh nothing: 1 and 2 are equal authorities.
    hits = learner("hits", "focus=1")
    hits.score(visited(relevance=1.0), found(*PLAIN))
    hits.score(visited("lamp", node=3), found(PLAIN[1], nodes=[2]))
    assert rescored(hits, 1, 2) == pytest.approx([1.0, 1.0])


def test_authorities_of_what_joins_later_are_found() -> None:
    values = Authorities()
    values.add_page(0, [1, 2], [1.0, 1.0])
    values.converge()
    for page in range(10, 20):
        values.add_page(page, [30, 31, 32], [1.0] * 3)
    values.converge()
    assert values.of(np.array([30, 1])) == pytest.approx([1.0, 0.0], abs=0.01)


# --- SVM with authorities -----------------------------------------------------------------------


def test_svm() -> None:
    # P = .6; the anchor is the term alone: cosine 1. Both targets are the only, equal
    # authorities: .6 + .5·1 + .25·1 and .6 + .25·1.
    svm = learner("svm")
    links = found(link_to("1", "灯塔"), link_to("2", "渔船"))
    assert svm.score(visited(relevance=0.6), links) == pytest.approx([1.1, 0.6], abs=0.01)
    assert rescored(svm, 1, 2) == pytest.approx([1.35, 0.85])
    assert svm.explain_node(1) == pytest.approx(
        {"probability of the page": 0.6, "words of the link": 0.5, "authority": 0.25}
    )
    # A better page leads to the second one as well: .9 + .25·authority.
    svm.score(visited("lamp", relevance=0.9, node=3), found(PLAIN[1], nodes=[2]))
    assert svm.explain_node(2)["probability of the page"] == 0.9
    # A worse one changes nothing.
    svm.score(visited("about", node=4), found(PLAIN[1], nodes=[2]))
    assert svm.explain_node(2)["probability of the page"] == 0.9
    # Without words and authorities it is best first.
    plain = learner("svm", "w=0,v=0")
    assert plain.score(visited(relevance=0.6), links) == [0.6, 0.6]


# --- Shark-Search -------------------------------------------------------------------------------


def test_shark_search() -> None:
    # inherited = .5·.6 = .3.
    # The term alone as anchor: .8·.3 + .2·(.8·1 + .2·1) = .44.
    # Only beside the link: .8·.3 + .2·(.8·0 + .2·1) = .28. Nowhere: .24.
    shark = learner("shark_search")
    links = found(link_to("1", "灯塔"), link_to("2", "去", "航标"), link_to("3", "渔船", "海岸"))
    assert shark.score(visited(relevance=0.6), links) == pytest.approx([0.44, 0.28, 0.24])
    # Page 3 is irrelevant and passes on half of what it inherited: .8·.5·.3 = .12.
    child = found(link_to("4"), nodes=[4])
    assert shark.score(visited("about", node=3), child) == pytest.approx([0.12])
    assert shark.explain_node(1) == pytest.approx({"inherited": 0.24, "anchor and context": 0.2})
    # Of several links to a page the best counts.
    again = found(link_to("1"), nodes=[1])
    assert shark.score(visited("about", node=3), again) == pytest.approx([0.44])
    assert rescored(shark, 4, 1) == pytest.approx([0.12, 0.44])
    # decay 1, gamma 1: the relevance itself is handed on.
    plain = learner("shark_search", "decay=1,gamma=1")
    assert plain.score(visited(relevance=0.6), links) == pytest.approx([0.6] * 3)


@pytest.mark.parametrize(
    ("name", "options"),
    [("pagerank", "d=1"), ("ipagerank", "c=2"), ("ipagerank", "stay=-1"), ("hits", "focus=1.1"),
     ("svm", "w=11"), ("shark_search", "beta=2"), ("rw", "c=7"), ("rwb", "d=-1"),
     ("weight_model", "home=99"), ("url_structure", "gamma=2")],
)  # fmt: skip
def test_options_out_of_bounds_are_named(name: str, options: str) -> None:
    option = options.partition("=")[0]
    with pytest.raises(ConfigError, match=f"option '{option}' of strategy '{name}' must lie in"):
        learner(name, options)
