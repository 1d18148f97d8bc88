"""Variants: both scripts fold to one text, and words that need the other letter keep it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.text.normalise import fold, plain_variants

PAIRS = [
    ("他坐著看雨從屋簷落下，手裡拿著護照。", "他坐着看雨从屋檐落下，手里拿着护照。"),
    ("妳帶著姪女餵牠喝水。", "你带着侄女喂它喝水。"),
    ("衞生署提醒市民化粧品不可亂用。", "卫生署提醒市民化妆品不可乱用。"),
    ("沿著砲臺走，彷彿聽見鎗聲。", "沿着炮台走，仿佛听见枪声。"),
    ("藉著這次活動，僑界藉由敍舊瞭解近況。", "借着这次活动，侨界借由叙旧了解近况。"),
    ("小兒麻痺症與痲疹的疫苗", "小儿麻痹症与麻疹的疫苗"),
    ("經濟復甦，工廠着手搾油、包糭。", "经济复苏，工厂着手榨油、包粽。"),
    ("祇是寫了一本著名的著作，名著稱得上巨著。", "只是写了一本著名的著作，名著称得上巨著。"),
    ("兩人談論著這部論著，凸顯著顯著的分歧。", "两人谈论着这部论著，凸显着显著的分歧。"),
    ("會長翻譯著他的譯著，意味著隨著時間而變。", "会长翻译着他的译著，意味着随着时间而变。"),
    ("有著作用的土著編著，用著作權保護", "有着作用的土著编著，用著作权保护"),
    ("在瞭望塔上彷徨，向神祇祈求慰藉，一片狼藉。", "在瞭望塔上彷徨，向神祇祈求慰藉，一片狼藉。"),
    ("遊覽乾清宮和乾縣，乾隆年間的乾貨。", "游览乾清宫和乾县，乾隆年间的干货。"),
]  # fmt: skip
LETTERS = st.text(
    alphabet="著藉瞭彷祇名作稱书書立土显顯凸論谈議译譯繙翻慰狼望徨神妳簷衞"
    "乾清宮縣徵羽調覆沈重沒坏么麼薴Ａ，"
)


@pytest.mark.parametrize(("traditional", "simplified"), PAIRS)
def test_both_scripts_fold_to_one_text(traditional: str, simplified: str) -> None:
    assert fold(traditional) == fold(simplified)


def test_words_of_simplified_text_stay() -> None:
    words = "著名 著作 显著 土著 名著 论著 编著 著称 慰藉 狼藉 瞭望 彷徨 神祇 乾隆"
    others = "看着 借口 了解 仿佛 只有"
    assert fold(f"{words} {others}") == f"{words} {others}"


@given(LETTERS)
@settings(deadline=None, max_examples=300)
def test_twice_is_once_and_as_long_as_before(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert len(plain_variants(text)) == len(text) == len(folded)
    assert plain_variants(plain_variants(text)) == plain_variants(text)


@given(st.text(alphabet=st.characters()))
@settings(deadline=None)
def test_any_text_folds_once_and_for_all(text: str) -> None:
    assert fold(fold(text)) == fold(text)
