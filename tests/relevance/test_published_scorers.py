"""The published page scorers, each by an example that was worked out by hand."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import PageText
from qiaocrawl.relevance import page_scorers
from qiaocrawl.relevance.bm25 import AVERAGE_WORDS, idf
from qiaocrawl.relevance.important_tags import ImportantTagsScorer
from qiaocrawl.relevance.p_norm import PNormScorer
from qiaocrawl.relevance.svm import support
from qiaocrawl.topic.pack import Sample, Term, TopicPack

# No Chinese dictionary knows these words: each is as rare as can be, so its rarity is 1.
TERMS = (Term("keel", "core", 3.0), Term("hull", "core"), Term("sail", "core"),
         Term("mast", "core"))  # fmt: skip
PACK = TopicPack("boats", "", "", 0.1, TERMS, (), ())
PAGE = PageText("Keel", "keel hull varnish varnish varnish varnish")
"""Words: keel 1 + 3 in the title, hull 1, varnish 4."""


def score(method: str, page: PageText = PAGE, pack: TopicPack = PACK) -> float:
    return page_scorers.get(method)(pack).judge(page).score


def test_full_text_adds_up_the_weights_of_what_is_found() -> None:
    assert score("full_text") == pytest.approx((3 + 1) / 6)
    # It scans characters, not words.
    assert score("full_text", PageText("", "sailors and keels")) == pytest.approx((1 + 3) / 6)


def test_boolean_counts_terms() -> None:
    assert score("boolean") == pytest.approx(2 / 4)
    assert score("boolean", PageText("", "sailors and keels")) == 0


def test_p_norm_lies_between_or_and_the_mean() -> None:
    # d = tf / highest tf: keel 4/4, hull 1/4; weights 3, 1, 1, 1.
    assert score("p_norm") == pytest.approx(math.sqrt((9 + 1 / 16) / (9 + 3)))
    assert PNormScorer(PACK, p=1).judge(PAGE).score == pytest.approx((3 + 1 / 4) / 6)
    for p in (0.9, math.inf, math.nan):
        with pytest.raises(ConfigError, match="at least 1"):
            PNormScorer(PACK, p=p)


def test_important_tags_take_a_third_of_each_place() -> None:
    page = PageText("keel paint", "hull hull", headings="sail", meta="rope rope rope hull")
    # Title 3 of 3 + 1, headings 1 of 1, meta 1 of 4.
    assert score("important_tags", page) == pytest.approx((3 / 4 + 1 + 1 / 4) / 3)
    assert score("important_tags", PageText("", "keel hull")) == 0
    half = ImportantTagsScorer(PACK, alpha=0.5, beta=0, gamma=1).judge(page)
    assert half.score == pytest.approx((0.5 * 3 / 4 + 1 / 4) / 3)
    assert [word for word, _ in half.terms] == ["keel", "hull"]
    with pytest.raises(ConfigError, match="alpha of important_tags"):
        ImportantTagsScorer(PACK, alpha=1.5)


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
