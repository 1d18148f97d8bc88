"""The bonds of letters, beside the same counted one string at a time."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.lexicon.new_words import MAX_LETTERS, LetterBonds, new_words

TEXTS = st.lists(st.text(alphabet="侨务强国，3a\n", max_size=30), max_size=6)


def _entropy(neighbours: list[str]) -> float:
    total, counts = len(neighbours), Counter(neighbours)
    marks = counts.pop("，", 0)
    entropy = -sum(n / total * math.log(n / total) for n in counts.values())
    return entropy + marks / total * math.log(total)


def _neighbour(letter: str) -> str:
    return "，" if letter in "\n，" else letter


@settings(max_examples=150)
@given(TEXTS)
def test_bonds_are_those_counted_by_hand(texts: list[str]) -> None:
    bonds = LetterBonds(texts, least=2)
    text = "\n" + "\n".join(texts) + "\n"
    letters = Counter(letter for letter in text if letter in "侨务强国")
    frequent = {letter for letter, n in letters.items() if n >= 2}
    for length in range(2, MAX_LETTERS + 1):
        places: dict[str, list[int]] = {}
        for start in range(len(text) - length + 1):
            word = text[start : start + length]
            if set(word) <= frequent:
                places.setdefault(word, []).append(start)
        for word, starts in places.items():
            own = bonds.of(word)
            if len(starts) < 2:
                assert own is None
                continue
            assert own is not None
            assert own.frequency == len(starts)
            if frequent == set(letters):
                right = [_neighbour(text[start + length]) for start in starts]
                left = [_neighbour(text[start - 1]) for start in starts]
                assert own.right_freedom == pytest.approx(_entropy(right), abs=1e-9)
                assert own.left_freedom == pytest.approx(_entropy(left), abs=1e-9)


def test_cohesion_is_that_of_the_weakest_cut() -> None:
    texts = ["侨务强。务国。强国。侨务。"] * 3
    own = LetterBonds(texts, least=2).of("侨务强")
    assert own is not None
    total, count = 27, {"侨": 6, "务": 9, "强": 6, "侨务": 6, "务强": 3}
    cuts = (3 * total / (count["侨"] * count["务强"]), 3 * total / (count["侨务"] * count["强"]))
    assert own.cohesion == pytest.approx(math.log(min(cuts)))


@pytest.mark.parametrize("texts", [[], [""], ["abc 123"], ["侨"]])
def test_texts_without_a_frequent_string_have_no_bonds(texts: list[str]) -> None:
    bonds = LetterBonds(texts)
    assert bonds.of("侨务") is None
    assert bonds.of("") is None
    assert bonds.of("侨务强国梦想") is None


def test_a_piece_of_a_longer_word_is_no_new_word() -> None:
    # 侨联主 is always followed by 席; 华助中 by 心. 华助 stands beside many.
    before, after = "由请向在的把与和", "说办来设开讲到去"
    text = "".join(
        f"{before[n % 8]}侨联主席{after[n % 8]}，{before[(n * 3) % 8]}海助{after[(n * 5) % 8]}。"
        for n in range(40)
    )
    found = new_words(
        {"侨联主": 40, "海助": 40, "主席": 40}, LetterBonds([text]), {"主席"}.__contains__
    )
    assert [new.text for new in found] == ["海助"]


def test_digits_before_a_word_are_one_neighbour() -> None:
    text = "".join(f"{n}日讯，" for n in range(1, 30))
    own = LetterBonds([text]).of("日讯")
    assert own is not None
    assert own.left_freedom == 0.0
    assert own.right_freedom > 3
