"""Crawl order: a hand-worked graph for each strategy, and a contract for all."""

from __future__ import annotations

import math

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import (
    CrawlOrder,
    CrawlTopic,
    FoundLink,
    LearningStrategy,
    Strategy,
    Visit,
    VisitedPage,
    scores_of,
    strategies,
)
from qiaocrawl.items import Link
from qiaocrawl.topic.pack import Sample, Term, TopicPack

TOPIC = CrawlTopic(
    TopicPack(
        "lights", "", "", 0.1, (Term("灯塔", "core", 3.0), Term("航标", "core", 2.0)), (),
        (Sample("yes", "灯塔", "守灯塔的人换航标灯。", True),
         Sample("no", "仓库", "值夜的人看守仓库。", False)),
    )
)  # fmt: skip

#        start
#       /  |  \
#      a   b   c
#     / \   \
#    d   e   f
GRAPH = {"start": ["a", "b", "c"], "a": ["d", "e"], "b": ["f"], "c": [], "d": [], "e": [], "f": []}


def strategy_called(name: str) -> Strategy | LearningStrategy:
    return strategies.get(name)(TOPIC)


def link(name: str) -> Link:
    return Link(url=f"http://x.test/{name}", key=name.encode().ljust(16), host="x.test")


def crawl_order(name: str) -> list[str]:
    order = CrawlOrder(strategy_called(name))
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
    [("bfs", ["start", "a", "b", "c", "d", "e", "f"]),
     ("dfs", ["start", "a", "d", "e", "b", "f", "c"])],
)
def test_order_of_a_small_graph(name: str, order: list[str]) -> None:
    assert crawl_order(name) == order


def test_depth_first_goes_on_after_a_restart() -> None:
    links = [link(str(number)) for number in range(200)]
    before = Visit(b"1" * 16, "http://x.test/1", "x.test", 0, 0.0, False, 1_800_000_000.0, links)
    after = Visit(b"2" * 16, "http://x.test/2", "x.test", 0, 0.0, False, 1_800_000_000.001, links)
    depth_first = strategy_called("dfs")
    assert min(scores_of(depth_first, after)) > max(scores_of(depth_first, before))


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
        scores = strategy.score(page, found)
        assert len(scores) == 3
        assert not any(math.isnan(score) or score == math.inf for score in scores)
        parts = (
            strategy.explain_node(1)
            if isinstance(strategy, LearningStrategy)
            else strategy.explain(page, found[0])
        )
        assert all(isinstance(part, float) for part in parts.values())
        assert strategy.score(page, []) == []


def test_an_unknown_strategy_is_named_with_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"unknown strategy 'bsf'; did you mean 'bfs'"):
        strategies.get("bsf")
