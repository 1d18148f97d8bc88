"""Crawling by the structure of URLs (U1-U3)."""

from __future__ import annotations

import numpy as np
import pytest

from frontier_graph import TOPIC, found
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import VisitedPage, make_strategy
from qiaocrawl.frontier.strategies.learned import MAX_EXAMPLES, UrlStructure
from qiaocrawl.items import Link

ARTICLE = "http://x.test/2014/06/06/t1.html"
LIKE_IT = "http://x.test/2015/12/31/t9.html"
CHANNEL = "http://x.test/news/"


def link(url: str) -> Link:
    return Link(url, url.encode()[:16], "x.test")


def page(url: str, node: int, relevant: bool = True) -> VisitedPage:
    return VisitedPage(url, "x.test", 1, float(relevant), relevant, 1e9, node)


def structure() -> UrlStructure:
    made = make_strategy("url_structure", TOPIC)
    assert isinstance(made, UrlStructure)
    return made


def test_without_a_relevant_page_nothing_is_known() -> None:
    strategy = structure()
    links = found(link(LIKE_IT), link(CHANNEL))
    assert strategy.score(page("http://x.test/", 0, relevant=False), links) == [0.0, 0.0]
    assert strategy.rescore(np.array([1, 2])).tolist() == [0.0, 0.0]
    assert strategy.explain_node(1) == {"host": 0.0, "directories": 0.0, "layout": 0.0}


def test_a_few_examples_make_an_order_before_any_page_is_judged() -> None:
    strategy = make_strategy("url_structure", TOPIC, f"examples={ARTICLE} http://y.test/a,gamma=.1")
    links = found(link(LIKE_IT), link(CHANNEL))
    like_it, other = strategy.score(page("http://x.test/", 0, relevant=False), links)
    assert like_it == pytest.approx(1.0)
    assert other < like_it
    like_it, other = strategy.rescore(np.array([1, 2])).tolist()
    assert like_it == pytest.approx(1.0)
    assert other < like_it


@pytest.mark.parametrize(
    ("examples", "why"),
    [
        ("www.x.test/1.html", "no http or https address"),
        (" ".join(f"http://x.test/{n}.html" for n in range(MAX_EXAMPLES + 1)), "at most"),
    ],
)
def test_what_is_no_example_is_named(examples: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        make_strategy("url_structure", TOPIC, f"examples={examples}")


def test_links_like_a_relevant_page_come_first() -> None:
    strategy = structure()
    links = found(link(LIKE_IT), link(CHANNEL))
    same, other = strategy.score(page(ARTICLE, 0), links)
    # The same but for digits in date and file name, which count alike.
    assert same == pytest.approx(1.0)
    # Initial weights: file .15, depth .05, and of the other .8 the host has 256/511. The host is
    # the same. The directory: 0000/00/00 and news have nothing in common, neither has the
    # type: 0. Both have one directory: .05.
    # The file: t0.html and "" agree in having no parameters and, t0 being mixed, in nothing
    # else; stem and suffix of "" are "0": t0 and 0 differ in one of two characters, html and 0
    # in all: (1 + 1/2 + 0)/6 of .15.
    host, layout = 0.8 * 256 / 511, 0.05 + 0.15 * 1.5 / 6
    assert other == pytest.approx(host + layout)
    assert strategy.explain_node(2) == pytest.approx(
        {"host": host, "layout": layout, "directories": 0.0}
    )
    heavy = make_strategy("url_structure", TOPIC, "w_f=.4,w_dd=.1")
    _, other = heavy.score(page(ARTICLE, 0), links)
    assert other == pytest.approx(0.5 * 256 / 511 + 0.1 + 0.4 * 1.5 / 6)


def test_waiting_links_are_compared_with_what_is_found_later() -> None:
    strategy = structure()
    strategy.score(page("http://x.test/", 0, relevant=False), found(link(LIKE_IT), link(CHANNEL)))
    strategy.score(page(ARTICLE, 3), [])
    like_it, channel = strategy.rescore(np.array([1, 2])).tolist()
    assert like_it == pytest.approx(1.0)
    assert 0 < channel < 0.9
    # Told again of the same link, it answers as rescored.
    again = strategy.score(page("http://x.test/b", 4, relevant=False), found(link(LIKE_IT)))
    assert again == pytest.approx([1.0])


def test_the_newest_sixty_examples_count() -> None:
    strategy = structure()
    first = "http://elsewhere.example/aaaa/bbbb"
    strategy.score(page(first, 0), [])
    for node in range(1, MAX_EXAMPLES + 1):
        strategy.score(page(f"http://x.test/{'c' * node}/{node}.html", node), [])
    links = found(link(first + "c"), link("http://x.test/cccc/7.html"), nodes=[100, 101])
    strategy.score(page("http://x.test/", 99, relevant=False), links)
    forgotten, kept = strategy.rescore(np.array([100, 101])).tolist()
    assert forgotten < 0.9
    assert kept == pytest.approx(1.0)


def test_scores_between_rescorings_are_those_of_a_fresh_comparison() -> None:
    # Scores are raised example by example; without new weights that is the whole comparison.
    strategy = structure()
    urls = [f"http://x{n % 3}.test/{'ab'[n % 2]}{n % 5}/p{n}-{n * n}.html" for n in range(40)]
    links = found(*map(link, urls), nodes=list(range(40)))
    for node in range(40):
        raised = strategy.score(page(urls[node], node, relevant=node % 4 == 0), links)
    fresh = [sum(strategy.explain_node(node).values()) for node in range(40)]
    assert raised == pytest.approx(fresh)
