"""A lexicon from texts; neighbours, expansion, keyphrases and the published tables."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from qiaocrawl.lexicon.build import LexiconBuilder
from qiaocrawl.lexicon.expansion import RELATIONS, Alias, Neighbours, expansion
from qiaocrawl.lexicon.phrases import Frequencies, keyphrases, phrase_features, tagged_words
from qiaocrawl.lexicon.terms import Document, TermCounts, example_sentences, weight_table
from qiaocrawl.ontology.concepts import Ontology
from qiaocrawl.ontology.sources import own_wordnet
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.topic.pack import Term
from small_wordnets import words

# Jieba's dictionary takes 100 MB: it is read by the processes that need it.
segmenter = cache(Segmenter)
_NEWS = (
    "侨胞在{place}举办座谈会，讨论工作安排。",
    "{place}的侨胞向家乡学校捐款，工作人员表示感谢。",
    "为侨胞服务的工作在{place}展开，侨批档案馆同日开放。",
)


def _builder(**options: bool) -> LexiconBuilder:
    builder = LexiconBuilder(**options)
    for number, place in enumerate(("泉州", "福州", "厦门", "漳州", "广州", "深圳")):
        for step, sentence in enumerate(_NEWS):
            text = sentence.format(place=place)
            builder.add(
                Document(f"{place}第{number}{step}号", text, f"s{number % 2}.test", "2026-03")
            )
    return builder


def test_what_is_of_the_topic_stands_above_what_is_common() -> None:
    lexicon = _builder().lexicon()
    places = {row.text: place for place, row in enumerate(lexicon.terms)}
    rows = {row.text: row for row in lexicon.terms}
    assert places["侨胞"] < places["工作"]
    assert rows["侨胞"].frequency == rows["侨胞"].documents == 18
    assert (rows["侨胞"].sites, rows["侨胞"].months) == (2, 1)
    assert rows["侨胞"].log_odds > rows["工作"].log_odds
    assert (lexicon.documents, lexicon.sites) == (18, 2)


def test_a_clause_said_again_is_no_new_evidence() -> None:
    builder = LexiconBuilder()
    for number in range(5):
        builder.add(Document("", f"未经书面授权不得转载本站内容，第{number}次侨胞展览在泉州开幕。"))
    rows = {row.text: row for row in builder.lexicon(least_documents=1).terms}
    assert rows["授权"].frequency == 1
    assert rows["侨胞"].frequency == 5


@pytest.mark.parametrize("with_persons", [False, True])
def test_names_of_people_are_left_out_unless_asked_for(with_persons: bool) -> None:
    builder = LexiconBuilder(with_persons=with_persons)
    for city in ("泉州", "福州", "厦门"):
        builder.add(Document("", f"王建国在{city}出席侨胞座谈会"))
    terms = {row.text for row in builder.lexicon().terms}
    assert ("王建国" in terms) is with_persons
    assert not any("王建国" in term for term in terms - {"王建国"}) or with_persons


def test_examples_are_sentences_of_different_texts() -> None:
    texts = ["前言。侨批档案开放。后记。", "侨批是家书。侨批。", "侨批三"]
    assert example_sentences(texts, ["侨批", "无"]) == {
        "侨批": ["侨批档案开放", "侨批是家书"],
        "无": [],
    }
    (sentence,) = example_sentences(["长" * 200 + "侨批" + "长" * 200], ["侨批"])["侨批"]
    assert "侨批" in sentence
    assert len(sentence) <= 62


def test_rare_phrases_are_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("qiaocrawl.lexicon.terms._MOST_PHRASES", 20)
    counts = TermCounts()
    for number in range(30):
        words = tagged_words(
            segmenter(), f"侨胞{'甲乙丙丁戊己庚辛壬癸'[number % 10]}方案{number}报告"
        )
        counts.add(Document("", ""), words)
    assert counts.terms["侨胞"].frequency == 30
    assert len(counts.terms) <= 60


def test_neighbours_are_words_used_alike() -> None:
    lines = [f"{city} 举办 侨胞 座谈会" for city in ("泉州", "福州", "厦门")] * 5
    lines += [f"{food} 口味 清淡 好吃" for food in ("面条", "米粉", "鱼丸")] * 5
    neighbours = Neighbours([line.split() for line in lines], least=3)
    assert {word for word, _ in neighbours.nearest("泉州", 2)} == {"福州", "厦门"}
    assert neighbours.nearest("没有") == []
    again = Neighbours([line.split() for line in lines], least=3)
    assert neighbours.nearest("泉州") == again.nearest("泉州")


@pytest.mark.parametrize("texts", [[], [[]], [["侨胞"]]])
def test_no_texts_have_no_neighbours(texts: list[list[str]]) -> None:
    assert Neighbours(texts, least=1).nearest("侨胞") == []


def test_expansion_says_where_each_word_comes_from() -> None:
    terms = [Term("侨联", "organisation"), Term("软件", "other"), Term("中国侨联", "organisation")]
    stated = [Alias("中国侨联", "侨之家", "other", 3)]
    proposals = expansion(terms, ontology=Ontology([own_wordnet()]), stated=stated)
    by_text = {one.text: one for one in proposals}
    assert by_text["侨之家"].relation == "alias"
    assert by_text["侨之家"].of_term == "中国侨联"
    assert by_text["軟體"].relation == by_text["軟件"].relation == "variant"
    assert not {"中国侨联", "侨联"} & by_text.keys()
    assert all(0 < one.closeness <= 1 and one.relation in RELATIONS for one in proposals)
    assert [one.closeness for one in proposals] == sorted(
        (one.closeness for one in proposals), reverse=True
    )


def test_a_word_that_shares_some_senses_only_is_near() -> None:
    lemmas = {"侨民": ["i1", "i2"], "侨居者": ["i1", "i2"], "移民": ["i1", "i3"]}
    wordnet = words("few", "cmn", lemmas)
    proposals = expansion([Term("侨民", "core")], ontology=Ontology([wordnet]))
    shown = {one.text: (one.relation, one.closeness) for one in proposals}
    assert shown["侨居者"] == ("synonym", 1.0)
    # One sense of three.
    assert shown["移民"] == ("near", 0.67)


def test_a_keyphrase_stands_in_the_title_and_is_rare() -> None:
    title = tagged_words(segmenter(), "侨批档案入选名录")
    body = tagged_words(
        segmenter(), "侨批档案是华侨的家书。专家介绍工作情况，侨批档案的保护工作继续。"
    )
    frequencies = Frequencies(100, {"工作": 90, "情况": 80, "侨批档案": 2})
    ranked = keyphrases(title, body, frequencies, 5)
    assert ranked.index("侨批档案") < 2
    assert len(ranked) == 5
    phrases, features = phrase_features(title, body, frequencies)
    row = features[phrases.index("侨批档案")]
    assert row[0] == pytest.approx(math.log(3) * math.log(101 / 2.5))
    assert features.shape == (len(phrases), 8)
    assert np.isfinite(features).all()


def test_a_text_without_words_has_no_keyphrases() -> None:
    assert keyphrases([], [], Frequencies(1, {})) == []
    assert keyphrases([("的", "uj")], [("。", "x")], Frequencies(1, {})) == []


def test_the_weight_table_is_token_by_title() -> None:
    titles = ["侨胞回家", "侨胞捐款", "侨胞和学生"]
    rows = {
        row.token: row for row in weight_table([tagged_words(segmenter(), one) for one in titles])
    }
    assert rows["侨胞"].by_title == (1, 1, 1)
    assert rows["侨胞"].tfidf == 0.0
    assert rows["捐款"].by_title == (0, 1, 0)
    assert rows["捐款"].tfidf == pytest.approx(math.log(3))
    assert "和" not in rows, "conjunctions are left out, as published"
    assert weight_table([]) == []
