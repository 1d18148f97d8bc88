"""Features by the compiled loops are NumPy's, and those of the loops as Python."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.methods import block_loops
from qiaocrawl.extract.methods import compiled_features as compiled
from qiaocrawl.extract.methods.block_features import BlockFeatures, BlockWords, numpy_features
from qiaocrawl.page.page import parse_page
from tests.fixtures.python_form import python_form

# The two differ in the last bit of a logarithm.
CLOSE = 1e-6
PIECES = (
    "侨乡博物馆今天开幕，归侨代表捐赠了家书。", "The museum opens at 9 a.m. today.",
    "来源：本报 记者 林某", "版权所有 京ICP备00000000号", "未经授权不得转载，免责声明",
    "<a href=/1>相关阅读</a>", "<b>图为</b>展厅", "【广告】买书", "2026-03-05 10:20",
    "<img src=a.jpg>", "<br>", "· ", "𠮷😀", "&nbsp;", "—— …", "İstanbul",
)  # fmt: skip
TAGS = ("div", "p", "td", "li", "h1", "article", "nav", "section", "blockquote", "span", "pre")
NAMES = ("", "content", "main-text", "nav", "footer ad", "related", "comment-list", "侨刊")


@cache
def loops_as_python() -> Any:
    return python_form(block_loops)


def _markup(seed: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(seed.randint(1, 4)):
        if depth < 7 and seed.random() < 0.6:
            tag = seed.choice(TAGS)
            inner = _markup(seed, depth + 1)
            parts.append(f'<{tag} class="{seed.choice(NAMES)}">{inner}</{tag}>')
        else:
            parts.append(seed.choice(PIECES) * seed.randint(1, 12))
    return "".join(parts)


def _by_python(words: BlockWords) -> BlockFeatures:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "block_loops", loops_as_python())
        return compiled.compiled_features(words)


def _compare(html: str) -> int:
    """Compare the features of a page; how many blocks it has."""
    page = parse_page(html.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")
    if not page.blocks.blocks:
        return 0
    words = BlockWords.of(page.blocks, page.title)
    ours, same = compiled.compiled_features(words), numpy_features(words)
    assert ours.values.shape == same.values.shape
    assert ours.values.dtype == same.values.dtype
    np.testing.assert_allclose(ours.values, same.values, rtol=CLOSE, atol=CLOSE)
    assert ours.chars.tolist() == same.chars.tolist()
    assert ours.notices.tolist() == same.notices.tolist()
    # As Python the loops take long.
    if len(words.texts) < 100:
        python = _by_python(words)
        assert python.values.tobytes() == ours.values.tobytes()
        assert python.chars.tolist() == ours.chars.tolist()
        assert python.notices.tolist() == ours.notices.tolist()
    return len(words.texts)


def test_all_values_are_the_same() -> None:
    seed = random.Random(8)
    blocks = 0
    for _ in range(300):
        title = seed.choice(("侨乡博物馆今天开幕_某某网", "The museum opens | Somewhere", ""))
        blocks += _compare(f"<title>{title}</title>{_markup(seed)}")
    assert blocks > 3_000


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.text(max_size=20))
def test_of_any_text_too(texts: list[str], title: str) -> None:
    _compare(f"<title>{title}</title>" + "".join(f"<div><p>{text}</p></div>" for text in texts))


def test_of_very_many_blocks() -> None:
    loops_as_python()
    assert _compare("<p>侨乡。" * 19_999) == 19_999


def test_what_leads_nowhere_is_refused_not_read() -> None:
    loops_as_python()
    page = parse_page("<div>侨</div><div>乡</div>".encode())
    words = BlockWords.of(page.blocks, "")
    page.blocks.blocks[0].element = 99
    with pytest.raises(IndexError):
        compiled.compiled_features(words)
    page.blocks.blocks[0].element = 0
    page.blocks.elements[0].end = 3
    with pytest.raises(IndexError):
        compiled.compiled_features(words)


def test_where_nothing_was_compiled_numpy_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse_page("<title>侨</title><p>侨乡。</p>".encode())
    monkeypatch.setattr(compiled, "block_loops", loops_as_python())
    features = compiled.features_of(page.blocks, page.title)
    assert features is not None
    by_numpy = numpy_features(BlockWords.of(page.blocks, page.title))
    assert features.values.tobytes() == by_numpy.values.tobytes()
    assert compiled.features_of(parse_page(b"<div></div>").blocks, "") is None
