"""Strategies that know the link and its page only (T6, E1, best first), worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from frontier_graph import TOPIC, found, link_to, visited
from qiaocrawl.errors import ConfigError
from qiaocrawl.frontier import Strategy, make_strategy
from qiaocrawl.frontier.strategies.simple import draws, page_group
from qiaocrawl.frontier.strategies.strategy import CrawlTopic
from qiaocrawl.frontier.strategies.words import LinkSimilarity
from qiaocrawl.items import PageText
from qiaocrawl.ontology.similarity import WordSimilarity
from qiaocrawl.ontology.sources import current_ontology
from qiaocrawl.relevance import make_scorer
from qiaocrawl.topic.pack import Sample, Term, TopicPack

# A term (灯塔 or 航标) in the URL (escaped) / the anchor / beside it / the title / nowhere.
IN_URL = link_to("%E7%81%AF%E5%A1%94/1")
IN_ANCHOR = link_to("1", "去灯塔")
BESIDE = link_to("2", "去看看", "有两座航标")
IN_TITLE = link_to("3", "去看看", "", "灯塔")
NOWHERE = link_to("4", "渔船", "海岸", "风暴")
EVERYWHERE = link_to("%E7%81%AF%E5%A1%94/5", "灯塔", "", "灯塔")
LINKS = found(IN_URL, IN_ANCHOR, BESIDE, IN_TITLE, NOWHERE, EVERYWHERE)


def strategy(name: str, options: str = "") -> Strategy:
    made = make_strategy(name, TOPIC, options)
    assert not hasattr(made, "rescored")
    return made  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("uh", [1, 0, 0, 0, 0, 1]),
        ("teh", [0, 1, 1, 0, 0, 1]),
        ("tih", [0, 0, 0, 1, 0, 1]),
        # .4·UH + .4·TeH + .2·TiH
        ("amh", [0.4, 0.4, 0.4, 0.2, 0, 1.0]),
        # The nearest word of any place is a term, whose similarity is 1.
        ("rw", [1, 1, 1, 1, 0, 1]),
        # The page's relevance, for every link of it.
        ("best_first", [0.6] * 6),
    ],
)
def test_a_term_somewhere(name: str, scores: list[float]) -> None:
    assert strategy(name).score(visited(relevance=0.6), LINKS) == pytest.approx(scores)


def test_the_weights_of_amh_are_options() -> None:
    # .1·1 + .2·1 + .3·1 for a term everywhere, .3 for one in the title.
    amh = strategy("amh", "a=.1, b=.2, c=.3")
    assert amh.score(visited(), LINKS)[5] == pytest.approx(0.6)
    assert amh.explain(visited(), LINKS[3]) == {
        "term in the URL": 0.0, "term in the texts": 0.0, "term in the title": 0.3,
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"needs a \+ b \+ c <= 1, got 1.2"):
        strategy("amh", "a=.9,b=.2,c=.1")
    with pytest.raises(ConfigError, match=r"option 'a' .* must lie in \[0, 1\], got -0.1"):
        strategy("amh", "a=-.1")


def test_all_extended_metadata_are_looked_at() -> None:
    bare = link_to("4", "渔船")
    written, named, pictured = (
        replace(bare, onmouseover="status='灯塔'"), replace(bare, name="灯塔 1"),
        replace(bare, src="/pic/%E7%81%AF%E5%A1%94.jpg"),
    )  # fmt: skip
    links = found(written, named, pictured, bare)
    assert strategy("uh").score(visited(), links) == [1, 0, 1, 0]
    assert strategy("tih").score(visited(), links) == [0, 1, 0, 0]
    assert strategy("rw").score(visited(), links) == [1, 1, 1, 0]


def test_a_synonym_counts_as_the_term() -> None:
    # 领事 and consul are words of one concept of the own ontology; its neighbour does not count.
    consular = CrawlTopic(TopicPack("consular", "", "", 0.1, (Term("领事", "core", 1.0),), (), ()))
    links = found(
        link_to("consul/1"), link_to("1", "the consul speaks"), link_to("2", "", "总领事到访"),
        link_to("3", "", "", "consul"), link_to("banana/4", "华侨", "香蕉"),
    )  # fmt: skip
    for name, scores in (("uh", [1, 0, 0, 0, 0]), ("teh", [0, 1, 1, 0, 0]),
                         ("tih", [0, 0, 0, 1, 0]), ("amh", [0.4, 0.4, 0.4, 0.2, 0])):  # fmt: skip
        made = make_strategy(name, consular)
        assert made.score(visited(), links) == pytest.approx(scores), name


# --- RW and RWB ------------------------------------------------------------------------------

LEARNT = CrawlTopic(
    TopicPack(
        "lights", "", "", 0.1, (Term("灯塔", "core", 3.0),), (),
        tuple(Sample(f"s{n}", "", text, n < 2)
              for n, text in enumerate(("雾笛与灯塔", "雾笛响了", "仓库", "商店"))),
    )
)  # fmt: skip


def test_a_learnt_word_is_as_near_as_it_weighs() -> None:
    # 雾笛 stands in both relevant samples and in no other: weight .6 x its rarity, below 1.
    weight = LEARNT.profile.weights["雾笛"]
    assert 0.3 < weight <= 0.6
    links = found(link_to("1", "雾笛"), link_to("2", "灯塔的雾笛"), link_to("3", "仓库"))
    assert make_strategy("rw", LEARNT, "c=.1").score(visited(), links) == [weight, 1.0, 0.0]
    # Above the threshold it counts, below it does not.
    assert make_strategy("rw", LEARNT, "c=.7").score(visited(), links) == [0.0, 1.0, 0.0]


def test_synonyms_and_near_words_come_from_the_ontology() -> None:
    terms = (Term("华侨", "core", 1.0), Term("泉州", "place", 1.0))
    near = LinkSimilarity(CrawlTopic(TopicPack("qiao", "", "", 0.1, terms, (), ())))
    assert near.of_word("华侨") == 1.0
    alike = WordSimilarity(current_ontology())
    for word in ("侨胞", "overseas chinese"):
        assert near.of_word(word) == alike("华侨", word) > 0.3
    assert near.of_word("香蕉") == 0.0
    assert near.of(link_to("4", "香蕉", "侨胞")) == near.of_word("侨胞")
    assert near.by_place(link_to("4", "香蕉", "侨胞"))["nearest word of the anchor"] == 0.0


def test_low_links_of_rwb_are_looked_at_again_or_drawn() -> None:
    low = found(NOWHERE)
    # d=0: p1 >= d whatever is drawn, so the page is asked; .5 is not below c.
    assert strategy("rwb", "d=0").score(visited(relevance=0.5), low) == [0.5]
    # The page is below c too: p2.
    p2 = draws(NOWHERE.key)[1]
    assert strategy("rwb", "d=0").score(visited(relevance=0.1), low) == [p2]
    assert strategy("rwb", "d=0").explain(visited(relevance=0.1), low[0]) == {"tunnel": p2}
    # The page is judged by its nearest word, whatever else it says.
    judge = make_scorer(strategy("rwb").page_scorer, LEARNT.pack)
    weight = LEARNT.profile.weights["雾笛"]
    assert judge.judge(PageText("商店", "仓库里的雾笛。" + "仓库。" * 50)).score == weight
    assert judge.judge(PageText("商店", "仓库。")).score == 0.0
    # d=1: p1 < d always, no second look.
    assert strategy("rwb", "d=1").score(visited(relevance=0.9), low) == [0.0]
    assert strategy("rwb", "d=1").score(visited(), found(IN_ANCHOR)) == [1.0]


def test_a_tenth_of_the_low_links_becomes_tunnels() -> None:
    links = found(*(link_to(f"page/{number}") for number in range(2000)))
    scores = strategy("rwb").score(visited(), links)
    assert 140 < sum(score > 0 for score in scores) < 260
    assert scores == strategy("rwb").score(visited(), links)
    assert scores != strategy("rwb", "seed=1").score(visited(), links)


def test_draws_belong_to_key_and_seed() -> None:
    drawn = [draws(number.to_bytes(16, "big"), 7) for number in range(2000)]
    assert len(set(drawn)) == 2000
    assert all(0 <= one < 1 for pair in drawn for one in pair)
    for which in (0, 1):
        assert sum(pair[which] for pair in drawn) / 2000 == pytest.approx(0.5, abs=0.03)
    together = sum((one - 0.5) * (other - 0.5) for one, other in drawn) / 2000
    assert together == pytest.approx(0.0, abs=0.01)


# --- the weight model -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "group"),
    [("/", "home"), ("", "home"), ("/index.html", "home"), ("/gundong/2.html", "rolling"),
     ("/roll/", "rolling"), ("/newsroll.html", "rolling"), ("/enroll/", "channel"),
     ("/payroll.html", "article"), ("/scroll-news/", "rolling"), ("/china/", "channel"),
     ("/china/index.shtml", "channel"), ("/china/list_2.html", "list"),
     ("/china/index_3.html", "list"), ("/tag/page/4", "list"), ("/forum?page=2", "list"),
     ("/2014/06/06/a.html", "article"), ("/show.php?id=5", "article"), ("/about", "article")],
)  # fmt: skip
def test_groups_of_pages(path: str, group: str) -> None:
    assert page_group(f"http://x.test{path}", 1) == group
    assert page_group(f"http://x.test{path}", 0) == "home"


def test_links_of_heavy_pages_come_first_down_to_the_articles() -> None:
    model = strategy("weight_model")
    links = found(link_to("a"), link_to("b"))
    # Home page 4 - depth 1; channel 3 - depth 2; list 2 - depth 2; one deeper: 3 - 3 - 100.
    assert model.score(visited("start", depth=0), links) == [3.0, 3.0]
    assert model.score(visited("coast", depth=1), links) == [1.0, 1.0]
    assert model.score(visited("list", depth=1), links) == [0.0, 0.0]
    assert model.score(visited("coast", depth=2), links) == [-100.0, -100.0]
    assert model.explain(visited("coast", depth=1), links[0]) == {
        "on a page of group channel": 3.0, "minus depth": -2.0,
    }  # fmt: skip
    heavy = strategy("weight_model", "channel=9")
    assert heavy.score(visited("coast", depth=1), links) == [7.0, 7.0]
