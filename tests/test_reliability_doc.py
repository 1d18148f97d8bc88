"""docs/reliability.md names every check, and only tests and benchmarks that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")

# How many checks the catalogue has under each letter.
CHECKS = {
    "S": 7,
    "C": 10,
    "R": 15,
    "K": 10,
    "T": 7,
    "U": 7,
    "E": 6,
    "F": 9,
    "Q": 7,
    "D": 12,
    "W": 16,
    "X": 7,
}


def _rows() -> dict[str, list[str]]:
    """The cells of every check's row, by its name."""
    found: dict[str, list[str]] = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"F-[A-Z]\d+", cells[0]):
            assert cells[0] not in found, f"{cells[0]} stands twice"
            found[cells[0]] = cells[1:]
    return found


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_check_of_the_catalogue_has_its_row() -> None:
    expected = {f"F-{letter}{n}" for letter, most in CHECKS.items() for n in range(1, most + 1)}
    assert set(_rows()) == expected


def test_what_holds_names_a_test_that_exists() -> None:
    for check, (_promise, tested_by, _figure, state) in _rows().items():
        named = re.findall(r"`([^`]+)`", tested_by)
        assert named or not state.startswith("holds"), f"{check} holds by no test"
        for one in named:
            path, _, function = one.partition("::")
            file = ROOT / path.split()[0]
            assert file.is_file(), f"{check}: {path} is not there"
            if function:
                name = function.partition("[")[0]
                assert name in _functions(file), f"{check}: {one} is not there"


def test_the_counts_are_those_of_the_rows() -> None:
    states = [cells[-1] for cells in _rows().values()]
    holding = sum(state.startswith("holds") for state in states)
    assert f"{holding} of {len(states)} hold" in PAGE
