"""Normal forms."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.normalise import (
    clean_surrogates,
    clean_text,
    collapse,
    fold,
    plain_variants,
    to_simplified,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("僑務委員會，臺北", "侨务委员会,台北"),
        ("ＡＢＣ１２３（侨）", "abc123(侨)"),
        ("①Ⅳ㎡", "1ivm2"),
        ("卷一｜卷二～卷三…", "卷一|卷二~卷三..."),
        ("Straße", "straße"),
        ("e\u0301", "é"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
@settings(deadline=None)
def test_fold_starts_from_the_standard_compatibility_form(text: str) -> None:
    text = clean_surrogates(text)
    form = unicodedata.normalize("NFKC", text).lower()
    assert fold(text) == to_simplified(plain_variants(unicodedata.normalize("NFKC", form)))


def test_words_that_both_scripts_share_stay() -> None:
    assert to_simplified("乾隆年間的資訊") == "乾隆年间的资讯"
    assert to_simplified("看著妳\n屋簷") == "看著妳\n屋簷"


@given(st.text(alphabet="乾清宮宫縣\n徵羽調么麼薴瞭解藉口慰覆沈重沒坏幺"))
@settings(deadline=None)
def test_simplifying_twice_is_simplifying_once(text: str) -> None:
    assert to_simplified(to_simplified(text)) == to_simplified(text)
    assert to_simplified(f"{text}\n乾").split("\n")[:-1] == to_simplified(text).split("\n")


@given(st.text(alphabet=st.characters()))
@settings(deadline=None)
def test_clean_text_can_be_stored_anywhere(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert "\r" not in cleaned
    assert cleaned.count("\n") == text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


def test_collapse_is_one_clean_line() -> None:
    assert collapse(" 侨\u3000务\n\t新\x00闻\ud800 \u200b") == "侨 务 新闻 \u200b"
    assert collapse("") == ""
