"""Hashes of runs by machine code are those of Python."""

from __future__ import annotations

import random
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.dedup.fingerprints import body_fingerprints, simhash_agrees
from qiaocrawl.discovery.text_sample import sample_agrees, text_sample
from qiaocrawl.runtime.c_loops import C_LOOPS, make_c_loops
from qiaocrawl.vsm.grams import LOOPS

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler on this machine")

PIECES = (
    "侨乡博物馆今天开幕", "，", "。", " ", "\n", "The museum", "opens at 9:30", "Ελλάδα",
    "서울에서", "İstanbul", "１２３", "a_b", "²½①", "々ーカタカナ", "\ufa10", "é́", "ß", "𠮷", "😀",
    "\udc00", "\0",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _made() -> None:
    assert make_c_loops()


def test_every_loop_is_there_and_agrees() -> None:
    for loops, agree in C_LOOPS:
        assert loops.library.load() is not None
        assert agree()


@pytest.mark.parametrize("most", [2, 30, 900])
def test_of_texts_of_any_script_and_length(most: int) -> None:
    seed = random.Random(most)
    for _ in range(100):
        text = "".join(seed.choice(PIECES) for _ in range(seed.randrange(most)))
        assert simhash_agrees(text), text
        assert sample_agrees(text), text


@given(st.text(max_size=200))
def test_of_any_text(text: str) -> None:
    assert simhash_agrees(text)
    assert sample_agrees(text)


def test_every_character_is_of_the_same_kind() -> None:
    """Each between two of which it is no part of a word, and between two letters."""
    for first in range(0, 0x10000, 64):
        block = list(map(chr, range(first, first + 64)))
        assert sample_agrees(" ".join(block)), hex(first)
        assert sample_agrees("".join(f"a{one}a " for one in block)), hex(first)


def test_without_machine_code_python_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "侨乡博物馆今天开幕，归侨代表捐赠了家书。" * 3
    with_it = body_fingerprints(text), text_sample(text)
    monkeypatch.setattr(LOOPS, "function", lambda name: None)
    assert (body_fingerprints(text), text_sample(text)) == with_it
