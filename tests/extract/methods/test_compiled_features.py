"""Features by machine code are numpy's."""

from __future__ import annotations

import random
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qiaocrawl.extract.methods import compiled_features as compiled
from qiaocrawl.extract.methods.block_features import BlockWords, numpy_features
from qiaocrawl.extract.methods.block_vocabulary import WORD_KIND
from qiaocrawl.kernels.c_library import CLibrary
from qiaocrawl.page.page import parse_page

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler on this machine")

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


@pytest.fixture(scope="module", autouse=True)
def _made() -> None:
    assert compiled.LOOPS.make(compiled.features_agree)


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


def _compare(html: str) -> int:
    """Compare the features of a page; how many blocks it has."""
    page = parse_page(html.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")
    if not page.blocks.blocks:
        return 0
    words = BlockWords.of(page.blocks, page.title)
    ours, same = compiled.compiled_features(words), numpy_features(words)
    assert ours is not None
    assert ours.values.shape == same.values.shape
    assert ours.values.dtype == same.values.dtype
    np.testing.assert_allclose(ours.values, same.values, rtol=CLOSE, atol=CLOSE)
    assert ours.chars.tolist() == same.chars.tolist()
    assert ours.notices.tolist() == same.notices.tolist()
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


def test_telling_words_are_those_of_the_expressions() -> None:
    """The longest at a place, one behind the other, Latin ones behind a border only."""
    words = [
        *WORD_KIND,
        "相",
        "相关阅读",
        "icp",
        "icpicp备案",
        "sign",
        "(sign in",
        "unlogin",
        "网站地",
    ]
    seed = random.Random(3)
    for _ in range(200):
        text = "".join(seed.choice(words) + seed.choice((" ", "", "\n", "(")) for _ in range(12))
        _compare("".join(f"<p>{line}</p>" for line in text.split("\n")))


def test_of_very_many_blocks() -> None:
    assert _compare("<p>侨乡。" * 19_999) == 19_999


def test_what_leads_nowhere_is_refused_not_read() -> None:
    page = parse_page("<div>侨</div><div>乡</div>".encode())
    words = BlockWords.of(page.blocks, "")
    page.blocks.blocks[0].element = 99
    assert compiled.compiled_features(words) is None
    page.blocks.blocks[0].element = 0
    page.blocks.elements[0].end = 3
    assert compiled.compiled_features(words) is None


def test_without_machine_code_numpy_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page = parse_page("<title>侨</title><p>侨乡。</p>".encode())
    with_it = compiled.features_of(page.blocks, page.title)
    monkeypatch.setattr(compiled.LOOPS, "function", lambda name: None)
    without = compiled.features_of(page.blocks, page.title)
    assert with_it is not None
    assert without is not None
    np.testing.assert_allclose(with_it.values, without.values, rtol=CLOSE, atol=CLOSE)
    assert compiled.features_of(parse_page(b"<div></div>").blocks, "") is None


def test_a_library_that_computes_something_else_is_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = files("qiaocrawl.extract.methods").joinpath("block_features.c").read_text("utf-8")
    changed = tmp_path / "block_features.c"
    changed.write_text(
        source.replace("IMPRINT_CHARS = 150", "IMPRINT_CHARS = 1500").replace(
            "row[i] = work->first_kind[i] == BULLET", "row[i] = work->first_kind[i] != BULLET"
        )
    )
    library = CLibrary(changed)
    monkeypatch.setattr(compiled.LOOPS, "library", library)
    with pytest.raises(OSError, match="does not compute what Python does"):
        compiled.LOOPS.make(compiled.features_agree)
    assert library.load() is None
    assert compiled.compiled_features(BlockWords.of(parse_page(b"<p>a").blocks, "")) is None
    monkeypatch.undo()
    assert compiled.LOOPS.make(compiled.features_agree)


def test_a_compiler_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from qiaocrawl.cli import compile as command
    from qiaocrawl.runtime import c_loops

    def failing() -> bool:
        raise subprocess.CalledProcessError(1, "cc")

    monkeypatch.setattr(c_loops, "make_c_loops", failing)
    monkeypatch.setattr(command, "compile_all", lambda: None)
    command.compile_()
    assert "cc" in capsys.readouterr().out
