"""The strategy of O3, with the ontology that comes along."""

from __future__ import annotations

import math

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import CrawlTopic, FoundLink, PriorityIndex, VisitedPage
from qiaocrawl.frontier.strategies.simple import BreadthFirst
from qiaocrawl.frontier.strategies.strategy import Strategy
from qiaocrawl.frontier.strategies.words import OntologyLinks
from qiaocrawl.items import PRUNED, Link, Visit
from qiaocrawl.topic.pack import Term, TopicPack

TOPIC = CrawlTopic(TopicPack("t", "", "", 0.1, (Term("归侨", "core", 2.0),), (), ()))


def link(path: str, anchor: str = "", title: str = "") -> Link:
    return Link(f"http://x.test/{path}", path.encode().ljust(16), "x.test", anchor, title=title)


def page(relevance: float, depth: int = 1) -> VisitedPage:
    return VisitedPage("http://x.test/", "x.test", depth, relevance, relevance > 0.1, 0.0)


def scores(strategy: OntologyLinks, of: VisitedPage, *links: Link) -> list[float]:
    return list(strategy.score(of, [FoundLink(one, n, len(links)) for n, one in enumerate(links)]))


def test_links_worked_by_hand() -> None:
    strategy = OntologyLinks(TOPIC)
    near = math.exp(-0.4)
    found = scores(
        strategy, page(0.4),
        link("a/1", "归侨"),
        link("b/2", "Returned overseas Chinese"),
        # A kind of 归侨 beside a word that says nothing: (e^-0.4 + 0) / 2.
        link("c/3", "难侨 灯塔"),
        # Pinyin in the URL beside the host's two words: (1 + 0 + 0) / 3.
        link("guiqiao/", ""),
        link("d/4", "", title="归侨"),
        link("e/5", "灯塔"),
    )  # fmt: skip
    rest = 0.3 * 0.4
    assert found == pytest.approx(
        [0.5 + rest, 0.5 + rest, 0.25 * near + rest, 0.2 / 2 + rest, 0.5 + rest, rest]
    )
    parts = strategy.explain(page(0.4), FoundLink(link("a/1", "归侨"), 0, 1))
    assert parts == {"anchor": 0.5, "URL": 0.0, "page": pytest.approx(0.12)}


def test_what_says_nothing_at_all_is_left_out_but_on_start_pages() -> None:
    nothing, something = link("e", "灯塔"), link("a", "归侨")
    strategy = OntologyLinks(TOPIC)
    assert scores(strategy, page(0.0), nothing, something) == [PRUNED, 0.5]
    assert scores(strategy, page(0.03), nothing) == [PRUNED]
    assert scores(strategy, page(0.04), nothing) == [pytest.approx(0.012)]
    assert scores(strategy, page(0.0, depth=0), nothing) == [0.0]
    assert scores(OntologyLinks(TOPIC, threshold=0.0), page(0.0), nothing) == [0.0]


GRAPH = {
    "start": [("a", "灯塔"), ("b", "returned overseas Chinese")],
    "a": [("d", "灯塔"), ("e", "归国华侨")],
    "b": [("f", "航标")],
    "d": [], "e": [], "f": [],
}  # fmt: skip
RELEVANCE = {"start": 0.2, "b": 0.6, "e": 0.6}


def crawl_order(strategy: Strategy) -> list[str]:
    order, fetched, depth = PriorityIndex(strategy), [], {"start": 0}
    first = link("start")
    order.add(first.key, first.url, first.host, 0)
    while best := order.best(1):
        order.take(best)
        name = order.key_of(best[0]).decode().strip()
        fetched.append(name)
        for target, _ in GRAPH[name]:
            depth[target] = depth[name] + 1
        relevance = RELEVANCE.get(name, 0.0)
        order.visit(Visit(
            link(name).key, link(name).url, "x.test", depth[name], relevance, relevance > 0.1, 1.0,
            [link(target, anchor) for target, anchor in GRAPH[name]],
        ))  # fmt: skip
    return fetched


def test_the_order_follows_meaning_where_breadth_first_follows_depth() -> None:
    assert crawl_order(BreadthFirst(TOPIC)) == ["start", "a", "b", "d", "e", "f"]
    # The English anchor first, then f of a relevant page, then a; d is pruned.
    assert crawl_order(OntologyLinks(TOPIC)) == ["start", "b", "f", "a", "e"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"alpha": 0.9}, "alpha .* beta .* gamma"),
        ({"threshold": 1.5}, r"must lie in \[0, 1\]"),
        ({"function": "cubic"}, "unknown word similarity 'cubic'"),
    ],
)
def test_wrong_options_are_named(given: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        OntologyLinks(TOPIC, **given)  # type: ignore[arg-type]


def test_top_k_of_a_text_is_an_option() -> None:
    # The nearest word alone: 归侨 beside one that says nothing.
    nearest = OntologyLinks(TOPIC, top=1)
    assert scores(nearest, page(0.0), link("x/1", "归侨 灯塔")) == [0.5]
    # With three it is the mean of both: (1 + 0) / 2.
    assert scores(OntologyLinks(TOPIC), page(0.0), link("x/1", "归侨 灯塔")) == [0.25]
