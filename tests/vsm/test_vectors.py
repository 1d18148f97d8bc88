"""Vectors, weights and cosines: hand-worked numbers and properties."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.vsm import SparseVector, TfIdf, Vocabulary, cosine

WEIGHTS = st.floats(min_value=0.0, max_value=1e300, allow_nan=False)
VECTORS = st.dictionaries(st.integers(0, 30), WEIGHTS, max_size=12).map(SparseVector.of)
DOCUMENTS = st.lists(st.lists(st.sampled_from("甲乙丙丁戊己庚"), max_size=8), max_size=12)
EMPTY = SparseVector.of({})


def collection(*documents: str) -> Vocabulary:
    vocabulary = Vocabulary()
    for document in documents:
        vocabulary.add(vocabulary.count(document.split()))
    return vocabulary


@given(VECTORS, VECTORS)
def test_cosine_is_symmetric_and_between_0_and_1(a: SparseVector, b: SparseVector) -> None:
    assert 0.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(cosine(b, a), abs=1e-12)


@given(VECTORS)
def test_cosine_with_itself_is_1_and_with_nothing_0(a: SparseVector) -> None:
    assert cosine(a, a) == pytest.approx(1.0 if a.weights.any() else 0.0)
    assert cosine(a, EMPTY) == cosine(EMPTY, a) == 0.0


def test_cosine_of_a_worked_example() -> None:
    a, b = SparseVector.of({1: 3.0, 2: 4.0}), SparseVector.of({2: 5.0, 9: 12.0})
    assert cosine(a, b) == pytest.approx(20 / (5 * 13))
    assert cosine(a, SparseVector.of({3: 1.0})) == 0.0


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="finite number of at least 0"):
        SparseVector.of({1: weight})


def test_weights_of_the_paper_and_smoothed() -> None:
    vocabulary = collection("侨 乡 新 貌", "侨 商 返 乡", "侨 联 换 届")
    document = vocabulary.count(["乡", "乡", "侨", "海"])
    terms = dict(zip(vocabulary.words(), range(len(vocabulary)), strict=True))

    plain = TfIdf(vocabulary).vector(document)
    assert plain.ids.tolist() == sorted([terms["乡"], terms["海"]])  # 侨 stands everywhere: 0
    assert plain.weights.tolist() == pytest.approx([2 * math.log(3 / 2), math.log(3)])

    smooth = TfIdf(vocabulary, smooth=True).vector(document)
    assert smooth.ids.tolist() == sorted([terms["侨"], terms["乡"], terms["海"]])
    assert smooth.weights.tolist() == pytest.approx(
        [1.0, 2 * (math.log(4 / 3) + 1), math.log(4) + 1]
    )


@pytest.mark.parametrize("smooth", [False, True])
def test_an_empty_collection_gives_finite_weights(smooth: bool) -> None:
    vocabulary = Vocabulary()
    vector = TfIdf(vocabulary, smooth=smooth).vector(vocabulary.count(["侨"]))
    assert np.isfinite(vector.weights).all()
    assert TfIdf(vocabulary, smooth=smooth).vector(vocabulary.count([])).norm == 0.0


@given(DOCUMENTS)
def test_frequencies_are_those_of_the_documents_added(documents: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    counts = [vocabulary.count(document) for document in documents]
    for count in counts:
        vocabulary.add(count)
    expected = Counter(term for document in documents for term in set(document))
    found = {word: vocabulary.frequency(i) for i, word in enumerate(vocabulary.words())}
    assert found == expected
    assert vocabulary.documents == len(documents)
    for count in counts:
        vocabulary.remove(count)
    assert vocabulary.documents == 0
    assert all(vocabulary.frequency(i) == 0 for i in range(len(vocabulary)))


def test_what_was_never_added_cannot_be_removed() -> None:
    vocabulary = collection("侨 乡")
    with pytest.raises(ValueError, match="not in the collection"):
        vocabulary.remove(vocabulary.count(["侨", "商"]))
    assert vocabulary.documents == 1
    assert vocabulary.frequency(0) == 1


def test_counts_do_not_depend_on_the_order_of_words() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.count("侨乡侨") == vocabulary.count("乡侨侨") != vocabulary.count("侨乡")
    assert vocabulary.count("侨乡侨").ids == (0, 1)


@given(DOCUMENTS)
def test_smoothed_weights_are_never_0_and_order_words_alike(documents: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    for document in documents:
        vocabulary.add(vocabulary.count(document))
    terms = np.arange(len(vocabulary), dtype=np.int64)
    plain, smooth = TfIdf(vocabulary).idf(terms), TfIdf(vocabulary, smooth=True).idf(terms)
    assert (smooth >= 1.0).all()
    assert (plain >= 0.0).all()
    assert (np.argsort(plain, kind="stable") == np.argsort(smooth, kind="stable")).all()
