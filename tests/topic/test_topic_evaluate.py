"""``qiaocrawl topic evaluate`` on a small pack."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from qiaocrawl.cli.topic import app
from qiaocrawl.errors import ConfigError, TopicError
from qiaocrawl.topic.folder import save_pack
from qiaocrawl.topic.pack import Term, TopicPack

TERMS = (Term("侨批", "culture", 6.0), Term("华商", "business"))
PACK = TopicPack("qiao", "侨[red]情", "", 0.1, TERMS, (), ())
GOLDEN = (
    "title,label,group,note\n百年侨批展开幕,yes,文化,\n海外乡亲回乡祭祖,yes,文化,无词\n"
    "侨批牌白酒上市,no,商标[bold],\n新能源汽车降价,no,商标[bold],\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QIAO_TOPICS_DIR", str(tmp_path / "topics"))
    monkeypatch.setenv("QIAO_DATABASE_URL", "sqlite:////nowhere/at/all.db")
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "topics" / "qiao"
    save_pack(PACK, folder)
    (folder / "golden.csv").write_text(GOLDEN, encoding="utf-8")
    return folder


def _evaluate(*arguments: str) -> str:
    result: Result = CliRunner().invoke(app, ["evaluate", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def _rows(output: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in output.splitlines()
        if line.startswith("│")
    ]


def test_figures_groups_thresholds_and_wrong_titles(folder: Path) -> None:
    output = _evaluate("qiao", "--method", "vsm_breadth")
    assert output.startswith("qiao 侨[red]情: 4 titles, method vsm_breadth, threshold 0.1")
    rows = _rows(output)
    # One of two is right either way: Wilson's interval of 1/2, and the F1 of both.
    half = "0.500 (0.09–0.91)"
    assert rows[0][:4] == ["all", "4", half, half]
    assert rows[0][4].startswith("0.500 (0.00–1.00)")
    assert int(rows[1][1]) + int(rows[2][1]) == 4
    assert ["文化", "yes", "1/2", half] in rows
    assert ["商标[bold]", "no", "1/2", half] in rows
    assert ["0.1 ← in use", "0.500", "0.500", "0.500"] in rows
    wrong = rows[-2:]
    assert [row[:2] for row in wrong] == [
        ["侨批牌白酒上市", "no"], ["海外乡亲回乡祭祖 (无词)", "yes"],
    ]  # fmt: skip
    assert wrong[0][4] == "侨批"


def test_a_threshold_of_ones_own_is_judged_by(folder: Path) -> None:
    rows = _rows(_evaluate(str(folder), "--method", "vsm_breadth", "--threshold", "0.9"))
    assert rows[0][:4] == ["all", "4", "0.000 (0.00–1.00)", "0.000 (0.00–0.66)"]
    assert ["0.9 ← in use", "0.000", "0.000", "0.000"] in rows


def test_the_options_of_the_crawl_are_judged_by(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_RELEVANCE_METHOD", "vsm_breadth")
    monkeypatch.setenv("QIAO_RELEVANCE_THRESHOLD", "0.9")
    assert "method vsm_breadth, threshold 0.9" in _evaluate("qiao")
    assert "method blend, threshold 0.5" in _evaluate("qiao", "--method", "blend",
                                                          "--threshold", "0")  # fmt: skip


def test_all_right_says_so(folder: Path) -> None:
    (folder / "golden.csv").write_text("title,label\n侨批展\t,yes\n汽车降价,no\n")
    assert _evaluate("qiao", "--method", "vsm_breadth").rstrip().endswith("none is judged wrongly")


def test_what_cannot_be_evaluated_is_named(folder: Path) -> None:
    for arguments, reason in (
        (("qiap",), "no pack 'qiap'; did you mean 'qiao'?"),
        (("qiao", "--method", "vsn"), "'vsn'"),
        (("qiao", "--threshold", "1.5"), "--threshold must lie in [0, 1], got 1.5"),
    ):
        with pytest.raises(ConfigError) as caught:
            _evaluate(*arguments)
        assert reason in str(caught.value)
    (folder / "golden.csv").write_text("title,label\n侨,x\n")
    with pytest.raises(TopicError, match=r"golden\.csv:2: label must be"):
        _evaluate("qiao")
    (folder / "golden.csv").unlink()
    with pytest.raises(ConfigError, match="has no golden set"):
        _evaluate("qiao")


def test_check_tells_faults_of_golden_sets(folder: Path) -> None:
    (folder / "golden.csv").write_text("title,label\n侨,x\n")
    (folder / "golden_digests.csv").write_text("digest,label\nab,yes\n")
    result = CliRunner().invoke(app, ["check", "qiao"])
    assert isinstance(result.exception, TopicError)
    assert [(fault.table, fault.line) for fault in result.exception.faults] == [
        (str(folder / "golden.csv"), 2), (str(folder / "golden_digests.csv"), 2),
    ]  # fmt: skip
