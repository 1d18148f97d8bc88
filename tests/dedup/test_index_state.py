"""An index that is saved and taken up again decides as if it had never been away."""

from __future__ import annotations

import io
import random
import subprocess
import sys

import numpy as np
import pytest
from dedup_samples import key, record
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_samples import RECORDS, SNAPSHOT, every_method

from qiaocrawl.dedup import TitleIndex
from qiaocrawl.dedup.site_names import HostEndings
from qiaocrawl.dedup.vocabulary import pack, unpack
from qiaocrawl.items import TitleRecord
from qiaocrawl.vsm import IdfSnapshot


def taken_up(index: TitleIndex, again: TitleIndex) -> TitleIndex:
    """*again* with what *index* saved, by way of a file."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **index.to_state())  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file, allow_pickle=False) as state:
        again.restore(state)
    return again


@settings(deadline=None, max_examples=20)
@given(st.lists(RECORDS, max_size=30), st.lists(RECORDS, min_size=1, max_size=20), st.randoms())
@every_method
def test_what_is_taken_up_decides_the_same(
    method: str, before: list[TitleRecord], after: list[TitleRecord], rng: random.Random
) -> None:
    index = TitleIndex(method, 0.6, snapshot=SNAPSHOT)
    index.judge_all(before[::2])
    index.add(before[1::2])
    for gone in rng.sample(range(15), 3):
        index.remove(key(gone))
    again = taken_up(index, TitleIndex(method, 0.6, snapshot=SNAPSHOT))
    assert len(again) == len(index)
    assert again.vocabulary_size == index.vocabulary_size
    for one in after:
        assert again.near(one.title, one.host) == index.near(one.title, one.host)
        assert again.judge(one) == index.judge(one)
        if rng.random() < 0.3:
            gone = key(rng.randrange(15))
            index.remove(gone)
            again.remove(gone)
    # And once more, from what was taken up itself.
    third = taken_up(again, TitleIndex(method, 0.6, snapshot=SNAPSHOT))
    assert third.judge_all(after) == index.judge_all(after)


def test_what_is_taken_up_is_what_is_built_anew() -> None:
    chance = random.Random(3)
    words = [f"{a}{b}" for a in "侨乡归国华文教育" for b in "港口船队粮食丰收"]
    records = [
        record(number, "".join(chance.sample(words, 5)) + chance.choice(["", " - 甲地乡音网"]),
               host=chance.choice(["", "a.example", "b.example"]), day=number % 9,
               text="。".join(chance.sample(words, 6)))
        for number in range(400)
    ]  # fmt: skip
    half = TitleIndex()
    half.add(records[:300])
    half = taken_up(half, TitleIndex())
    half.add(records[300:])
    whole = TitleIndex()
    whole.add(records)
    one, other = half.to_state(), whole.to_state()
    # A word that is no word has no number in what is kept, and needs none.
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


def test_odd_keys_and_broken_titles_are_taken_up() -> None:
    index = TitleIndex("vsm")
    index.add([TitleRecord(b"short", "侨乡 \ud83d 归侨 | 甲网", "a.example"),
               TitleRecord(b"x" * 40, "侨乡老人归国 - 乙网", "b.example")])  # fmt: skip
    again = taken_up(index, TitleIndex("vsm"))
    for name in (b"short", b"x" * 40):
        assert name in again
    again.remove(b"short")
    assert len(again) == 1
    assert again.judge(TitleRecord(key(1), "侨乡老人归国 - 乙网")).of == b"x" * 40


def test_an_empty_index_is_taken_up() -> None:
    again = taken_up(TitleIndex(), TitleIndex())
    assert len(again) == 0
    assert again.judge(record(1, "侨乡老人归国")) == TitleIndex().judge(record(1, "侨乡老人归国"))


def test_a_host_goes_on_where_it_was() -> None:
    host = HostEndings()
    for number in range(200):
        host.is_new(number)
        host.count([f"${number % 5}", "$甲网"], is_ended=True)
    again = HostEndings.from_state(unpack(pack(host.to_state())))
    for number in range(300):
        marked = [f"${number % 7}", "<频道"]
        assert again.is_new(number) == host.is_new(number)
        assert again.count(marked, is_ended=True) == host.count(marked, is_ended=True)
        assert again.to_state() == host.to_state()


def test_a_word_with_two_numbers_is_refused() -> None:
    state = dict(TitleIndex().to_state())
    state["words.letters_at"] = np.array([0, 1, 2], np.int32)
    state["words.letters"] = np.array([65, 65], np.uint32)
    with pytest.raises(ValueError, match="two numbers"):
        TitleIndex().restore(state)


def test_a_recipe_tells_apart_what_makes_another_index() -> None:
    recipes = {
        TitleIndex(method, threshold, snapshot=snapshot, terms=terms).recipe
        for method, threshold, snapshot, terms in (
            ("vsm", None, None, ()),
            ("vsm", 0.9, None, ()),
            ("reprint", None, None, ()),
            ("reprint", None, None, ("侨务",)),
            ("reprint", None, None, ("侨务", "华文教育")),
            ("reprint", None, IdfSnapshot(1, 10, {"侨": 1}), ()),
            ("reprint", None, IdfSnapshot(1, 11, {"侨": 1}), ()),
            ("reprint", None, IdfSnapshot(1, 10, {"侨": 2}), ()),
            ("reprint", None, IdfSnapshot(2, 10, {"侨": 1}), ()),
        )
    }
    assert len(recipes) == 9


def test_a_recipe_is_the_same_in_every_process() -> None:
    code = "from qiaocrawl.dedup import TitleIndex; print(TitleIndex(terms=('b', 'a')).recipe)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == TitleIndex(terms=("a", "b")).recipe
