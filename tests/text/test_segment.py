"""Segmentation: nothing lost, topic terms whole, instances apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.errors import ConfigError
from qiaocrawl.text import Segmenter

TERM = "侨批档案馆舍"
BACKENDS = ("jieba", "rjieba")
SEGMENTERS = {backend: Segmenter([TERM, "", "two words"], backend) for backend in BACKENDS}  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", BACKENDS)
@given(text=st.text() | st.text(alphabet="侨务新闻华人，。 \r\n\tab1.%\ud800𠮷😀"))
@settings(max_examples=150, deadline=None)
def test_the_words_joined_are_the_text(backend: str, text: str) -> None:
    assert "".join(SEGMENTERS[backend].words(text)) == text


@pytest.mark.parametrize("backend", BACKENDS)
def test_terms_stay_whole_and_only_in_their_own_segmenter(backend: str) -> None:
    sentence = f"参观新落成的{TERM}。"
    assert TERM in SEGMENTERS[backend].words(sentence)
    assert TERM not in Segmenter([], backend).words(sentence)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", BACKENDS)
def test_terms_are_the_folded_words_with_letters(backend: str) -> None:
    assert SEGMENTERS[backend].terms("ＡＢＣ：僑務 2024！") == ["abc", "侨务", "2024"]


def test_parts_of_speech() -> None:
    tags = dict(SEGMENTERS["jieba"].tags("他在北京学习了历史"))
    assert tags["北京"] == "ns"
    assert tags["学习"] == "v"
    assert "".join(tags) == "他在北京学习了历史"


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown segmenter 'ltp'"):
        Segmenter([], "ltp")  # type: ignore[arg-type]
