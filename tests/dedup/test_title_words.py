"""Titles as numbers of words, and what is known of each word."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.dedup.cleaning import MAX_TITLE_CHARS, MAX_WORDS, TitleWords, line_of
from qiaocrawl.dedup.vocabulary import TermTable
from qiaocrawl.text.segment import Segmenter
from qiaocrawl.vsm import IdfSnapshot
from qiaocrawl.vsm.terms import CLASSES

segmenter = cache(partial(Segmenter, (), "rjieba"))
ODD_LETTERS = "归侨 过年\n\r\x85\u2028\0-İﷺ\ud8007aA😀\u0301"


def table(*words: str) -> TermTable:
    """A table of these words."""
    made = TermTable(IdfSnapshot())
    made.ids(list(words))
    return made


def test_titles_become_words_without_marks() -> None:
    words = TitleWords(TermTable(IdfSnapshot()))
    titles = ["侨联慰问归侨——图", "", "！？", "4-0 大胜", "ＡＢＣ Ａbc"]
    assert words.texts(titles) == [
        ["侨联", "慰问", "归侨", "图"], [], [], ["4", "0", "大胜"], ["abc", "abc"],
    ]  # fmt: skip


def test_scripts_and_widths_are_one() -> None:
    words = TitleWords(TermTable(IdfSnapshot()))
    batch = words.of(["返乡过年 2026", "返鄉過年　２０２６"])
    one, other = (batch.words[batch.starts[i] : batch.starts[i + 1]] for i in range(2))
    assert one.tolist() == other.tolist() != []


def test_terms_stay_whole_whatever_their_script() -> None:
    words = TitleWords(TermTable(IdfSnapshot()), ["侨批档案馆", "海外僑領團"])
    assert words.texts(["侨批档案馆迎来海外侨领团"]) == [["侨批档案馆", "迎来", "海外侨领团"]]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.text(max_size=12) | st.text(ODD_LETTERS, max_size=9)))
def test_many_titles_at_once_are_cut_like_each_by_itself(titles: list[str]) -> None:
    words, alone = (TitleWords(TermTable(IdfSnapshot())) for _ in range(2))
    assert words.texts(titles) == [alone.texts([title])[0] for title in titles]


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=30))
def test_they_are_the_words_of_the_segmenter(title: str) -> None:
    line = " ".join(title.split())
    assert TitleWords(TermTable(IdfSnapshot())).texts([title]) == [segmenter().terms(line)]


def test_long_titles_and_words_are_cut() -> None:
    words = TitleWords(TermTable(IdfSnapshot()))
    many = " ".join(f"{n}" for n in range(400))
    titles = [many, "归侨", "a" * 3_000, " " * MAX_TITLE_CHARS + "归侨", many]
    found = words.texts(titles)
    assert found[0] == found[4] == [str(n) for n in range(MAX_WORDS)]
    assert found[1:4] == [["归侨"], ["a" * 64], []]


def test_words_keep_their_numbers() -> None:
    made = table("归侨", "过年")
    assert made.ids(["过年", "—", "归侨", "新年", "过年", ""]).tolist() == [1, -1, 0, 2, 1, -1]
    assert made.ids([]).tolist() == []
    assert (len(made), made.words()) == (3, ["归侨", "过年", "新年"])
    made.ids([f"{n}号" for n in range(5_000)])
    assert made.ids(["新年", "4999号", "归侨"]).tolist() == [2, 5_002, 0]


def test_what_a_table_knows_of_words() -> None:
    snapshot = IdfSnapshot(1, 1000, {"归侨": 10, "5": 1000}, prior_titles=0)
    made = TermTable(snapshot)
    words = ["归侨", "5", "17", "abc", "魑魅魍魉魈"]
    made.ids(words)
    assert made.idf[: len(words)].tolist() == pytest.approx(list(map(snapshot.idf, words)))
    # Numbers nobody counted are probed as if one title of a hundred had them.
    shares = [0.01, 1.0, 0.01, 0.001, 0.001]
    assert made.commonness[: len(words)].tolist() == pytest.approx(shares)
    kinds = [CLASSES[kind] for kind in made.kinds[: len(words)]]
    assert kinds == ["common", "number", "number", "latin", "unknown"]
    assert math.isclose(made.idf[0], math.log(100), rel_tol=1e-6)


@pytest.mark.parametrize("word", ["归侨", "abc", "𠮷野", "a\ud800", "e\u0301a"])
def test_the_letters_of_a_word(word: str) -> None:
    made = table("甲乙", word, "丙")
    starts, letters = made.letters
    assert letters[starts[1] : starts[2]].tolist() == [
        ord("?") if "\ud800" <= letter <= "\udfff" else ord(letter) for letter in word
    ]
    assert starts[3] == len("甲乙丙") + len(word)


def test_a_batch_is_of_the_types_compiled_loops_take() -> None:
    for titles in ([], ["归侨"], ["归侨"] * 3, ["a b " * 300]):
        batch = TitleWords(TermTable(IdfSnapshot())).of(titles)
        assert (batch.words.dtype, batch.starts.dtype) == (np.int32, np.int64)
        assert len(batch.starts) == len(titles) + 1


def test_folding_does_not_join_titles() -> None:
    # Letters that fold to several, or to one with the next.
    titles = ["ﷺ", "\u0301a", "e", "\u0301", "ㄱ", "ᅡ", "\u200d归侨", "㍿"]
    assert TitleWords(TermTable(IdfSnapshot())).texts(titles) == [
        segmenter().terms(title) for title in titles
    ]


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=30) | st.text("侨乡 a1—", max_size=400))
def test_words_cut_elsewhere_give_the_same(title: str) -> None:
    title = line_of(title)
    here, given_words = (TitleWords(TermTable(IdfSnapshot()), ["侨批档案馆"]) for _ in range(2))
    cut = Segmenter(["侨批档案馆"], "rjieba").terms(title)
    expected, found = here.of([title]), given_words.of_cut(cut)
    assert found.words.tolist() == expected.words.tolist()
    assert found.starts.tolist() == expected.starts.tolist()
