"""``python -m benchmarks``: all measurements by name, each with what it answers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.__main__ import measurements

ROOT = Path(__file__).resolve().parents[2]


def said(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True
    )


def test_all_are_listed_and_the_page_names_none_that_is_not_there() -> None:
    known = measurements()
    assert len(known) > 30
    assert all(known.values()), "one says nothing of itself"
    assert {line.split()[0] for line in said().stdout.splitlines()[: len(known)]} == set(known)
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    named = set(re.findall(r"`python -m benchmarks (\w+)", page))
    assert len(named) > 20
    assert named <= {*known, "NAME"}


def test_one_runs_with_its_options_and_a_wrong_name_says_which_there_are() -> None:
    shown = said("coverage", "--help")
    assert (shown.returncode, "--data" in shown.stdout) == (0, True)
    wrong = said("coverag")
    assert wrong.returncode == 1
    assert "did you mean 'coverage'" in wrong.stderr
