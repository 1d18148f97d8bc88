"""The page scorer of O2, with the ontology that comes along."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance.ontology import OntologyScorer
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
