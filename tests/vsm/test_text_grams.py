"""Hashes of runs are the same compiled, as Python, and with NumPy."""

from __future__ import annotations

import random

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
def every_form() -> tuple[object, ...]:
    """What to ask: the compiled form, the same as Python, and that for NumPy's."""
    return text_grams, python_form(text_grams)


def compare(text: str, forms: tuple[object, ...]) -> None:
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for module in (fingerprints, text_sample):
            patch.setattr(module, "is_compiled", lambda loop: True)
        for form in forms:
            for module in (fingerprints, text_sample):
                patch.setattr(module, "text_grams", form)
            found.append(hashes_of(text))
        for module in (fingerprints, text_sample):
            patch.setattr(module, "is_compiled", lambda loop: False)
        found.append(hashes_of(text))
    assert found[0] == found[1] == found[2], text


@pytest.mark.parametrize("most", [2, 30, 300])
def test_of_texts_of_any_script_and_length(most: int, every_form: tuple[object, ...]) -> None:
    seed = random.Random(most)
    for _ in range(50):
        compare("".join(seed.choice(PIECES) for _ in range(seed.randrange(most))), every_form)


@given(text=st.text(max_size=200))
def test_of_any_text(text: str, every_form: tuple[object, ...]) -> None:
    compare(text, every_form)


def test_every_character_is_of_the_same_kind(every_form: tuple[object, ...]) -> None:
    """Each between two of which it is no part of a word, and between two letters."""
    for first in range(0, 0x10000, 64):
        block = list(map(chr, range(first, first + 64)))
        compare(" ".join(block), every_form)
        compare("".join(f"a{one}a " for one in block), every_form)


def test_what_was_compiled_is_used(every_form: tuple[object, ...]) -> None:
    assert is_compiled(text_grams.simhash_of)
    assert not is_compiled(every_form[1].simhash_of)  # type: ignore[attr-defined]
