"""The default judge: its parts by hand, and what it does with few and with many samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qiaocrawl.items import PageText
from qiaocrawl.relevance.blend import (
    BlendScorer,
    TermEvidence,
    fit_logistic,
    fit_platt,
    probability,
)
from qiaocrawl.relevance.samples import (
    MAX_SAMPLES,
    RIDGE,
    SampleVectors,
    WordJudge,
    assign_folds,
    learnt_samples,
    sample_places,
)
from qiaocrawl.relevance.scorer import PagePlaces
from qiaocrawl.topic.pack import Sample, Term, TopicPack
from qiaocrawl.topic.profile import PageWords

WORDS = PageWords(())
TERMS = (Term("lighthouse", "core", 2.0), Term("beacon", "core", 2.0))
SEA = ("keeper lamp tower rocks", "lamp wick tower storm", "tower keeper oil lamp",
       "rocks storm lamp keeper")  # fmt: skip
LAND = ("keeper goals stadium crowd", "stadium crowd storm ticket", "goals ticket keeper cup",
        "crowd cup stadium rocks")  # fmt: skip


def samples(times: int = 1) -> tuple[Sample, ...]:
    texts = [(text, True) for text in SEA] + [(text, False) for text in LAND]
    return tuple(
        Sample(f"{n}-{copy}", "", text, relevant)
        for copy in range(times) for n, (text, relevant) in enumerate(texts)
    )  # fmt: skip


def blend(terms: tuple[Term, ...], given: tuple[Sample, ...], **options: float) -> BlendScorer:
    return BlendScorer(TopicPack("t", "", "", 0.1, terms, (), given), **options)


def test_terms_alone_samples_alone_and_both_judge() -> None:
    page = PageText("Night at sea", "The lighthouse and its beacon: keeper, lamp and tower.")
    other = PageText("Final", "Goals, a cup, a full stadium and its crowd.")
    alone, learnt = blend(TERMS, ()), blend((), samples())
    both = blend(TERMS, samples())
    for scorer in (alone, learnt, both):
        assert scorer.judge(page).score > scorer.judge(other).score
        assert not scorer.judge(other).relevant
    assert alone.judge(page).relevant
    assert both.judge(page).score > learnt.judge(page).score
    # More samples of the same make it surer.
    assert blend((), samples(4)).judge(page).score > learnt.judge(page).score
    assert {"lighthouse", "lamp"} <= {word for word, _ in both.judge(page).terms}


def test_words_count_only_where_there_are_counter_examples_or_terms_in_common() -> None:
    yes = tuple(sample for sample in samples() if sample.relevant)
    no = tuple(sample for sample in samples() if not sample.relevant)
    page = PageText("", "keeper lamp tower")
    assert blend((), yes).judge(page).score > blend((), ()).judge(page).score
    assert blend((), no).judge(page).score == blend((), ()).judge(page).score


def test_the_packs_threshold_moves_what_terms_say() -> None:
    page = PageText("", "The lighthouse stands among forty other things of the town. " * 3)
    narrow = BlendScorer(TopicPack("t", "", "", 0.4, TERMS, (), ())).judge(page)
    broad = BlendScorer(TopicPack("t", "", "", 0.02, TERMS, (), ())).judge(page)
    assert broad.score > narrow.score


def test_left_out_scores_are_those_of_a_judge_without_the_sample() -> None:
    counted = sample_places(samples(), WORDS)
    relevant = np.array([sample.relevant for sample in samples()])
    judge = WordJudge(counted, relevant)
    vectors = SampleVectors(counted)
    products = vectors.products() + 1.0
    targets = np.where(relevant, 1.0, -1.0)
    for out in range(len(counted)):
        kept = np.arange(len(counted)) != out
        inside = products[np.ix_(kept, kept)] + np.diag(np.full(kept.sum(), RIDGE))
        factors = np.linalg.solve(inside, targets[kept])
        assert judge.left_out[out] == pytest.approx(products[out, kept] @ factors)


def test_a_page_is_scored_as_the_products_say() -> None:
    counted = sample_places(samples(), WORDS)
    relevant = np.array([sample.relevant for sample in samples()])
    score, parts = WordJudge(counted, relevant).of(counted[0])
    vectors = SampleVectors(counted)
    products = vectors.products() + 1.0
    factors = np.linalg.solve(products + np.diag(np.full(8, RIDGE)), np.where(relevant, 1.0, -1))
    enough = 1 - math.exp(-len(parts) / 3)
    assert score == pytest.approx(enough * float(products[0] @ factors))
    assert parts["lamp"] > parts["keeper"]
    assert WordJudge(counted, relevant).of(PagePlaces(PageText("", "unknown"), WORDS)) == (0.0, {})


def test_vectors_have_length_one_and_title_words_of_their_own() -> None:
    given = [Sample(f"{n}", "lamp", "lamp lamp oil", True) for n in range(2)]
    given.append(Sample("2", "", "brick", False))
    vectors = SampleVectors(sample_places(given, WORDS))
    row = vectors.rows[0]
    # One idf for all: they stand in the same samples, and are no Chinese words.
    assert row["title:lamp"] / row["oil"] == pytest.approx(3)
    assert row["lamp"] / row["oil"] == pytest.approx(math.sqrt(2))
    # "brick" stands in one sample only and has no column.
    assert vectors.products() == pytest.approx(np.outer([1, 1, 0], [1, 1, 0]))


def test_the_last_samples_are_learnt_from_half_of_them_relevant() -> None:
    many = [Sample(str(n), "", "x", n % 4 == 0) for n in range(4000)]
    found = learnt_samples(many)
    assert len(found) == MAX_SAMPLES
    assert sum(sample.relevant for sample in found) == MAX_SAMPLES // 2
    assert found[-1].name == "3999"
    few = [Sample(str(n), "", "x", n < 20) for n in range(4000)]
    assert sum(sample.relevant for sample in learnt_samples(few)) == 20
    assert len(learnt_samples(few)) == MAX_SAMPLES
    assert learnt_samples(few[:30]) == few[:30]


def test_both_kinds_are_dealt_out_evenly() -> None:
    folds = assign_folds(np.array([True] * 5 + [False] * 10))
    assert folds[:5].tolist() == [0, 1, 2, 3, 4]
    assert np.bincount(folds).tolist() == [3] * 5


def test_a_regression_without_rows_keeps_its_prior_and_with_many_leaves_it() -> None:
    prior, strength = np.array([1.0, -2.0]), np.array([1.0, 1.0])
    none = fit_logistic(np.zeros((0, 2)), np.zeros(0), np.zeros(0), prior, strength)
    assert none.tolist() == prior.tolist()
    # A constant alone: 900 of 1000 rows are 1, so the logit is ln 9.
    targets = np.array([1.0] * 900 + [0.0] * 100)
    (constant,) = fit_logistic(
        np.ones((1000, 1)), targets, np.ones(1000), np.array([0.0]), np.array([1e-6])
    )
    assert constant == pytest.approx(math.log(9), abs=1e-4)
    # Separable, and far from the prior: the steps are halved until they gain.
    rows = np.array([[1.0, -50.0], [1.0, 50.0]])
    found = fit_logistic(rows, np.array([0.0, 1.0]), np.ones(2), prior, np.array([0.1, 0.1]))
    assert np.isfinite(found).all()
    assert found[1] > 0


def test_platt_gives_no_certainty_to_few_samples() -> None:
    slope, constant = fit_platt(np.array([-1.0, 1.0]), np.array([False, True]))
    # Targets 1/3 and 2/3.
    assert probability(slope + constant) == pytest.approx(2 / 3, abs=1e-3)
    assert probability(-slope + constant) == pytest.approx(1 / 3, abs=1e-3)


def test_probabilities_stay_inside_0_and_1() -> None:
    assert probability(0.0) == 0.5
    assert 0 < probability(-1e9) < probability(1e9) < 1


def test_two_samples_that_contradict_the_terms_turn_over_nothing_else() -> None:
    """One yes to a page without terms, one no to a page full of them."""
    pages = [
        PageText(f"Night {n}", f"The lighthouse and its beacon, number {n}: {SEA[n % 4]}.")
        for n in range(20)
    ]
    before = [blend(TERMS, ()).judge(page).relevant for page in pages]
    wrong = (
        Sample("yes", "Final", LAND[0], True),
        Sample("no", "Night", f"The lighthouse and its beacon: {SEA[1]}.", False),
    )
    after = [blend(TERMS, wrong).judge(page).relevant for page in pages]
    assert all(before)
    assert sum(after) >= 19


def test_words_that_few_relevant_samples_share_speak_softly() -> None:
    """Two pages that an operator judged share much that is not the topic's."""

    def weight(times: int) -> float:
        given = tuple(sample for sample in samples(times) if sample.relevant)
        counted = sample_places(given, WORDS)
        pack = TopicPack("t", "", "", 0.1, TERMS, (), given)
        evidence = TermEvidence(pack, WORDS, counted, np.ones(len(given), dtype=np.bool_))
        return evidence.of(PagePlaces(PageText("", "lamp"), WORDS)).parts["lamp"]

    # Four and twenty samples, each word in as large a share of them.
    assert weight(1) / weight(5) == pytest.approx((4 / 7) / (20 / 23))


def test_samples_make_it_more_careful_and_change_no_verdict() -> None:
    alone, learnt = blend(TERMS, ()), blend(TERMS, samples(4))
    assert alone.threshold == 0.5
    # 16 samples of each kind.
    assert learnt.threshold == pytest.approx(1 / (1 + 17**0.15))
    page = PageText("", "The lighthouse and its beacon: keeper, lamp and tower.")
    judged = learnt.judge(page)
    odds = judged.score / (1 - judged.score) * 17**0.15
    places = PagePlaces(page, learnt._words)
    assert learnt._judge is not None
    evidence, (words, _) = learnt._terms.of(places), learnt._judge.of(places)
    row = np.array([1.0, evidence.likeness, evidence.title, learnt._heard * words])
    assert math.log(odds) == pytest.approx(float(row @ learnt._factors))
    assert judged.relevant is (float(row @ learnt._factors) >= 0)
    assert blend(TERMS, samples(4), threshold=0.9).threshold == 0.9
