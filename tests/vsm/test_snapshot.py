"""Weights that stay as they are while a collection grows, and what is known of words."""

from __future__ import annotations

import math
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.vsm import IdfSnapshot, TfIdf, Vocabulary
from qiaocrawl.vsm.terms import CLASSES, title_share, word_class
from qiaocrawl.vsm.vectors import PRIOR_TITLES

COUNTED = {"侨联": 40, "归侨": 3, "的": 100}


def test_without_a_prior_the_weights_are_the_published_ones() -> None:
    vocabulary = Vocabulary()
    titles = [["侨", "乡"], ["侨", "商", "侨"], ["侨", "联"], ["乡", "联"]]
    for title in titles:
        vocabulary.add(vocabulary.count(title))
    snapshot = IdfSnapshot.of(titles, version=1, prior_titles=0)
    words = vocabulary.words()
    weights = TfIdf(vocabulary).vector(vocabulary.count(words))
    # Words that stand in three, two, one of four titles.
    assert [snapshot.idf(words[term]) for term in weights.ids] == pytest.approx(weights.weights)
    assert snapshot.idf("侨") == pytest.approx(math.log(4 / 3))
    assert snapshot.idf("海") == pytest.approx(math.log(4))


def test_the_shipped_prior_alone() -> None:
    prior = IdfSnapshot()
    assert (prior.version, prior.documents) == (0, 0)
    assert prior.idf("的") == pytest.approx(-math.log(title_share("的")))
    assert prior.idf("的") < prior.idf("中国") < prior.idf("归侨") < prior.idf("魑魅魍魉魈")
    assert prior.idf("魑魅魍魉魈") == pytest.approx(math.log(1e6))


def test_counts_are_mixed_with_the_prior() -> None:
    snapshot = IdfSnapshot(3, 1000, COUNTED)
    expected = (1000 + PRIOR_TITLES) / (40 + PRIOR_TITLES * title_share("侨联"))
    assert snapshot.idf("侨联") == pytest.approx(math.log(expected))
    assert snapshot.share("侨联") == pytest.approx(1 / expected)
    # With many titles they are those of the collection.
    many = IdfSnapshot(3, 10**9, {"侨联": 10**8})
    assert many.idf("侨联") == pytest.approx(math.log(10), rel=1e-3)


def test_a_hundred_titles_weigh_nearly_as_a_million() -> None:
    few = IdfSnapshot.of([["侨联", "归侨"]] * 100, version=1)
    many = IdfSnapshot.of(([f"词{n}"] for n in range(10**4)), version=2)
    for word in ("新闻", "春节", "魑魅魍魉魈"):
        assert few.idf(word) == pytest.approx(many.idf(word), rel=0.05)


@given(
    st.integers(0, 10**9),
    st.dictionaries(st.sampled_from(["的", "侨联", "x"]), st.integers(0, 10**9)),
    st.sampled_from([0.0, 1.0, PRIOR_TITLES]),
)
def test_no_weight_is_negative(documents: int, counts: dict[str, int], prior: float) -> None:
    # Counts that do not belong together come from a table somebody edited.
    snapshot = IdfSnapshot(1, documents, counts, prior)
    for word in ("的", "侨联", "x", "y", ""):
        assert 0.0 <= snapshot.idf(word) < math.inf
        assert 0.0 < snapshot.share(word) <= 1.0


def test_a_word_counts_once_a_title() -> None:
    snapshot = IdfSnapshot.of([["侨", "侨"], ["乡"], []], version=7)
    assert (snapshot.version, snapshot.documents) == (7, 3)
    assert dict(snapshot.frequencies) == {"侨": 1, "乡": 1}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"documents": -1}, "documents must be at least 0, got -1"),
        ({"prior_titles": -0.5}, "prior_titles must be 0 or more, got -0.5"),
        ({"prior_titles": math.inf}, "got inf"),
        ({"prior_titles": math.nan}, "got nan"),
        ({"frequencies": {"侨": 2, "乡": -3}}, "frequencies must be at least 0, got -3"),
    ],
)
def test_what_gives_no_weights_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IdfSnapshot(**{"version": 1, "documents": 5, **changed})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("number", ["2024", "４", "4g", "gpt4", "三", "两百万", "第十二", "第1", "٣"]),
        ("latin", ["gpt", "a", "c++"]),
        ("name", ["北京", "中国", "毛泽东"]),
        ("unknown", ["魑魅魍魉魈", "한국", "é", "😀字"]),
        ("function", ["的", "和", "在", "我们", "吗"]),
        ("common", ["新闻", "归侨", "下雨", "漂亮"]),
    ],
)
def test_kinds_of_words(kind: str, words: list[str]) -> None:
    assert {word: word_class(word) for word in words} == dict.fromkeys(words, kind)
    assert kind in CLASSES


def test_shares_of_titles_are_those_of_twelve_words() -> None:
    # A word of every tenth place stands in 1 - .9**12 of texts of twelve, here nearly so.
    shares = [title_share(word) for word in ("的", "中国", "归侨", "魑魅魍魉魈")]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share <= 1 for share in shares)
    assert next(n for n in count() if shares[-1] * 10**n >= 1) == 6
