"""The default order: what it learns from, what it remembers, and what it makes of bad models."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from qiaocrawl.errors import ModelError
from qiaocrawl.frontier import CrawlTopic, PriorityIndex
from qiaocrawl.frontier.strategies.adaptive.adaptive import Adaptive
from qiaocrawl.frontier.strategies.adaptive.arrays import MAX_NEW, NUMBER_OF_FEATURES
from qiaocrawl.frontier.strategies.adaptive.kernels import evidence, value_of
from qiaocrawl.frontier.strategies.adaptive.link_features import is_pager, singular, url_features
from qiaocrawl.frontier.strategies.adaptive.link_memory import untrained_weights
from qiaocrawl.items import Link, Visit
from qiaocrawl.kernels import floats
from qiaocrawl.topic.pack import Sample, Term, TopicPack

TOPIC = CrawlTopic(
    TopicPack(
        "lights", "", "", 0.1, (Term("灯塔", "core", 3.0), Term("lighthouse", "core", 3.0)), (),
        (Sample("yes", "灯塔", "守灯塔的人换航标灯。", True),
         Sample("no", "仓库", "值夜的人看守仓库。", False)),
    )
)  # fmt: skip
HOST = "x.test"


def link(path: str, anchor: str = "", region: str = "") -> Link:
    key = path.encode().ljust(16)[:16]
    return Link(f"http://{HOST}/{path}", key, HOST, anchor=anchor, region=region)


def visit(path: str, links: list[Link], relevance: float = 0.0) -> Visit:
    one = link(path)
    return Visit(one.key, one.url, HOST, 1, relevance, relevance >= 0.5, 1e9, links)


def scores_after(order: PriorityIndex, *paths: str) -> list[float]:
    order.rescore()
    return [order.score_of(order.node_of(link(path).key) or 0) for path in paths]


def test_words_of_the_topic_come_first_without_any_training() -> None:
    order = PriorityIndex(Adaptive(TOPIC))
    scores = order.visit(
        visit(
            "",
            [link("a", "灯塔开放"), link("b", "仓库值夜"), link("c", "Lighthouses of the north")],
        )
    )
    assert scores[0] > scores[1]
    assert scores[2] > scores[1]


def test_what_a_region_led_to_counts_for_the_rest_of_it() -> None:
    order = PriorityIndex(Adaptive(TOPIC))
    news = [link(f"n{n}", "甲", "li ul.news") for n in range(8)]
    ads = [link(f"a{n}", "乙", "li ul.side") for n in range(8)]
    order.visit(visit("", [*news, *ads]))
    before = scores_after(order, "n7", "a7")
    for n in range(6):
        order.visit(visit(f"n{n}", [], 0.95))
        order.visit(visit(f"a{n}", [], 0.02))
    good, bad = scores_after(order, "n7", "a7")
    assert good > before[0]
    assert good > 3 * bad


def test_lists_are_credited_with_what_they_led_to() -> None:
    """Pages of the list are worth nothing themselves; their links turn out relevant later."""
    order = PriorityIndex(Adaptive(TOPIC))
    lists = [link(f"list/{n}", f"{n}", "div.pager") for n in range(2, 9)]
    other = [link(f"about/{n}", f"丙{n}", "div.foot") for n in range(2, 9)]
    order.visit(visit("", [*lists, *other]))
    for n in range(2, 6):
        articles = [link(f"p/{n}-{k}", f"丁{k}", "li ul.news") for k in range(4)]
        order.visit(visit(f"list/{n}", articles))
        for article in articles:
            order.visit(visit(article.url.removeprefix(f"http://{HOST}/"), [], 0.95))
        order.visit(visit(f"about/{n}", []))
    more, less = scores_after(order, "list/8", "about/8")
    assert more > 3 * less


def test_the_value_of_a_page_is_the_best_mean_of_going_on() -> None:
    strategy = Adaptive(TOPIC)
    order = PriorityIndex(strategy)
    order.visit(visit("", [link("hub", "x"), link("leaf", "x")]))
    order.visit(visit("hub", [link("a"), link("b"), link("c")]))
    for path, relevance in (("a", 1.0), ("b", 1.0), ("c", 0.0)):
        order.visit(visit(path, [], relevance))
    memory = strategy._memory
    hub = order.node_of(link("hub").key) or 0
    found = memory.links.discovered[memory.nodes.new_start[hub] :][:3]
    a, b, c = (float(memory.nodes.relevance[node]) for node in found)
    # The second opinion moved the relevances a little: max of r, (r+a)/2, (r+a+b)/3, ...
    own = float(memory.nodes.relevance[hub])
    expected = max(own, (own + a) / 2, (own + a + b) / 3, (own + a + b + c) / 4)
    value = value_of(memory.node_views, memory.link_views, hub, floats(np.empty(MAX_NEW)))
    assert value == pytest.approx(expected)
    assert 0.6 < expected < 0.75


def test_evidence_of_a_group_nobody_has_seen_is_nothing() -> None:
    assert evidence(0.0, 0.0, 0.1, 3.0) == pytest.approx(0.0)
    # (2 + 3 * .1) / (4 + 3) = .3286; ln(.3286 / .6714) - ln(.1 / .9) = -.7147 + 2.1972
    assert evidence(2.0, 4.0, 0.1, 3.0) == pytest.approx(1.4825, abs=1e-3)


@pytest.mark.parametrize(
    "url",
    ["http://x.test/", "http://x.test/a/2024/b-17.html?id=3", "http://x.test/灯塔%E4/%zz//..;?#",
     "x", "http://[::1/", ""],
)  # fmt: skip
def test_any_url_has_signs(url: str) -> None:
    features = url_features(url, HOST)
    assert all(0 <= number <= 1 for number in features.numbers)
    assert len(features.groups) == 4


def test_numbers_in_urls_are_alike() -> None:
    def groups(path: str) -> tuple[int, ...]:
        return url_features(f"http://{HOST}/{path}", HOST).groups

    assert groups("news/2023/17.html") == groups("news/2024/981.html")
    assert groups("news/2023/17.html")[2:] != groups("blog/2023/17.html")[2:]


@pytest.mark.parametrize("anchor", ["3", "12", "下一页", "next", "Next page", "»", "更多", "[2]"])
def test_pagers_are_told(anchor: str) -> None:
    assert is_pager(anchor)


@pytest.mark.parametrize("anchor", ["", "第3届年会", "Next generation", "20241", "灯塔"])
def test_other_anchors_are_no_pagers(anchor: str) -> None:
    assert not is_pager(anchor)


def test_plurals_meet_their_singular() -> None:
    assert [singular(word) for word in ("students", "class", "bus", "灯塔s", "is")] == [
        "student", "class", "bus", "灯塔s", "is"]  # fmt: skip


def crawl_at_random(order: PriorityIndex, pages: int, seed: int) -> list[bytes]:
    """Fetch *pages* of a made-up web that is the same for the same seed."""
    dice = random.Random(seed)
    order.add(link("").key, link("").url, HOST, 0)
    fetched = []
    for _ in range(pages):
        nodes = order.best(1)
        order.take(nodes)
        key = order.key_of(nodes[0])
        fetched.append(key)
        path = key.decode().strip()
        links = [link(f"{dice.randrange(400)}", f"词{dice.randrange(30)}") for _ in range(8)]
        unique = list({one.key: one for one in links if one.key != key}.values())
        order.visit(visit(path, unique, dice.random()))
    return fetched


def test_the_same_pages_give_the_same_order() -> None:
    first = crawl_at_random(PriorityIndex(Adaptive(TOPIC)), 60, 1)
    assert crawl_at_random(PriorityIndex(Adaptive(TOPIC)), 60, 1) == first


def test_scores_stay_probabilities_and_learning_finite() -> None:
    strategy = Adaptive(TOPIC)
    order = PriorityIndex(strategy)
    crawl_at_random(order, 120, 2)
    order.rescore()
    scores = [order.score_of(int(node)) for node in order.waiting]
    assert all(0 <= score <= 1 for score in scores)
    assert np.isfinite(strategy._learnt.weights).all()
    assert len(strategy._learnt.weights) == NUMBER_OF_FEATURES


def test_a_model_carries_over_and_teaches_nothing_twice() -> None:
    first = Adaptive(TOPIC)
    crawl_at_random(PriorityIndex(first), 80, 3)
    again = Adaptive(TOPIC)
    again.load(first.save())
    assert np.allclose(again._learnt.weights, first._learnt.weights)
    assert np.allclose(again._learnt.word_weights, first._learnt.word_weights, atol=1e-6)
    again.replaying = True
    crawl_at_random(PriorityIndex(again), 20, 3)
    assert np.allclose(again._learnt.weights, first._learnt.weights)


def damaged(model: bytes) -> bytes:
    return model[:-7] + b"xxxxxxx"


def packed_otherwise(model: bytes) -> bytes:
    """A method no zip program knows, under a checksum that holds."""
    rest = bytearray(model[14:])
    at = rest.rindex(b"PK\x01\x02")
    rest[at + 10] = rest[8] = 77
    first = rest.index(b"PK\x01\x02")
    rest[first + 10] = 77
    return struct.pack("<8sHI", model[:8], 1, zlib.crc32(rest)) + bytes(rest)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: b"",
        lambda model: b"x" * 400,
        lambda model: model[:100],
        damaged,
        packed_otherwise,
        lambda model: model[:8] + b"\x09\x00" + model[10:],
    ],
    ids=["empty", "foreign", "cut", "damaged", "packed otherwise", "other format"],
)
def test_a_spoilt_model_is_refused_and_changes_nothing(spoil: Callable[[bytes], bytes]) -> None:
    strategy = Adaptive(TOPIC)
    before = strategy._learnt.weights.copy()
    with pytest.raises(ModelError, match="model of the adaptive order"):
        strategy.load(spoil(strategy.save()))
    assert (strategy._learnt.weights == before).all()


def test_the_reasons_of_a_score_are_named() -> None:
    strategy = Adaptive(TOPIC)
    order = PriorityIndex(strategy)
    order.visit(visit("", [link("a", "灯塔开放"), link("b", "仓库")]))
    parts = strategy.explain_node(order.node_of(link("a").key) or 0)
    assert "anchor like topic" in parts
    assert list(map(abs, parts.values())) == sorted(map(abs, parts.values()), reverse=True)
    assert untrained_weights().weights[0] < 0
