"""The topic vector: weights by rarity, and what is learnt from samples."""

from __future__ import annotations

import pytest

from qiaocrawl.topic.pack import Sample, Term, TopicPack
from qiaocrawl.topic.profile import PageWords, background_frequencies, build_profile, rarity


def test_background_knows_common_and_unknown_words() -> None:
    found, total = background_frequencies({"我们", "华侨", "这不是一个词"})
    assert found["我们"] > found["华侨"] > found["这不是一个词"] == 0
    assert total > 10_000_000


def test_rarity_falls_from_1_to_its_least() -> None:
    shares = [0.0, 1e-6, 1e-5, 1e-4, 3e-4, 1e-2, 1.0]
    values = [rarity(share) for share in shares]
    assert values == sorted(values, reverse=True)
    assert (values[0], values[1]) == (1.0, 1.0)
    assert values[-3:] == pytest.approx([0.4, 0.4, 0.4])


def test_terms_weigh_by_the_expert_and_by_rarity() -> None:
    terms = (Term("侨批", "core", 3.0), Term("學校", "core", 3.0), Term("侨刊", "core", 1.5))
    pack = TopicPack("t", "", "", 0.1, terms, (), ())
    profile = build_profile(pack, PageWords(term.text for term in terms))
    assert profile.terms == {"侨批", "学校", "侨刊"}
    assert profile.weights["侨批"] == 2 * profile.weights["侨刊"] == 3.0
    assert profile.weights["学校"] < 3.0


def test_words_of_one_sample_and_numbers_are_not_learnt() -> None:
    samples = (Sample("a", "", "三十年灯塔，航标", True), Sample("b", "", "三十年灯塔，渔火", True))
    profile = build_profile(TopicPack("t", "", "", 0.1, (), (), samples), PageWords(()))
    assert list(profile.weights) == ["灯塔"]
