"""Tagged words and the candidate terms they make."""

from __future__ import annotations

from functools import cache, partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.lexicon.phrases import candidate_phrases, is_content, join_words, tagged_words
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import Segmenter

segmenter = cache(partial(Segmenter, ["侨务强国梦"]))


def words_of(text: str) -> list[str]:
    return [word for word, _ in tagged_words(segmenter(), text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("用GPT-4写的", ["用", "gpt-4", "写", "的"]),
        ("迈克尔·杰克逊来访", ["迈克尔·杰克逊", "来访"]),
        ("教育-改革", ["教育", "-", "改革"]),
        ("machine learning 算法", ["machine", "learning", " ", "算法"]),
        ("c++ 程序", ["c++", " ", "程序"]),
    ],
)
def test_what_a_mark_joins_is_one_word(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text(alphabet="侨务强国梦的 abc-·.3，", max_size=40))
def test_no_letter_of_a_text_is_lost_but_spaces_between_latin_words(text: str) -> None:
    cut = "".join(words_of(text))
    assert cut.replace(" ", "") == fold(text).replace(" ", "")


def test_phrases_lie_in_each_other_and_end_at_function_words() -> None:
    words = [("华文", "n"), ("教育", "vn"), ("的", "uj"), ("发展", "vn"), ("。", "x")]
    phrases = candidate_phrases(words)
    assert set(phrases) == {"华文", "教育", "华文教育", "发展"}
    assert [(span.start, span.stop) for span in phrases["华文教育"]] == [(0, 2)]


def test_phrases_of_two_scripts_are_joined_as_they_are_written() -> None:
    assert join_words(["machine", "learning", "算法", "2.0"]) == "machine learning算法2.0"
    words = [("machine", "eng"), ("learning", "eng")]
    assert "machine learning" in candidate_phrases(words)


def test_a_longest_phrase_may_be_set() -> None:
    words = [("侨", "n"), ("批", "n"), ("档案", "n"), ("馆", "n")]
    assert max(map(len, candidate_phrases(words, max_words=2))) == 3
    assert set(candidate_phrases(words, max_words=1)) == {"档案"}


def test_words_of_function_and_numbers_are_no_content() -> None:
    assert not is_content("非常", "d")
    assert not is_content("2024", "eng")
    assert not is_content("x", "eng")
    assert is_content("侨胞", "n")
