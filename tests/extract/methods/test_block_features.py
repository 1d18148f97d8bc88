"""The numbers that describe blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiaocrawl.extract.methods.block_features import (
    BlockFeatures,
    best_run,
    count_kinds,
    has_notice_words,
    without_notice_words,
)
from qiaocrawl.extract.methods.block_vocabulary import (
    NAME_KINDS,
    WORD_NAMES,
    find_words,
    name_flags,
    title_words,
)
from qiaocrawl.extract.methods.compiled_features import features_of
from qiaocrawl.page.page import parse_page


def features(html: str) -> BlockFeatures:
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    found = features_of(page.blocks, page.title)
    assert found is not None
    return found


def kinds(text: str) -> list[str]:
    return [WORD_NAMES[kind] for _, kind in find_words(f"\n{text}")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("责任编辑：王某", ["byline"]),
        ("版权所有 未经授权不得转载", ["legal", "notice", "notice"]),
        ("all rights reserved", ["legal"]),
        ("2024-03-05 10:20", ["clock", "clock"]),
        ("3小时前", ["clock"]),
        ("the printer of the of terms", ["action"]),
        ("他走在回家的路上", []),
    ],
)
def test_telling_words_are_found(text: str, wanted: list[str]) -> None:
    assert kinds(text) == wanted


def test_latin_words_count_at_the_beginning_of_a_word_only() -> None:
    assert kinds("unrelated") == []
    assert kinds("related stories") == ["related"]


def test_names_of_classes_tell_their_kind() -> None:
    flags = name_flags("article-content")
    told = {kind for bit, kind in enumerate(NAME_KINDS) if flags >> bit & 1}
    assert {"good", "strong"} <= told
    assert name_flags("x1 y2") == name_flags("") == 0


def test_title_words_leave_the_site_out() -> None:
    assert title_words("侨乡变迁记略_某某网") == ("侨乡", "乡变", "变迁", "迁记", "记略")
    assert title_words("harvest festival opens") == ("harvest", "festival", "opens")


def test_sums_over_blocks_by_hand() -> None:
    starts = np.array([0, 10, 20])
    assert count_kinds([(0, 0), (9, 1), (10, 0), (25, 1), (26, 1)], starts, 2).tolist() == [
        [1, 1, 0], [1, 0, 2],
    ]  # fmt: skip
    assert best_run(np.array([-5, 3, 4, -2, 6, -9], dtype=np.float32)) == (1, 5)
    assert best_run(np.array([-5, -3], dtype=np.float32)) == (1, 2)


def test_characters_links_and_elements_are_seen() -> None:
    found = features(
        "<title>侨乡变迁记</title><div class=nav><a href=/a>首页</a></div>"
        "<div class=content><p>侨乡的变迁，一言难尽。</p><p>海外归来的人说：变了！</p></div>"
    )
    assert found.chars.tolist() == [2, 11, 11]
    assert found.values.shape[0] == 3


def test_legal_notices_are_told_by_their_words() -> None:
    found = features(
        "<p>凡注明来源为其他媒体的，均为转载，并不代表本站赞同其观点。</p>"
        "<p>他说，未经授权的事不能做。</p><p>版权所有 京ICP备00000000号</p>"
    )
    assert found.notices.tolist() == [True, False, True]  # the last one is an imprint


def test_values_without_the_words_of_notices_are_those_of_a_text_that_has_none() -> None:
    text = "<p>论坛由侨联{}，责任编辑：王某。</p><p>下一行。</p>"
    worded, plain = features(text.format("主办承办")), features(text.format("甲乙丙丁"))
    assert has_notice_words(worded).tolist() == [True, False]
    assert not has_notice_words(plain).any()
    rows = np.array([0])
    own = slice(0, 30)  # behind them come the element's and the neighbours' values
    bare = without_notice_words(worded, rows)
    np.testing.assert_allclose(bare[0, own], plain.values[0, own], rtol=1e-5)
    assert not np.allclose(worded.values[0, own], plain.values[0, own])


def test_a_page_without_text_has_none() -> None:
    assert features_of(parse_page(b"<div></div>").blocks, "") is None


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.text(max_size=20))
def test_features_are_finite_numbers_for_any_text(texts: list[str], title: str) -> None:
    html = "".join(f"<div><p>{text}</p></div>" for text in texts)
    page = parse_page(html.encode("utf-8", "surrogatepass"))
    found = features_of(page.blocks, title)
    if found is not None:
        assert np.isfinite(found.values).all()
        assert len(found.values) == len(page.blocks.blocks)


def test_words_are_found_wherever_the_first_chinese_letter_stands() -> None:
    assert find_words("icp备 1") == [(0, WORD_NAMES.index("legal"))]
    assert find_words("read on ©") == [(8, WORD_NAMES.index("legal"))]
    assert find_words("plain words") == []
