"""The published page scorers, each by an example that was worked out by hand."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance import make_scorer, page_scorers
from qiaocrawl.relevance.published.learned import support
from qiaocrawl.relevance.published.probability import AVERAGE_WORDS, idf
from qiaocrawl.relevance.published.weights import ImportantTagsScorer, PNormScorer
from qiaocrawl.topic.pack import Sample, Term, TopicPack

# No Chinese dictionary knows these words: each is as rare as can be, so its rarity is 1.
TERMS = (Term("keel", "core", 3.0), Term("hull", "core", 1.0), Term("sail", "core", 1.0),
         Term("mast", "core", 1.0))  # fmt: skip
PACK = TopicPack("boats", "", "", 0.1, TERMS, (), ())
PAGE = PageText("Keel", "keel hull varnish varnish varnish varnish")
"""Words: keel 1 + 3 in the title, hull 1, varnish 4."""


def score(method: str, page: PageText = PAGE, pack: TopicPack = PACK) -> float:
    return page_scorers.get(method)(pack).judge(page).score


def test_full_text_counts_how_often_a_term_stands_there() -> None:
    # keel twice: 3·2/3, hull once: 1/2; the weights sum to 6.
    assert score("full_text") == pytest.approx((2 + 0.5) / 6)
    # It scans characters, not words.
    page = PageText("", "sailors and keels")
    assert score("full_text", page) == pytest.approx((1 / 2 + 3 / 2) / 6)
    strict = make_scorer("full_text", PACK, options="all_terms=1")
    assert strict.judge(page).score == 0
    every = PageText("", "keel hull sail mast")
    assert strict.judge(every).score == pytest.approx(1 / 2)


def test_boolean_counts_terms() -> None:
    assert score("boolean") == pytest.approx(2 / 4)
    assert score("boolean", PageText("", "sailors and keels")) == 0


@pytest.mark.parametrize(
    ("query", "expected"),
    [("keel AND varnish", 1), ("keel AND sail", 0), ("sail OR keel", 1), ("keel AND NOT hull", 0),
     ("keel NOT sail", 1), ("sail OR keel AND mast", 0), ("(sail OR keel) AND hull", 1),
     ("NOT (sail OR mast) AND keel", 1), ('"keel" hull', 1), ("NOT mast", 0)],
)  # fmt: skip
def test_boolean_judges_by_an_expression(query: str, expected: int) -> None:
    judged = make_scorer("boolean", PACK, options=f"query={query}").judge(PAGE)
    # The last has none of the query's words: nothing speaks for the page.
    assert (judged.score, judged.relevant) == (expected, expected == 1)


@pytest.mark.parametrize(
    ("query", "why"),
    [("keel AND", "missing at its end"), ("AND keel", "missing before 'AND'"),
     ("(keel", "not closed"), ("keel)", "one too many"), ('"keel', "mark is not closed"),
     ('keel ""', "empty"), ("keel AND^.5 hull", "at least 1"), ("@/nowhere", "no such folder"),
     ("(" * 60 + "keel", "more than 50")],
)  # fmt: skip
def test_what_is_no_expression_is_refused(query: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        make_scorer("boolean", PACK, options=f"query={query}")


def test_each_topic_has_an_expression_of_its_own_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "boats.txt").write_text("keel AND sail", "utf-8")
    options = f"query=@{tmp_path}"
    assert make_scorer("boolean", PACK, options=options).judge(PAGE).score == 0
    other = replace(PACK, name="ships")
    assert make_scorer("boolean", other, options=options).judge(PAGE).score == 2 / 4


def test_p_norm_lies_between_or_and_the_mean() -> None:
    # d = tf / highest tf: keel 4/4, hull 1/4; weights 3, 1, 1, 1.
    assert score("p_norm") == pytest.approx(math.sqrt((9 + 1 / 16) / (9 + 3)))
    assert PNormScorer(PACK, p=1).judge(PAGE).score == pytest.approx((3 + 1 / 4) / 6)
    for p in (0.9, math.inf, math.nan):
        with pytest.raises(ConfigError, match="at least 1"):
            PNormScorer(PACK, p=p)


@pytest.mark.parametrize(
    ("options", "expected"),
    [  # d of keel 1, hull 1/4, sail 0; weights 3, 1, 1.
        ("p=1,query=keel AND hull", 1 - (0 + 3 / 4) / 4),
        ("p=1,query=keel OR hull", (3 + 1 / 4) / 4),
        ("p=2,query=keel AND hull", 1 - math.sqrt((3 / 4) ** 2 / 10)),
        ("p=2,query=keel OR hull", math.sqrt((9 + 1 / 16) / 10)),
        ("p=2,query=hull AND NOT sail", 1 - math.sqrt(((3 / 4) ** 2 + 0) / 2)),
        # A part of a p of its own: hull OR sail is 1/8 by p = 1, and weighs 1 beside 3.
        ("p=2,query=keel AND (hull OR^1 sail)", 1 - math.sqrt((7 / 8) ** 2 / 10)),
        # A large p is strict: the least of AND, the most of OR, for equal weights.
        ("p=1000,query=hull AND varnish", 1 / 4), ("p=1000,query=hull OR varnish", 1),
    ],
)  # fmt: skip
def test_p_norm_judges_by_an_expression(options: str, expected: float) -> None:
    judged = make_scorer("p_norm", PACK, options=options).judge(PAGE)
    assert judged.score == pytest.approx(expected, abs=1e-3)


def test_the_inference_network_sums_up_beliefs() -> None:
    # P(keel) = .4 + .6·4/4, P(hull) = .4 + .6/4, the others .4; weights 3, 1, 1, 1.
    assert score("inference_network") == pytest.approx((3 * 1 + 0.55 + 0.4 + 0.4) / 6)
    certain = make_scorer("inference_network", PACK, options="b=0").judge(PAGE)
    assert certain.score == pytest.approx((3 + 1 / 4) / 6)
    for query, expected in (("keel AND hull", 0.55), ("hull OR sail", 1 - 0.45 * 0.6),
                            ("keel AND NOT hull", 0.45)):  # fmt: skip
        judged = make_scorer("inference_network", PACK, options=f"query={query}").judge(PAGE)
        assert judged.score == pytest.approx(expected)
    with pytest.raises(ConfigError, match="'b' of page scorer 'inference_network'"):
        make_scorer("inference_network", PACK, options="b=1")


def test_vsm_is_the_cosine_over_the_terms() -> None:
    # keel twice, hull once: x = 1, 1/2. (3, 1, 1, 1) and (3, 1/2, 0, 0).
    assert score("vsm") == pytest.approx((9 + 0.5) / math.sqrt(12 * 9.25))
    # Words off the topic change nothing; one of four like terms has 1/2, two have sqrt(1/2).
    plain = replace(PACK, terms=tuple(replace(term, weight=1.0) for term in TERMS))
    assert score("vsm", PageText("", "hull varnish"), plain) == pytest.approx(1 / 2)
    two = page_scorers.get("vsm")(plain).judge(PageText("", "hull sail varnish"))
    assert (two.score, two.relevant) == (pytest.approx(math.sqrt(1 / 2)), True)


def test_important_tags_take_a_third_of_each_place() -> None:
    page = PageText("keel paint", "hull hull", headings="sail", meta="rope rope rope hull")
    # Weights over the heaviest: keel 1, the others 1/3. Title (1 + 0)/2, headings 1/3,
    # meta (1/3)/4.
    assert score("important_tags", page) == pytest.approx((1 / 2 + 1 / 3 + 1 / 12) / 3)
    assert score("important_tags", PageText("", "keel hull")) == 0
    half = ImportantTagsScorer(PACK, alpha=0.5, beta=0, gamma=1).judge(page)
    assert half.score == pytest.approx((0.5 / 2 + 1 / 12) / 3)
    assert [word for word, _ in half.terms] == ["keel", "hull"]
    with pytest.raises(ConfigError, match="alpha of important_tags"):
        ImportantTagsScorer(PACK, alpha=1.5)
    # Ours. Title 3 of 3 + 1, headings 1 of 1, meta 1 of 4.
    assert score("important_tags_share", page) == pytest.approx((3 / 4 + 1 + 1 / 4) / 3)


def test_best_words_keeps_the_heaviest_of_the_relevant_samples() -> None:
    samples = (Sample("a", "", "oars oars oars rudder", True), Sample("b", "", "brick", False))
    pack = TopicPack("boats", "", "", 0.1, TERMS, (), samples)
    # All have one idf. The topic is (3, 1)/√10 of oars and rudder, not the terms.
    page = PageText("", "oars rudder")
    assert score("best_words", page, pack) == pytest.approx(4 / math.sqrt(10 * 2))
    assert score("best_words", PageText("", "keel"), pack) == 0
    one = make_scorer("best_words", pack, options="words=1").judge(page)
    assert one.score == pytest.approx(1 / math.sqrt(2))
    assert score("best_words") == score("tfidf")


def test_bm25_is_one_half_for_two_rare_terms_on_an_average_page() -> None:
    filler = " ".join(["varnish"] * (AVERAGE_WORDS - 2))
    assert score("bm25", PageText("", f"hull mast {filler}")) == pytest.approx(0.5)
    # tf 3 on a page of 300 words: 3·2.2/(3 + 1.2·(0.25 + 0.75·300/500)) = 1.719 idf.
    page = PageText("", " ".join(["hull"] * 3 + ["varnish"] * 297))
    part = 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 0.6))
    assert score("bm25", page) == pytest.approx(part / (part + 2))
    # A word of one in five hundred: 63 % of pages have it.
    share = 1 - math.exp(-1)
    assert idf(1 / 500) == pytest.approx(math.log(1 + (1 - share) / share), rel=1e-5)


def test_tfidf_is_the_cosine_with_terms_and_relevant_samples() -> None:
    # No samples: every idf is ln 1 + 1, the centroid (3, 1, 1, 1)/√12, the page (4, 1).
    assert score("tfidf") == pytest.approx((12 + 1) / math.sqrt(12 * 17))
    samples = (Sample("a", "", "oars oars", True), Sample("b", "", "brick", False))
    learnt = TopicPack("boats", "", "", 0.1, (), (), samples)
    assert score("tfidf", PageText("", "oars brick"), learnt) == pytest.approx(1 / math.sqrt(2))
    assert score("tfidf", PageText("", "brick"), learnt) == 0


def test_support_finds_the_widest_margin() -> None:
    # On a line at 2 and −1: the middle 0.5 is the border, w = 2/3, b = −1/3 without a penalty
    # for b; here b is part of w, and 1 is added to products: w·x + b = 1 and −1 holds too.
    places = np.array([2.0, -1.0])
    factors = support(np.outer(places, places) + 1.0, np.array([True, False]), cost=10.0)
    weight, constant = float(factors @ places), float(factors.sum())
    assert weight * 2 + constant == pytest.approx(1, abs=1e-2)
    assert weight * -1 + constant == pytest.approx(-1, abs=1e-2)
    assert (weight, constant) == (pytest.approx(2 / 3, abs=1e-2), pytest.approx(-1 / 3, abs=1e-2))
    # A sample on the wrong side gets no more than the cost.
    bounded = support(np.ones((2, 2)), np.array([True, False]), cost=0.25)
    assert np.abs(bounded).max() <= 0.25


def test_svm_learns_from_samples_and_says_when_it_has_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    samples = tuple(
        Sample(f"s{n}", "", f"{word} {word} harbour {n}", word == "oars")
        for n in range(6) for word in ("oars", "brick")
    )  # fmt: skip
    pack = TopicPack("boats", "", "", 0.1, TERMS, (), samples)
    with caplog.at_level(logging.WARNING):
        assert score("svm", PageText("", "oars harbour"), pack) > 0.6
        assert score("svm", PageText("", "brick harbour"), pack) < 0.4
    assert caplog.text == ""
    found = page_scorers.get("svm")(PACK).judge(PageText("keel hull", "sail and mast"))
    assert "'boats' has no samples of both kinds" in caplog.text
    assert found.relevant
    assert found.method == "svm"
