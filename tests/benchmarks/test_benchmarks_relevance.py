"""The benchmark of page relevance: figures by hand, and a made-up collection."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import relevance
from benchmarks.judgements.corrections import STEPS
from benchmarks.judgements.peers import PEERS
from benchmarks.judgements.score import Bin, average_precision, figures, reliability
from qiaocrawl.topic.pack import Sample, TopicPack

TRUTH = np.array([True, False, True, False])


def test_figures_are_those_worked_out_by_hand() -> None:
    scores = np.array([0.95, 0.92, 0.4, 0.0])
    found = figures(scores, scores >= 0.5, TRUTH)
    assert (found.precision, found.recall, found.f1) == (0.5, 0.5, 0.5)
    # Relevant pages come first and third.
    assert found.average_precision == pytest.approx((1 + 2 / 3) / 2)
    assert found.brier == pytest.approx((0.05**2 + 0.92**2 + 0.6**2) / 4)
    assert found.bins == (
        Bin(0.0, 0.0, 1), Bin(0.4, 1.0, 1), Bin(pytest.approx(0.935), 0.5, 2),  # type: ignore[arg-type]
    )  # fmt: skip
    assert found.ece == pytest.approx((0.6 + 2 * 0.435) / 4)


def test_equal_scores_and_a_score_of_1_are_in_place() -> None:
    # All come together: precision is the share of relevant pages.
    assert average_precision(np.full(4, 0.3), TRUTH) == pytest.approx(0.5)
    assert average_precision(np.zeros(2), np.zeros(2, dtype=bool)) == 0
    assert reliability(np.array([1.0]), np.array([True])) == (Bin(1.0, 1.0, 1),)


def _collection(folder: Path) -> None:
    (folder / "pages").mkdir(parents=True)
    lines = []
    for number in range(120):
        tea = number % 4 == 0
        words = "tea leaves steam in the pot" if tea else "oars and sails on the harbour wall"
        html = (f"<html><head><title>{'Tea' if tea else 'Boat'} {number}</title></head><body>"
                f"<p>{words}, as the visitors of day {number} tell.</p></body></html>")  # fmt: skip
        (folder / "pages" / f"{number}.html").write_text(html, encoding="utf-8")
        lines.append(json.dumps({"url": f"http://village.example/{number}", "outlinks": [],
                                 "file": f"pages/{number}.html",
                                 "topics": ["tea"] if tea else []}) + "\n")  # fmt: skip
    (folder / "graph.jsonl").write_text("".join(lines), encoding="utf-8")
    named = {"topics": {"tea": "tea leaves"}, "seeds": []}
    (folder / "topics.json").write_text(json.dumps(named), encoding="utf-8")


def test_a_made_up_collection_is_judged_by_ours_and_by_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _collection(tmp_path / "data" / "village")
    rows, picture = tmp_path / "rows.json", tmp_path / "picture.svg"
    methods = ["blend", "boolean", *PEERS]
    monkeypatch.setattr(sys, "argv", [
        "relevance.py", "--data", str(tmp_path / "data"), "--quick", "--collection", "village",
        "--method", ",".join(methods), "--json", str(rows), "--picture", str(picture),
    ])  # fmt: skip
    relevance.main()
    found = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    assert [row["method"] for row in found] == methods
    for row in found:
        assert (row["collection"], row["topic"], row["seed"]) == ("village", "tea", 0)
        assert 0 < row["relevant"] < row["pages"] < 120
        assert row["average_precision"] == pytest.approx(1.0)
    assert found[0]["f1"] == 1.0
    assert picture.read_text("utf-8").count("<svg") == 1
    out = capsys.readouterr().out
    assert "village: mean of 1 tasks" in out
    assert "blend: reliability" in out


def test_corrections_of_a_made_up_collection_need_no_peers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    _collection(tmp_path / "data" / "village")
    rows = tmp_path / "rows.jsonl"
    monkeypatch.setattr(sys, "argv", [
        "relevance.py", "--data", str(tmp_path / "data"), "--quick", "--collection", "village",
        "--method", "blend", "--corrections", "--json", str(rows),
    ])  # fmt: skip
    relevance.main()
    steps = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    assert [step["judged"] for step in steps] == [*STEPS, *STEPS]
    assert {step["pack"] for step in steps} == {"samples", "words"}
    assert all(step["f1"] >= 0.9 for step in steps if step["judged"] >= 10)
    out = capsys.readouterr().out
    assert "least" in out
    assert "…" not in out, "nothing is cut at 80 columns"


def test_f1_by_number_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    _collection(tmp_path / "data" / "village")
    monkeypatch.setattr(sys, "argv", [
        "relevance.py", "--data", str(tmp_path / "data"), "--quick", "--collection", "village",
        "--samples",
    ])  # fmt: skip
    relevance.main()
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row[0] == "village"
    assert [float(figure) for figure in row[1:]] == pytest.approx([1.0] * 6, abs=0.2)


def test_samples_are_a_third_relevant() -> None:
    one = Sample("s", "", "tea", True)
    pack = TopicPack("t", "", "", 0.1, (), (), (*[one] * 40, *[replace(one, relevant=False)] * 60))
    for most, relevant in ((10, 3), (30, 10), (100, 33)):
        taken = relevance.with_samples(pack, most).samples
        assert [sum(one.relevant for one in taken), len(taken)] == [relevant, min(most, 93)]


def test_a_method_nobody_knows_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["relevance.py", "--data", str(tmp_path), "--method", "x"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match="unknown page scorer 'x'"):
        relevance.main()
