"""The published method: a worked example, and brute force at every step."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup import dedupers
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind

Known = dict[bytes, tuple[str, ...]]


def make(number: int, words: str) -> TitleRecord:
    return TitleRecord(number.to_bytes(16, "big"), "", tokens=tuple(words.split()))


def weights(words: tuple[str, ...], known: Known) -> dict[str, float]:
    """tf * ln(N / df), written down once more."""
    return {
        word: count * math.log(len(known) / sum(word in other for other in known.values()))
        for word, count in Counter(words).items()
    }


def similarity(a: tuple[str, ...], b: tuple[str, ...], known: Known) -> float:
    if Counter(a) == Counter(b):
        return 1.0 if a else 0.0
    x, y = weights(a, known), weights(b, known)
    lengths = math.hypot(*x.values()) * math.hypot(*y.values())
    return sum(x[word] * y.get(word, 0.0) for word in x) / lengths if lengths else 0.0


def check(verdict: Verdict, words: tuple[str, ...], known: Known, own: bytes, least: float) -> None:
    """*verdict* is what a comparison with every known title gives."""
    near = {key: similarity(words, other, known) for key, other in known.items() if key != own}
    best = max(near.values(), default=0.0)
    if abs(best - least) < 1e-9:
        return  # which side rounding falls on is not the point
    if best < least:
        assert (verdict.kind, verdict.of) == (VerdictKind.DISTINCT, None)
    else:
        assert verdict.kind is VerdictKind.REPRINT
        assert verdict.of is not None
        assert verdict.similarity == pytest.approx(best, abs=1e-9)
        assert near[verdict.of] == pytest.approx(best, abs=1e-9)


WORDS = st.lists(st.sampled_from("甲乙丙丁戊己庚辛壬癸"), max_size=7)
STEPS = st.lists(st.tuples(st.integers(0, 25), st.none() | WORDS), max_size=40)


@settings(deadline=None)
@given(STEPS, st.sampled_from([0.05, 0.5, 0.8, 0.9, 1.0]))
def test_pruning_finds_what_brute_force_finds(
    steps: list[tuple[int, list[str] | None]], threshold: float
) -> None:
    deduper = dedupers.get("vsm")(threshold=threshold)
    known: Known = {}
    for number, words in steps:
        key = number.to_bytes(16, "big")
        if words is None:
            deduper.remove(key)
            known.pop(key, None)
            continue
        # A title without words is given as one, or jieba would be asked.
        title = tuple(words) or ("-",)
        verdict = deduper.judge(TitleRecord(key, "", tokens=title))
        known[key] = tuple(words)
        check(verdict, known[key], known, key, threshold)
        assert len(deduper) == len(known)


def test_one_word_more_in_a_worked_example() -> None:
    deduper = dedupers.get("vsm")(threshold=0.8)
    deduper.judge(make(1, "侨联 慰问 归侨"))
    for number in range(2, 9):
        deduper.judge(make(number, f"别事{number} 侨联"))
    verdict = deduper.judge(make(9, "侨联 慰问 归侨 图"))
    # N = 9: 侨联 stands everywhere and weighs nothing, 慰问 and 归侨 ln(9/2), 图 ln 9.
    two, one = math.log(9 / 2), math.log(9)
    expected = 2 * two**2 / (math.sqrt(2) * two * math.sqrt(2 * two**2 + one**2))
    assert expected == pytest.approx(0.695, abs=0.001)
    assert verdict.kind is VerdictKind.DISTINCT
    lower = dedupers.get("vsm")(threshold=0.69)
    for number in range(1, 9):
        lower.judge(make(number, "侨联 慰问 归侨" if number == 1 else f"别事{number} 侨联"))
    verdict = lower.judge(make(9, "侨联 慰问 归侨 图"))
    assert verdict.similarity == pytest.approx(expected)


def test_words_that_stand_everywhere_are_like_the_same_words_only() -> None:
    deduper = dedupers.get("vsm")(threshold=0.8)
    deduper.judge(make(1, "侨联"))
    assert deduper.judge(make(2, "侨联 侨联")).kind is VerdictKind.DISTINCT
    assert deduper.judge(make(3, "侨联")).of == make(1, "").key


def test_the_index_is_rebuilt_without_forgetting() -> None:
    deduper = dedupers.get("vsm")(threshold=0.8)
    deduper.judge(make(1, "归侨 过年"))
    for turn in range(3_000):
        deduper.judge(make(2, f"消息{turn} 第{turn}号"))
    assert len(deduper) == 2
    assert deduper.judge(make(3, "归侨 过年")).of == make(1, "").key
    assert deduper.judge(make(4, "消息2999 第2999号")).of == make(2, "").key
    assert deduper.judge(make(5, "消息17 第17号")).kind is VerdictKind.DISTINCT


COLLECTIONS = st.lists(WORDS.filter(bool).map(tuple), max_size=12)


@settings(deadline=None)
@given(COLLECTIONS, st.sampled_from([0.3, 0.5, 0.8]))
def test_groups_are_those_of_comparing_with_every_representative(
    titles: list[tuple[str, ...]], threshold: float
) -> None:
    known = {number.to_bytes(16, "big"): words for number, words in enumerate(titles)}
    found = dedupers.get("vsm")(threshold=threshold).regroup(
        TitleRecord(key, "", tokens=words) for key, words in known.items()
    )
    heads: Known = {}
    for key, words in known.items():
        near = {head: similarity(words, other, known) for head, other in heads.items()}
        best = max(near.values(), default=0.0)
        if abs(best - threshold) < 1e-9:
            return  # which side rounding falls on is not the point
        if best < threshold:
            heads[key] = words
            assert found[key].of is None
        else:
            assert near[found[key].of or b""] == pytest.approx(best, abs=1e-9)
            assert found[key].similarity == pytest.approx(best, abs=1e-9)


def test_one_of_two_near_representatives_is_the_nearer() -> None:
    others = [make(number, f"别事{number} 消息{number}") for number in range(10, 20)]
    first, second = make(1, "甲 乙 丙 丁"), make(2, "丙 丁 戊 己")
    between = make(3, "乙 丙 丁 戊 己")
    found = dedupers.get("vsm")(threshold=0.6).regroup([first, second, between, *others])
    assert found[between.key].of == second.key
    assert found[first.key].of is found[second.key].of is None
