"""Segmentation: nothing lost, topic terms whole, both backends alike, instances apart."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import ConfigError
from qiaocrawl.text.normalise import fold
from qiaocrawl.text.segment import JiebaCutter, Segmenter, page_segmenter, use_segmenter

TERM = "侨批档案馆舍"
HAN_TERMS = ("侨批", "侨批档案", TERM, "馆舍修缮", "人", "华人社团", "社团组织")
OTHER_TERMS = (
    "ai", "gpt-4", "gpt-4o", "c++", "5g", "985", "3+1+2", "a股", "1号店", "hong kong", "侨 务",
    "马来西亚·槟城", "việt kiều", "𠮷野家", "-", "侨" * 41,
)  # fmt: skip
TERMS = (*HAN_TERMS, *OTHER_TERMS)
BACKENDS = ("jieba", "rjieba")

PIECES = (
    "华侨", "参观", "新", "落成", "学", "龘", "鿕", "𠮷", "㐀", "鿖", "豈", "😀", "\u200d", "\x00",
    "\ud800", "\r\n", "\r", "\u2028", " ", "，", "·", "-", ".", "_", "%", "+", "&", "'", "a",
    "AbC", "1", "2024", "3.5", "é",
)  # fmt: skip
TEXTS = (
    st.text(alphabet=st.characters())
    | st.text(alphabet="侨务新闻华人学，。 \r\n\tab1.%-\ud800𠮷😀")
    | st.lists(st.sampled_from((*PIECES, *TERMS)), max_size=30).map("".join)
)


@cache
def with_terms(backend: str) -> Segmenter:
    """One that knows TERMS. It takes 100 MB: made by the processes that need it."""
    return Segmenter(TERMS, backend)  # type: ignore[arg-type]


@cache
def without_terms(backend: str) -> Segmenter:
    """One that knows none."""
    return Segmenter([], backend)  # type: ignore[arg-type]


@pytest.mark.parametrize("segmenter", [with_terms, without_terms], ids=["terms", "plain"])
@given(text=TEXTS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_both_backends_cut_alike_and_lose_nothing(
    segmenter: Callable[[str], Segmenter], text: str
) -> None:
    words = segmenter("jieba").words(text)
    assert segmenter("rjieba").words(text) == words
    assert "".join(words) == text
    assert "" not in words


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("unit", ["的", "龘", "a", "1.", "gpt-4 ", TERM, "好，", "\r\n", "😀"])
def test_nothing_is_lost_of_a_long_run(backend: str, unit: str) -> None:
    text = unit * 5_001
    words = with_terms(backend).words(text)
    assert "".join(words) == text
    if unit in {"gpt-4 ", "好，", "\r\n"}:
        assert set(words) == set(with_terms(backend).words(unit))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("term", TERMS)
def test_terms_stay_whole(backend: str, term: str) -> None:
    for before, after in [("", ""), ("。", "，"), ("（", "）"), (" ", "\n")]:
        words = with_terms(backend).words(f"{before}{term}{after}")
        assert words == [word for word in (before, term, after) if word]


@pytest.mark.parametrize("backend", BACKENDS)
def test_terms_that_contain_and_overlap_each_other_stay_whole(backend: str) -> None:
    chance = random.Random(0)
    terms = {"".join(chance.choices("侨务新闻华人", k=chance.randint(1, 6))) for _ in range(300)}
    segmenter = Segmenter(terms, backend)  # type: ignore[arg-type]
    assert segmenter.words("，".join(terms))[::2] == list(terms)
    again = Segmenter(sorted(terms), backend)  # type: ignore[arg-type]
    text = "".join(sorted(terms))
    assert again.words(text) == segmenter.words(text)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "text",
    ["email", "1985年", "hong kongs", "gpt-40", "a股b", "việt kiềus", "maia股"],
)  # fmt: skip
def test_a_term_is_not_found_inside_a_longer_run(backend: str, text: str) -> None:
    found = with_terms(backend).words(text)
    assert not set(found) & {"ai", "985", "hong kong", "gpt-4", "việt kiều"}
    assert ("a股" in found) == (text == "a股b")


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_longest_term_wins_in_the_midst_of_text(backend: str) -> None:
    segmenter = with_terms(backend)
    assert segmenter.words("用gpt-4o查") == ["用", "gpt-4o", "查"]
    assert segmenter.words(f"参观新落成的{TERM}。")[-2:] == [TERM, "。"]
    assert "人" not in segmenter.words("中华人民共和国")


@pytest.mark.parametrize("backend", BACKENDS)
def test_instances_share_nothing(backend: str) -> None:
    with_term = Segmenter([TERM, "zz top"], backend)  # type: ignore[arg-type]
    assert TERM in with_term.words(TERM)
    assert TERM not in Segmenter([], backend).words(TERM)  # type: ignore[arg-type]
    assert TERM not in without_terms(backend).words(TERM)
    assert "zz top" not in with_terms(backend).words("zz top")


@pytest.mark.parametrize("backend", BACKENDS)
def test_terms_are_the_folded_words_with_letters(backend: str) -> None:
    assert with_terms(backend).terms("ＡＢＣ：僑務 2024！") == ["abc", "侨务", "2024"]
    segmenter = Segmenter([fold("僑批檔案館舍"), fold("ＧＰＴ－４")], backend)  # type: ignore[arg-type]
    assert segmenter.terms("僑批檔案館舍‧Gpt-4") == [TERM, "gpt-4"]


def test_white_space_and_line_ends_make_no_term() -> None:
    segmenter = Segmenter(["", " ", "\n", " 侨批 ", "两\n行"], "rjieba")
    assert segmenter.words("侨批两\n行") == ["侨批", "两", "\n", "行"]


# --- parts of speech -------------------------------------------------------------------------


def test_parts_of_speech() -> None:
    tags = dict(without_terms("jieba").tags("他在北京学习了历史"))
    assert tags["北京"] == "ns"
    assert tags["学习"] == "v"
    assert "".join(tags) == "他在北京学习了历史"


def test_new_terms_are_nouns_and_known_words_stay_what_they_are() -> None:
    segmenter = Segmenter([TERM, "gpt-4", "学习"], "rjieba")
    assert segmenter.tags(f"{TERM}学习gpt-4，") == [
        (TERM, "n"), ("学习", "v"), ("gpt-4", "n"), ("，", "x")
    ]  # fmt: skip


@cache
def tagger() -> Any:
    """jieba's own, on a dictionary that is not read from a file in the shared folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # It reads a dictionary of tags when it is loaded: not in every process.
        import jieba.posseg

        return jieba.posseg.POSTokenizer(JiebaCutter([])._jieba)


@given(text=TEXTS)
@settings(max_examples=50, deadline=None)
def test_tags_are_those_of_jieba_and_lose_nothing(text: str) -> None:
    expected = [(pair.word, pair.flag) for pair in tagger().cut(text)]
    assert without_terms("jieba").tags(text) == expected
    tags = with_terms("jieba").tags(text)
    assert "".join(word for word, _ in tags) == text


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown segmenter 'ltp'"):
        Segmenter([], "ltp")  # type: ignore[arg-type]


def test_pages_are_cut_by_the_chosen_backend() -> None:
    assert page_segmenter(["侨批"]).backend == "rjieba"
    use_segmenter("jieba")
    try:
        one = page_segmenter(["侨批", "侨团"])
        assert one.backend == "jieba"
        # Its dictionary is filled once for the same terms.
        assert page_segmenter(["侨团", "侨批", "侨批"]) is one
        assert "侨批" in one.words("侨批档案")
        with pytest.raises(ConfigError, match="'thulac'"):
            use_segmenter("thulac")  # type: ignore[arg-type]
        assert page_segmenter([]).backend == "jieba"
    finally:
        use_segmenter("rjieba")
