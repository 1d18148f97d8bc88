"""Streams of titles: what is decided does not hang on how they are handed over."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from dedup_samples import brute_cosine, key, near_enough, record
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_samples import RECORDS, SNAPSHOT, WORDS, every_method

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.items import TitleRecord, Verdict, VerdictKind


def parts(records: list[TitleRecord], rng: random.Random) -> Iterator[list[TitleRecord]]:
    """*records* cut anywhere."""
    start = 0
    while start < len(records):
        end = start + rng.randint(1, 8)
        yield records[start:end]
        start = end


@settings(deadline=None, max_examples=40)
@given(st.lists(RECORDS, max_size=30), st.randoms(use_true_random=False))
@every_method
def test_many_at_once_are_judged_as_one_by_one(
    method: str, records: list[TitleRecord], rng: random.Random
) -> None:
    index, alone = (TitleIndex(method, 0.6, snapshot=SNAPSHOT) for _ in range(2))
    known: set[bytes] = set()
    for part in parts(records, rng):
        verdicts = index.judge_all(part)
        assert verdicts == [alone.judge(one) for one in part]
        for one, verdict in zip(part, verdicts, strict=True):
            check_keys(verdict, known - {one.key})
            known.add(one.key)
        for gone in rng.sample(sorted(known), rng.choice([0, 0, min(2, len(known))])):
            index.remove(gone)
            alone.remove(gone)
            known.discard(gone)
        assert len(index) == len(alone) == len(known)


@pytest.mark.parametrize("seed", range(4))
@every_method
def test_what_hosts_teach_on_the_way_counts_from_there_on(method: str, seed: int) -> None:
    chance = random.Random(seed)
    records = []
    for number in range(80):
        core = " ".join(chance.sample(WORDS, chance.randint(2, 4)))
        host = chance.choice(["", "a.example", "b.example"])
        records.append(record(number % 60, core + (host and f" - {host[0]}地乡音"), host=host))
    index, alone = (TitleIndex(method, 0.7, snapshot=SNAPSHOT) for _ in range(2))
    assert index.judge_all(records) == [alone.judge(one) for one in records]
    everything = [index.near(f"alpha beta - {name}地乡音", f"{name}.example") for name in "ab"]
    assert everything[0] == everything[1] != []


def check_keys(verdict: Verdict, earlier: set[bytes]) -> None:
    """A verdict names earlier titles only, each once."""
    named = [one for one in (verdict.of, *verdict.also) if one is not None]
    assert earlier.issuperset(named)
    assert len(set(named)) == len(named)
    assert (verdict.of is None) == (verdict.kind is VerdictKind.DISTINCT)
    assert verdict.is_same_story or not verdict.also
    assert 0.0 <= verdict.similarity <= 1.0


@settings(deadline=None, max_examples=30)
@given(st.lists(RECORDS, max_size=25), st.integers(0, 25))
@every_method
def test_titles_read_from_storage_count_like_judged_ones(
    method: str, records: list[TitleRecord], read: int
) -> None:
    index, judging = (TitleIndex(method, 0.6, snapshot=SNAPSHOT) for _ in range(2))
    index.add(records[:read])
    assert index.judge_all(records[read:]) == judging.judge_all(records)[read:]


@settings(deadline=None, max_examples=40)
@given(st.lists(RECORDS, max_size=20), st.randoms(use_true_random=False))
@every_method
def test_groups_do_not_depend_on_order(
    method: str, records: list[TitleRecord], rng: random.Random
) -> None:
    index = TitleIndex(method, 0.6, snapshot=SNAPSHOT)
    grouping = index.regroup(records)
    assert index.regroup(rng.sample(records, len(records))) == grouping
    assert grouping.verdicts.keys() == grouping.groups.keys() == {one.key for one in records}
    for one, verdict in grouping.verdicts.items():
        if verdict.is_same_story:
            for other in (verdict.of, *verdict.also):
                assert grouping.groups[other or b"none"] == grouping.groups[one]
    assert all(grouping.groups[name] == name for name in grouping.groups.values())
    again = index.regroup({one.key: one for one in reversed(records)}.values())
    assert len(records) != len(grouping.groups) or again == grouping


STEPS = st.lists(
    st.tuples(st.integers(0, 14), st.none() | st.lists(st.sampled_from(WORDS), max_size=7)),
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))
def test_the_published_method_finds_what_brute_force_finds(
    steps: list[tuple[int, list[str] | None]], threshold: float
) -> None:
    index = TitleIndex("vsm_mixed", threshold, snapshot=SNAPSHOT)
    known: dict[bytes, list[str]] = {}
    for number, words in steps:
        if words is None:
            index.remove(key(number))
            known.pop(key(number), None)
            continue
        known.pop(key(number), None)
        verdict = index.judge(record(number, " ".join(words)))
        near = {other: similarity(words, there) for other, there in known.items()}
        known[key(number)] = words
        check_best(verdict, near, threshold)
        assert len(index) == len(known)


def similarity(one: list[str], other: list[str]) -> float:
    """As published; the same words are 1 alike whatever they weigh."""
    return 1.0 if one and one == other else brute_cosine(one, other, SNAPSHOT)


def check_best(verdict: Verdict, near: dict[bytes, float], least: float) -> None:
    """*verdict* names the most similar of *near*, and all others that reach *least*."""
    best = max(near.values(), default=0.0)
    if any(near_enough(cosine, least) for cosine in near.values() if cosine < 1.0):
        return  # which side rounding falls on is not the point
    if best < least:
        assert (verdict.kind, verdict.of) == (VerdictKind.DISTINCT, None)
        return
    assert verdict.kind is VerdictKind.REPRINT
    assert near_enough(verdict.similarity, best)
    assert near_enough(near[verdict.of or b"none"], best)
    named = {verdict.of, *verdict.also}
    assert named == {other for other, cosine in near.items() if cosine >= least}


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=12),
    st.sampled_from([0.5, 0.8]),
)
def test_published_groups_are_what_like_titles_connect(
    titles: list[list[str]], threshold: float
) -> None:
    records = [record(number, " ".join(words)) for number, words in enumerate(titles)]
    groups = TitleIndex("vsm_mixed", threshold, snapshot=SNAPSHOT).regroup(records).groups
    names = list(range(len(titles)))
    for one in range(len(titles)):
        for other in range(one):
            cosine = similarity(titles[one], titles[other])
            if cosine < 1.0 and near_enough(cosine, threshold):
                return
            if cosine >= threshold:
                old, new = sorted((names[one], names[other]), reverse=True)
                names = [new if name == old else name for name in names]
    assert groups == {key(number): key(name) for number, name in enumerate(names)}
