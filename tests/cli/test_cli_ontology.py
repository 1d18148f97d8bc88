"""``qiaocrawl ontology``: install, check, show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from small_wordnets import LIGHTS, TAB

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIAO_ONTOLOGY_DIR", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_install_check_and_show(run: Run, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "few.xml").write_text(LIGHTS)
    (tmp_path / "in" / "zh.tab").write_text(TAB)
    code, out, _ = run("ontology", "install", str(tmp_path / "in"))
    assert code == 0
    assert "few.npz (7 concepts; words: 7 en)" in out
    assert sorted(file.name for file in kept.iterdir()) == ["few.npz", "zh.npz"]
    code, out, _ = run("ontology", "check")
    assert code == 0
    assert "qiaoqing (comes along)" in out
    assert "circles of hypernyms: 0 concepts" in out
    code, out, _ = run("ontology", "show", "emigrants", "人")
    assert code == 0
    assert "zh: 出国移民, 移出者" in out
    assert "distance: 2 edges" in out
    assert "similarity, exponential: 0.449" in out


def test_show_says_when_a_word_is_unknown(run: Run, kept: Path) -> None:
    code, out, _ = run("ontology", "show", "灯塔", "侨批")
    assert code == 0
    assert "灯塔 not in it" in out
    assert "nothing joins them" in out


def test_check_names_what_cannot_be_read(run: Run, kept: Path) -> None:
    assert run("ontology", "install", "qiaoqing")[0] == 0
    (kept / "broken.npz").write_bytes(b"nonsense")
    code, out, _ = run("ontology", "check")
    assert code == 1
    assert "broken.npz" in out
    assert "comes along" not in out
    code, _, err = run("ontology", "show", "侨批")
    assert code == 1
    assert "broken.npz" in err


def test_wrong_sources_and_folders_end_with_one_clear_line(
    run: Run, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = run("ontology", "install", "nonsense")
    assert (code, err.count("\n")) == (1, 1)
    assert "no name (there are: qiaoqing, wordnet)" in err
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QIAO_ONTOLOGY_DIR", str(tmp_path / "file"))
    code, _, err = run("ontology", "check")
    assert (code, "is no folder" in err) == (1, True)
