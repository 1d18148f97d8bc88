"""What the features of two titles say, worked out by hand, and the trees that read them."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from dedup_samples import brute_cosine, near_enough
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup.cleaning import TitleBatch
from qiaocrawl.dedup.pair_features import COUNT, MAX_CHARS, MAX_TOKENS, NAMES, pair_cosine
from qiaocrawl.dedup.pair_model import (
    Trees,
    pair_features,
    read_trees,
    score_all,
    shipped_trees,
    write_trees,
)
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import floats, ints
from qiaocrawl.vsm import IdfSnapshot

# Of e**8 titles: words weigh 8 less the logarithm of those they stand in.
COUNTS = {"侨联": 403, "慰问": 20, "归侨": 20, "的": 2981}
SNAPSHOT = IdfSnapshot(1, 2981, COUNTS, prior_titles=0)
WEIGHTS = {word: SNAPSHOT.idf(word) for word in ("侨联", "慰问", "归侨", "的", "新")}


def features(one: str, other: str) -> dict[str, float]:
    """The features of two titles of words between spaces, by name."""
    table = TermTable(SNAPSHOT)
    words = [table.ids(title.split()) for title in (one, other)]
    starts = np.array([0, len(words[0]), len(words[0]) + len(words[1])], np.int64)
    found = pair_features(*TitleBatch(np.concatenate(words), starts), table)
    assert found.shape == (1, COUNT)
    return dict(zip(NAMES, found[0].tolist(), strict=True))


def check(found: dict[str, float], **expected: float) -> None:
    """These features have these values, to the precision of 32 bits."""
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def test_bags_of_words() -> None:
    # 侨联 weighs 2, 慰问 and 归侨 5, 的 nothing, and what nobody counted 8 (less 0.0001).
    assert [round(weight, 2) for weight in WEIGHTS.values()] == [2.0, 5.0, 5.0, 0.0, 8.0]
    link, visit, new = WEIGHTS["侨联"], WEIGHTS["慰问"], WEIGHTS["新"]
    found = features("侨联 慰问 归侨 的", "侨联 慰问 新 新")
    check(
        found,
        cosine=(link**2 + visit**2)
        / math.sqrt(link**2 + 2 * visit**2) / math.sqrt(link**2 + visit**2 + (2 * new) ** 2),
        contained=(link + visit) / (link + visit + 2 * new),
        contains=(link + visit) / (link + 2 * visit),
        unweighted=2 / 4,
        # 归侨 is the heaviest that only the first has, 新 that only the second has.
        lone_idf_less=visit, lone_idf_more=new, lone_sum_less=visit, lone_sum_more=2 * new,
        shared_idf=visit, shared_sum=link + visit, words=8,
    )  # fmt: skip


def test_kinds_of_words() -> None:
    found = features("2024 年 北京 gpt 5 魑魅魍魉魈 的", "2025 年 上海 gpt 漫步")
    check(
        found, number_less=1, number_more=2, number_shared=0, latin_shared=1, latin_more=0,
        name_less=1, name_more=1, name_shared=0, unknown_less=0, unknown_more=1,
        function_less=0, function_more=1, common_less=0, common_more=1, common_shared=1,
    )  # fmt: skip


def test_letters_and_their_order() -> None:
    found = features("甲乙丙丁戊", "丁戊甲乙己庚")
    # Pairs of letters: 甲乙 and 丁戊 of four and five.
    check(
        found, bigrams_contained=2 / 4, bigrams_shared=2 / 7, ordered_contained=2 / 5,
        ordered_shared=2 / 6, run_contained=2 / 5, run=2, letters_less=5, letters_more=6,
        beginning=0, end=0,
    )  # fmt: skip
    check(features("甲乙丙", "甲乙丁戊丙"), beginning=2 / 3, end=1 / 3, ordered_contained=1)


def test_letters_of_words_that_only_one_title_has() -> None:
    # An abbreviation: two of three letters stand in the long form.
    found = features("全国 人大会", "全国 人民代表大会 的")
    check(found, lone_letters_shared=3 / 3, lone_letters_less=3, lone_letters_more=7)
    assert features("甲 乙", "甲 丙")["lone_letters_shared"] == 0


def test_what_was_exchanged_and_what_was_inserted() -> None:
    visit, new = WEIGHTS["慰问"], WEIGHTS["新"]
    # 慰问 became 新; 2024 became 2025; 归侨 was put in at the end.
    found = features("侨联 慰问 甲 2024 乙", "侨联 新 甲 2025 乙 归侨")
    check(
        found, exchanges=2, insertions=1, exchanged_idf=new, exchanged_sum=visit + new,
        exchanged_numbers=1, exchanged_names=0, inserted_sum=WEIGHTS["归侨"],
        words_in_order=3 / 5,
    )  # fmt: skip
    assert features("北京 下雨", "上海 下雨")["exchanged_names"] == 1


def test_equal_and_empty_titles() -> None:
    same = features("侨联 慰问 归侨", "侨联 慰问 归侨")
    check(
        same, cosine=1, contained=1, contains=1, unweighted=1, lone_sum_more=0, beginning=1,
        end=0, bigrams_shared=1, ordered_shared=1, run_contained=1, exchanges=0, insertions=0,
        words_in_order=1,
    )  # fmt: skip
    for one, other in (("", ""), ("", "侨联 慰问"), ("的", "的")):
        assert all(math.isfinite(value) for value in features(one, other).values())
    check(features("", ""), cosine=0, words=0, letters_more=0)


WORDS = st.sampled_from([*COUNTS, "新", "2024", "5", "gpt", "北京", "甲乙丙"])
TITLES = st.lists(WORDS, max_size=9)


@settings(deadline=None, max_examples=100)
@given(st.lists(WORDS, unique=True), st.lists(WORDS, unique=True))
def test_features_are_the_same_the_other_way_round(one: list[str], other: list[str]) -> None:
    # Where several alignments are the longest, what is exchanged hangs on which is taken.
    found, turned = (features(" ".join(a), " ".join(b)) for a, b in ((one, other), (other, one)))
    order = NAMES[NAMES.index("exchanges") :]
    assert {n: v for n, v in found.items() if n not in order} == pytest.approx(
        {n: v for n, v in turned.items() if n not in order}, rel=1e-5
    )


@settings(deadline=None, max_examples=100)
@given(TITLES, TITLES)
def test_features_are_finite(one: list[str], other: list[str]) -> None:
    found = features(" ".join(one), " ".join(other))
    assert all(0 <= value < math.inf for value in found.values())
    assert near_enough(found["cosine"], brute_cosine(one, other, SNAPSHOT))


def test_titles_longer_than_what_is_compared_in_order() -> None:
    one = [f"词{n}" for n in range(255)]
    found = features(" ".join(one), " ".join(reversed(one)))
    check(found, cosine=1, words=510, letters_less=MAX_CHARS)
    # The first 96 words of the one are the last of the other.
    check(found, words_in_order=0, exchanges=1, insertions=0)
    turned = [*reversed(one[:MAX_TOKENS]), *one[MAX_TOKENS:]]
    check(features(" ".join(one), " ".join(turned)), words_in_order=1 / MAX_TOKENS)
    long = features("字" * 5_000, "字" * 5_000 + " 尾")
    check(long, letters_less=MAX_CHARS, run=MAX_CHARS, beginning=1)


def test_the_cosine_of_two_titles() -> None:
    table = TermTable(SNAPSHOT)
    one, other, nothing = (
        ints(table.ids(title.split())) for title in ("侨联 慰问 慰问", "慰问 归侨", "的 的")
    )
    idf = floats(table.idf)
    assert pair_cosine(one, one, idf) == pytest.approx(1.0)
    assert pair_cosine(one, other, idf) == pytest.approx(
        brute_cosine(["侨联", "慰问", "慰问"], ["慰问", "归侨"], SNAPSHOT)
    )
    assert pair_cosine(nothing, nothing, idf) == 0.0
    assert pair_cosine(one[:0], one, idf) == 0.0


# --- the trees ------------------------------------------------------------------------------


def stump(**changed: Any) -> Trees:
    """One tree that asks whether the first feature, the cosine, is at most a half."""
    arrays = {
        "roots": np.array([0], np.int32), "features": np.array([0, -1, -1], np.int16),
        "bounds": np.array([0.5, 0, 0], np.float32), "lefts": np.array([1, 0, 0], np.int32),
        "rights": np.array([2, 0, 0], np.int32), "values": np.array([0, -1, 2], np.float32),
        "start": np.array([0.5]),
    }  # fmt: skip
    return Trees(**{**arrays, **changed})


def test_a_tree_is_read_as_written_and_followed() -> None:
    trees = read_trees(write_trees(stump()))
    rows = np.zeros((3, COUNT), np.float32)
    rows[:, 0] = 0.4, 0.5, 0.6
    # The logistic function of 0.5 - 1, and of 0.5 + 2.
    low, high = 1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(-2.5))
    assert score_all(rows, trees).tolist() == pytest.approx([low, low, high])


def test_the_shipped_trees_give_scores() -> None:
    trees = shipped_trees()
    assert shipped_trees() is trees
    assert len(trees.roots) > 100
    found = score_all(np.zeros((1, COUNT), np.float32), trees)
    assert 0 < found[0] < 1


@pytest.mark.parametrize(
    "changed",
    [
        {"lefts": np.array([0, 0, 0], np.int32)},
        {"rights": np.array([3, 0, 0], np.int32)},
        {"rights": np.array([-1, 0, 0], np.int32)},
        {"roots": np.array([3], np.int32)},
        {"features": np.array([COUNT, -1, -1], np.int16)},
        {"values": np.array([0, 1], np.float32)},
        {"lefts": np.array([], np.int32)},
        {"start": np.array([])},
        {"start": np.array(0.5)},
        {"features": np.array([[0, -1, -1]], np.int16)},
    ],
)
def test_trees_that_lead_nowhere_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"pair_model.npz is damaged"):
        read_trees(write_trees(stump(**changed)))


def test_other_files_are_refused() -> None:
    whole, alone, other = write_trees(stump()), io.BytesIO(), io.BytesIO()
    np.save(alone, np.zeros(3))
    np.savez(other, names=np.array(NAMES))
    for data in (b"", b"{}", b"PK\x03\x04", whole[:-40], whole[:200], alone.getvalue(),
                 other.getvalue()):  # fmt: skip
        with pytest.raises(ConfigError, match=r"pair_model.npz cannot be read"):
            read_trees(data)
    for_others = io.BytesIO()
    np.savez(for_others, names=np.array(NAMES[::-1]), **stump()._asdict())
    with pytest.raises(ConfigError, match="other features; train it again"):
        read_trees(for_others.getvalue())
