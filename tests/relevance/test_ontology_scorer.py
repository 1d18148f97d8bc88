"""The page scorer of O2, with the ontology that comes along."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance import make_scorer
from qiaocrawl.relevance.published.nearness import OntologyScorer, warn_of_unknown_terms
from qiaocrawl.topic.folder import load_pack
from qiaocrawl.topic.pack import Term, TopicPack

TOPICS = Path(__file__).resolve().parents[2] / "topics"


def pack(*terms: Term) -> TopicPack:
    return TopicPack("t", "", "", 0.1, terms, (), ())


AFFAIRS = pack(Term("归侨", "core", 2.0), Term("唐人街", "core", 1.0))


@pytest.fixture(scope="module")
def scorer() -> OntologyScorer:
    return OntologyScorer(AFFAIRS)


def test_a_page_worked_by_hand(scorer: OntologyScorer) -> None:
    # Title: 归侨 is a term, 难侨 a kind of it (one edge). Body: Chinatown is 唐人街, of half
    # the weight but rarer; 灯塔 is nothing to the topic.
    found = scorer.judge(PageText("归侨和难侨", "Chinatown 的灯塔"))
    heavy, light = scorer._near.similarity("归侨"), scorer._near.similarity("chinatown")
    assert heavy == 1.0
    assert 0.4 < light < 0.8
    title = (1 + math.exp(-0.4)) / 5
    assert found.score == pytest.approx(0.5 * title + 0.5 * light / 15)
    shares = dict(found.terms)
    assert list(shares) == ["归侨", "难侨", "chinatown"]
    assert found.places == ("title", "title", "text")
    assert shares["归侨"] == pytest.approx(0.5 / 5 / found.score, abs=1e-4)


def test_an_english_page_scores_as_the_chinese_one(scorer: OntologyScorer) -> None:
    chinese = scorer.judge(PageText("归侨", "唐人街"))
    english = scorer.judge(PageText("Returned overseas Chinese", "Chinatowns"))
    mixed = scorer.judge(PageText("歸僑", "a Chinatown"))
    assert chinese.score == english.score == mixed.score > 0
    assert {word for word, _ in english.terms} == {"returned overseas chinese", "chinatowns"}
    assert scorer.judge(PageText("A cook", "lamps and beacons")).score == 0.0


def test_a_page_in_both_languages_is_judged_by_its_concepts(scorer: OntologyScorer) -> None:
    mixed = scorer.judge(PageText("归侨 stories", "The Chinatown 守灯塔的人 says hello"))
    chinese = scorer.judge(PageText("归侨 故事", "唐人街守灯塔的人问好"))
    assert mixed.score == pytest.approx(chinese.score)
    assert {word for word, _ in mixed.terms} >= {"归侨", "chinatown"}
    # Each language brings its own concept: neither half alone says as much.
    halves = (PageText("归侨 stories", ""), PageText("", "The Chinatown says hello"))
    assert all(0 < scorer.judge(half).score < mixed.score for half in halves)


def test_keywords_count_with_the_title(scorer: OntologyScorer) -> None:
    found = scorer.judge(PageText("", "", meta="归侨"))
    assert found == scorer.judge(PageText("", "", meta="歸僑"))
    assert found.score == pytest.approx(0.1)


def test_places_of_a_topic_are_not_met_by_their_neighbours() -> None:
    scorer = OntologyScorer(pack(Term("唐人街", "place", 1.0), Term("侨汇", "core", 1.0)))
    assert scorer.judge(PageText("街区", "")).score == 0.0
    assert scorer.judge(PageText("Chinatown", "")).score > 0
    assert scorer.judge(PageText("汇款", "")).score > 0


def test_a_topic_no_ontology_knows_works_by_its_words() -> None:
    scorer = OntologyScorer(pack(Term("灯塔", "core", 3.0), Term("航标", "core", 3.0)))
    assert scorer.judge(PageText("灯塔和航标", "守灯塔的人修航标")).relevant
    assert scorer.judge(PageText("仓库", "值夜的人")).terms == ()


def test_samples_of_the_packs_fall_on_their_own_side() -> None:
    for name in ("qiaoqing", "education"):
        topic = load_pack(TOPICS / name)
        scorer = OntologyScorer(topic)
        for sample in topic.samples:
            found = scorer.judge(PageText(sample.title, sample.text))
            assert found.relevant is sample.relevant, sample.name


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown word similarity 'cubic'"):
        OntologyScorer(AFFAIRS, function="cubic")


def test_weights_and_top_k_are_options() -> None:
    # Title alone, its nearest word only: 归侨 is a term.
    made = make_scorer("ontology", AFFAIRS, options="alpha=1,beta=0,top_title=1")
    assert made.judge(PageText("归侨和灯塔", "唐人街")).score == pytest.approx(1.0)
    # Both alike; one nearest word of the title, the two nearest of the body: 1 and nothing.
    both = make_scorer("ontology", AFFAIRS, options="alpha=.5,beta=.5,top_title=1,top_body=2")
    assert both.judge(PageText("归侨", "归侨的灯塔")).score == pytest.approx((1 + 1 / 2) / 2)
    for wrong in ("alpha=2", "top_body=0", "alpha=0,beta=0"):
        with pytest.raises(ConfigError, match="page scorer 'ontology'"):
            make_scorer("ontology", AFFAIRS, options=wrong)


def test_a_topic_the_ontology_does_not_know_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warn_of_unknown_terms(AFFAIRS)
    assert caplog.text == ""
    warn_of_unknown_terms(pack(*(Term(word, "core") for word in ("归侨", "灯塔", "航标"))))
    assert "2 of 3 terms of topic 't' are in no installed ontology (such as" in caplog.text
