"""Hashes of runs are the same compiled, as Python, and with NumPy."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.dedup import fingerprints
from qiaocrawl.discovery import text_sample
from qiaocrawl.kernels import is_compiled
from qiaocrawl.vsm import text_grams
from tests.fixtures.python_form import python_form

PIECES = (
    "侨乡博物馆今天开幕", "，", "。", " ", "\n", "The museum", "opens at 9:30", "Ελλάδα",
    "서울에서", "İstanbul", "１２３", "a_b", "²½①", "々ーカタカナ", "\ufa10", "é́", "ß", "𠮷", "😀",
    "\udc00", "\0",
)  # fmt: skip


def hashes_of(text: str) -> tuple[int, bytes]:
    return fingerprints.body_simhash(text), text_sample.text_sample(text)


@pytest.fixture(scope="module")
def as_python() -> Any:
    return python_form(text_grams)


def compare(text: str, as_python: Any) -> None:
    """Compare what the compiled form, the same as Python, and NumPy make of *text*."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for module in (fingerprints, text_sample):
            patch.setattr(module, "is_compiled", lambda loop: True)
        for form in (text_grams, as_python):
            for module in (fingerprints, text_sample):
                patch.setattr(module, "text_grams", form)
            found.append(hashes_of(text))
        for module in (fingerprints, text_sample):
            patch.setattr(module, "is_compiled", lambda loop: False)
        found.append(hashes_of(text))
    assert found[0] == found[1] == found[2], text


@pytest.mark.parametrize("most", [2, 30, 300])
def test_of_texts_of_any_script_and_length(most: int, as_python: Any) -> None:
    seed = random.Random(most)
    for _ in range(50):
        compare("".join(seed.choice(PIECES) for _ in range(seed.randrange(most))), as_python)


@given(text=st.text(max_size=200))
def test_of_any_text(text: str, as_python: Any) -> None:
    compare(text, as_python)


def test_every_character_is_of_the_same_kind(as_python: Any) -> None:
    """Each between two of which it is no part of a word, and between two letters."""
    for first in range(0, 0x10000, 64):
        block = list(map(chr, range(first, first + 64)))
        compare(" ".join(block), as_python)
        compare("".join(f"a{one}a " for one in block), as_python)


def test_which_form_it_is_is_known(as_python: Any) -> None:
    assert is_compiled(text_grams.simhash_of)
    assert not is_compiled(as_python.simhash_of)
