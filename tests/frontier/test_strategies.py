"""Crawl order: a hand-worked graph for each strategy, and a contract for all."""

from __future__ import annotations

import math

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import LinkContext, strategies
from qiaocrawl.items import Link

#        start
#       /  |  \
#      a   b   c
#     / \   \
#    d   e   f
GRAPH = {"start": ["a", "b", "c"], "a": ["d", "e"], "b": ["f"], "c": [], "d": [], "e": [], "f": []}


def link(name: str) -> Link:
    return Link(url=f"http://x.test/{name}", key=name.encode().ljust(16), host="x.test")


def crawl_order(strategy_name: str) -> list[str]:
    """Fetch the graph with a frontier that does what the table does: score, then age."""
    strategy = strategies.get(strategy_name)()
    waiting: list[tuple[float, int, str, int]] = [(0.0, 0, "start", 0)]
    fetched: list[str] = []
    discovered = 0
    while waiting:
        waiting.sort(key=lambda row: (-row[0], row[1]))
        _, _, name, depth = waiting.pop(0)
        fetched.append(name)
        for position, target in enumerate(GRAPH[name]):
            discovered += 1
            context = LinkContext(
                depth=depth + 1, position=position, links_on_page=len(GRAPH[name]),
                discovered_at=1_800_000_000.0 + len(fetched), parent_relevance=0.0,
            )
            waiting.append((strategy.score(link(target), context), discovered, target, depth + 1))
    return fetched


@pytest.mark.parametrize(
    ("name", "order"),
    [("bfs", ["start", "a", "b", "c", "d", "e", "f"]),
     ("dfs", ["start", "a", "d", "e", "b", "f", "c"])],
)
def test_order_of_a_small_graph(name: str, order: list[str]) -> None:
    assert crawl_order(name) == order


def test_depth_first_goes_on_after_a_restart() -> None:
    strategy = strategies.get("dfs")()
    before = LinkContext(1, 0, 200, discovered_at=1_800_000_000.0, parent_relevance=0.0)
    after = LinkContext(1, 199, 200, discovered_at=1_800_000_000.001, parent_relevance=0.0)
    assert strategy.score(link("x"), after) > strategy.score(link("y"), before)


@pytest.mark.parametrize("name", strategies.names())
def test_every_strategy_scores_with_finite_numbers(name: str) -> None:
    strategy = strategies.get(name)()
    assert strategy.name == name
    for context in (LinkContext(0, 0, 0, 0.0, 0.0), LinkContext(300, 9_999, 10_000, 4e9, 1.0)):
        assert math.isfinite(strategy.score(link("x"), context))


def test_an_unknown_strategy_is_named_with_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"unknown strategy 'bsf'; did you mean 'bfs'"):
        strategies.get("bsf")
