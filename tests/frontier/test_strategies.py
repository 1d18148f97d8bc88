"""Crawl order: a small graph crawled by each strategy, and a contract for all."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from frontier_graph import TOPIC, WEB, crawl, link_to
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import (
    FoundLink,
    LearningStrategy,
    PriorityIndex,
    Strategy,
    VisitedPage,
    scores_of,
    strategies,
)
from qiaocrawl.items import Link, Visit

#        start
#       /  |  \
#      a   b   c
#     / \   \
#    d   e   f
GRAPH = {"start": ["a", "b", "c"], "a": ["d", "e"], "b": ["f"], "c": [], "d": [], "e": [], "f": []}

PUBLISHED = (
    "bfs", "dfs", "best_first", "shark_search", "uh", "teh", "tih", "amh", "rw", "rwb",
    "pagerank", "ipagerank", "hits", "svm", "ontology", "url_structure", "weight_model",
)  # fmt: skip

HOSTILE_URLS = (
    "", "x", "http://", "http://[::1", "https://例子.测试/灯塔，更多", "http://x.test/a.html，更多",
    "http://x.test/%", "http://x.test/%ff%fe%", "http://x.test/" + "a/" * 3000, "://?#", "\x00",
    "http://x.test/\ud800", "http://" + "a" * 5000, "http://..../..", "http://u:p@x.test:99999/?",
)  # fmt: skip
HOSTILE_TEXTS = ("", "\x00", "\ud800灯塔", "灯塔" * 5000, "\u202e\ufeff", "a" * 20_000, "🗼" * 99)


def strategy_called(name: str) -> Strategy | LearningStrategy:
    return strategies.get(name)(TOPIC)


def link(name: str) -> Link:
    return Link(url=f"http://x.test/{name}", key=name.encode().ljust(16), host="x.test")


def crawl_order(name: str) -> list[str]:
    order = PriorityIndex(strategy_called(name))
    first = link("start")
    order.add(first.key, first.url, first.host, 0)
    depths = {"start": 0}
    fetched: list[str] = []
    while best := order.best(1):
        order.take(best)
        page = order.key_of(best[0]).decode().strip()
        fetched.append(page)
        for target in GRAPH[page]:
            depths.setdefault(target, depths[page] + 1)
        order.visit(Visit(
            link(page).key, link(page).url, "x.test", depths[page], relevance=0.0,
            relevant=False, at=1_800_000_000.0 + len(fetched), links=list(map(link, GRAPH[page])),
        ))  # fmt: skip
    return fetched


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("bfs", ["start", "a", "b", "c", "d", "e", "f"]),
        ("dfs", ["start", "a", "d", "e", "b", "f", "c"]),
    ],
)
def test_order_of_a_small_graph(name: str, order: list[str]) -> None:
    assert crawl_order(name) == order


def test_depth_first_goes_on_after_a_restart() -> None:
    links = [link(str(number)) for number in range(200)]
    before = Visit(b"1" * 16, "http://x.test/1", "x.test", 0, 0.0, False, 1_800_000_000.0, links)
    after = Visit(b"2" * 16, "http://x.test/2", "x.test", 0, 0.0, False, 1_800_000_000.001, links)
    depth_first = strategy_called("dfs")
    assert min(scores_of(depth_first, after)) > max(scores_of(depth_first, before))


def test_every_published_strategy_has_its_name() -> None:
    assert set(PUBLISHED) - set(strategies.names()) == set()


def test_no_two_strategies_have_the_same_order() -> None:
    orders = {name: crawl(strategy_called(name)) for name in PUBLISHED}
    same = [pair for pair in combinations(PUBLISHED, 2) if orders[pair[0]] == orders[pair[1]]]
    assert same == []
    # Only O3 leaves links out; all others fetch the whole web in the end.
    assert {name for name in PUBLISHED if set(orders[name]) != set(WEB)} <= {"ontology"}


@pytest.mark.parametrize("name", strategies.names())
def test_every_strategy_fetches_what_it_is_given(name: str) -> None:
    assert strategy_called(name).name == name
    fetched = crawl_order(name)
    assert fetched[0] == "start"
    assert len(set(fetched)) == len(fetched)


@pytest.mark.parametrize("name", strategies.names())
def test_every_strategy_gives_a_number_for_every_link_and_says_why(name: str) -> None:
    for relevance, depth, at in ((0.0, 0, 0.0), (1.0, 300, 4e9)):
        strategy = strategy_called(name)
        page = VisitedPage("http://x.test/", "x.test", depth, relevance, relevance > 0.5, at, 0)
        found = [FoundLink(link(n), place, 3, place + 1) for place, n in enumerate("abc")]
        assert_valid(strategy, page, found)
        assert strategy.score(page, []) == []


@pytest.mark.parametrize("name", strategies.names())
def test_no_link_is_too_strange_for_any_strategy(name: str) -> None:
    strategy = strategy_called(name)
    texts = (HOSTILE_TEXTS * 3)[: len(HOSTILE_URLS)]
    found = [
        FoundLink(Link(url, bytes([place] * 16), "", text, text, text), place, 1, place + 1)
        for place, (url, text) in enumerate(zip(HOSTILE_URLS, texts, strict=True))
    ]
    for node, url in enumerate(HOSTILE_URLS, start=1):
        page = VisitedPage(url, "", 1, 0.7, True, 1e9, node)
        assert_valid(strategy, page, found)


def assert_valid(
    strategy: Strategy | LearningStrategy, page: VisitedPage, found: list[FoundLink]
) -> None:
    scores = list(strategy.score(page, found))
    assert len(scores) == len(found)
    nodes = [one.node for one in found]
    if isinstance(strategy, LearningStrategy):
        assert strategy.rescore_pages >= 1
        scores += strategy.rescore(np.array(nodes)).tolist()
        explained = [strategy.explain_node(node) for node in nodes]
    else:
        explained = [strategy.explain(page, one) for one in found]
    assert not any(math.isnan(score) or score == math.inf for score in scores)
    for parts in explained:
        assert all(isinstance(part, float) and math.isfinite(part) for part in parts.values())


@pytest.mark.parametrize("name", strategies.names())
def test_a_waiting_page_nothing_links_to_can_be_scored_and_explained(name: str) -> None:
    strategy = strategy_called(name)
    if isinstance(strategy, LearningStrategy):
        one = link_to("lamp")
        strategy.add_node(5000, one.url, one.host, 0)
        assert np.isfinite(strategy.rescore(np.array([5000]))).all()
        assert all(map(math.isfinite, strategy.explain_node(5000).values()))


def test_an_unknown_strategy_is_named_with_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"unknown strategy 'bsf'; did you mean 'bfs'"):
        strategies.get("bsf")
