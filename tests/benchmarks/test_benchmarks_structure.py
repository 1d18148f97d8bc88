"""``benchmarks/structure.py``: its metrics by hand-counted cases, floors on its own pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.bodies.structure_score import edit_distance, parts_of, rouge, score, teds
from benchmarks.structure import main

TABLE = (("项目", "金额"), ("收入", "12"))


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("", "", 0),
        ("", "ab", 2),
        ("kitten", "sitting", 3),
        ("侨务工作", "侨务", 2),
        ("abc", "cba", 2),
    ],
)
def test_edit_distance(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


def test_tables_are_compared_as_trees() -> None:
    # Eight nodes: the root, a table, two rows, four cells.
    assert teds([TABLE], [TABLE]) == 1.0
    assert teds([TABLE], [(TABLE[0],)]) == pytest.approx(1 - 3 / 8)  # a row with its cells
    assert teds([TABLE], [(TABLE[0], ("收入", "1"))]) == pytest.approx(1 - 0.5 / 8)
    assert teds([TABLE], []) == pytest.approx(1 - 7 / 8)


def test_markdown_is_taken_apart_alike_in_all_its_spellings() -> None:
    table = "| 项目 | 金额 |\n| --- | --- |\n| 收入 | 12 |"
    ours = f"# 题\n\n**甲**乙 \\*丙\n\n{table}\n\n```py\nx = 1\n```"
    other = "题\n===\n\n甲乙 *丙\n\n项目|金额\n---|---\n收入|12\n\n    x = 1\n"
    assert parts_of(ours).tables == parts_of(other).tables == (TABLE,)
    assert parts_of(ours).code == parts_of(other).code == "x = 1"
    assert parts_of(ours).text == "题 甲乙 *丙"


def test_parts_nobody_has_are_not_scored() -> None:
    assert score("甲乙丙丁戊己", "甲乙丙丁戊己") == {
        "text_edit": 1.0, "table_edit": None, "teds": None, "code_edit": None, "rouge_5": 1.0,
    }  # fmt: skip
    assert rouge("甲乙丙丁戊己", "甲乙丙丁戊庚") == 0.5
    assert score("", "| a | b |\n| --- | --- |")["teds"] == pytest.approx(1 / 5)


def test_the_pages_written_for_it_keep_their_structure(tmp_path: Path) -> None:
    assert main(["--peers", "", "--json", str(tmp_path / "rows")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text("utf-8").splitlines()]
    assert len(rows) >= 30
    for figure in ("text_edit", "table_edit", "teds", "code_edit", "rouge_5"):
        values = [row[figure] for row in rows if row[figure] is not None]
        assert sum(values) / len(values) >= 0.97, figure


def test_data_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--peers", ""]) == 1
    assert "no gold.jsonl" in capsys.readouterr().out
