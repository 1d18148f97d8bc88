"""The benchmarks of entities, tone and summaries: figures by hand, and made-up collections."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import checked_sentences, entities, sentiment, summaries
from benchmarks.analysis_data import macro_f1, rouge, run


def test_figures_are_those_worked_out_by_hand() -> None:
    # a: 1 of 2 called right, 1 of 1 found; b: 1 of 1, 1 of 2.
    assert macro_f1(["a", "b", "b"], ["a", "a", "b"]) == pytest.approx(2 / 3)
    # Five letters against four, three common in order, two common pairs.
    assert rouge("侨商大会开", "侨商会开") == pytest.approx((8 / 9, 4 / 7, 8 / 9))
    assert rouge("GDP增长3.5%", "gdp 3.5") == pytest.approx((2 * 2 / 6, 0, 2 * 2 / 6))
    assert rouge("甲", "") == (0, 0, 0)


def _write(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    folder.mkdir(parents=True)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def _rows_of(
    task: str, measure: Callable[..., object], data: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[tuple[str, str], float]:
    out = data / "rows.jsonl"
    monkeypatch.setattr(
        sys, "argv", ["x", "--data", str(data), "--train", str(data), "--json", str(out)]
    )
    run(task, "Doc.", measure)  # type: ignore[arg-type]
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {row["task"] for row in rows} == {task}
    return {(row["method"], row["metric"]): row["value"] for row in rows}


def test_entities_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "id": f"{name}{place}",
            "text": f"{name}来到{place}。",
            "spans": [[0, 3, "PER"], [5, 7, "LOC"]],
        }
        for name in ("张学良", "李文清", "王大明")
        for place in ("北京", "泉州", "纽约")
    ]
    _write(tmp_path / "entities", "made_up", rows)
    values = _rows_of("entities", entities.measure, tmp_path, monkeypatch)
    assert values["ours", "f1"] == 1
    assert values["ours_shipped", "f1_place"] == 1
    assert 0 < values["jieba", "f1"] <= 1


def test_tone_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"id": f"{number}", "text": f"{text}{number}", "label": label}
        for number in range(6)
        for text, label in (("大家很满意", "pos"), ("损失严重", "neg"))
    ]
    _write(tmp_path / "sentiment", "made_up", rows)
    values = _rows_of("sentiment", sentiment.measure, tmp_path, monkeypatch)
    assert values["ours", "macro_f1"] == 1
    assert values["ours_shipped", "macro_f1_other_domains_60"] == 1
    # There is no other domain to learn from.
    assert ("ours", "macro_f1_other_domains") not in values


def test_summaries_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"id": word, "text": f"天气晴朗一切如常。第{word}届侨商大会在厦门开幕。",
         "reference": f"第{word}届侨商大会在厦门开幕"}
        for word in "一二三四"
    ]  # fmt: skip
    _write(tmp_path / "summaries", "made_up", rows)
    values = _rows_of("summaries", summaries.measure, tmp_path, monkeypatch)
    assert values["ours", "rouge_l"] == values["best_sentence", "rouge_l"] == 1
    assert values["lead_1", "rouge_l"] < 0.5


def test_a_folder_without_the_task_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no entities/\*.jsonl.gz there"):
        run("entities", "Doc.", entities.measure)


def test_checked_sentences_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    monkeypatch.setattr(sys, "argv", ["x", "--choosing", "--json", str(out)])
    checked_sentences.main()
    assert "no labelled summaries" in capsys.readouterr().out
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    shares = {
        (row["method"], row["kind"]): row["dropped"] for row in rows if row["set"] == "written"
    }
    assert shares["ours", "invented"] > 0.95
    assert shares["ours", "true by hand"] <= 0.05
    assert shares["trusts", "invented"] == 0
    assert shares["words", "invented"] < shares["ours", "invented"]
