"""The benchmark of the console, over a collection that is made in a moment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import console

KINDS = (
    "overview", "overview counted anew", "list", "list of a site", "list by score", "search",
    "search in days", "search without index", "detail", "evidence",
)  # fmt: skip


def test_every_kind_of_page_is_asked_for_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    given = ["--articles", "120", "--requests", "1", "--databases", "sqlite", "--datasette",
             "no-such-program", "--keep", str(tmp_path / "kept"), "--json", str(file)]  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["console.py", *given])
    console.main()
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {(row["set"], row["method"]) for row in rows} == {("sqlite 120", "ours")}
    values = {row["metric"]: row["value"] for row in rows}
    assert all(values[f"{kind} p95_ms"] >= values[f"{kind} p50_ms"] > 0 for kind in KINDS)
    assert values["memory_mib"] > 20
    assert values["index_mib"] > 0
    shown = capsys.readouterr().out
    assert "no-such-program: not found, skipped" in shown
    assert len(shown.splitlines()) == len(rows) + 1
    assert (tmp_path / "kept" / "q.db").stat().st_size > 100_000
