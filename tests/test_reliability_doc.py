"""docs/reliability.md names every check, and only tests and benchmarks that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")

# How many checks the catalogue has under each letter.
CHECKS = {
    "S": 7, "C": 10, "R": 15, "K": 10, "T": 7, "U": 7, "E": 6, "F": 9, "Q": 7, "D": 12, "W": 16,
    "J": 5, "N": 4, "A": 3, "P": 4, "B": 5, "H": 9, "V": 2, "X": 7,
}  # fmt: skip
# Where tests read public collections; those that cannot do without are skipped.
DATA = re.compile(r'["/]shared["/]')
STATES = ("holds", "partly", "does not apply")
# Folders of tests about what no promise is made of: quality is measured, not promised.
WITHOUT_PROMISE = {
    "benchmarks", "demo", "first_hour", "items", "language", "lexicon", "news", "ontology",
    "reading", "relevance", "revisit", "topic", "vsm",
}  # fmt: skip


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


def test_no_state_says_that_what_is_there_is_missing() -> None:
    """Ten rows once said of the console that it was not built, when it had been for weeks."""
    parts = {path.name for path in (ROOT / "qiaocrawl").iterdir() if path.is_dir()}
    for check, (*_cells, state) in _rows().items():
        assert state.startswith(STATES), f"{check}: {state!r}"
        denied = re.findall(r"(?:not built|no|without)[: ]+(?:an? |the )?(\w+)", state)
        assert not parts & set(denied), f"{check}: {state!r}"


def test_every_part_with_tests_has_a_row() -> None:
    named = {one.split("/")[1] for one in re.findall(r"`(tests/[^`]+)`", PAGE) if "/" in one[6:]}
    folders = {path.parent.relative_to(ROOT / "tests").parts[0]
               for path in (ROOT / "tests").glob("*/**/test_*.py")}  # fmt: skip
    assert folders - named - WITHOUT_PROMISE == set()
    assert named & WITHOUT_PROMISE == set()


def test_rows_that_need_the_data_say_so() -> None:
    for check, (_promise, tested_by, _figure, state) in _rows().items():
        files = {one.partition("::")[0] for one in re.findall(r"`(tests/[^`]+)`", tested_by)}
        texts = [(ROOT / file).read_text("utf-8") for file in files]
        needs = any(DATA.search(text) and "skip" in text for text in texts)
        if state.startswith("holds"):
            assert needs == ("with the data" in state), f"{check}: {state!r}"
