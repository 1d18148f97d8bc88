"""``qiaocrawl --help``: all commands on two screens, in words; former names for a release more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from rich.cells import cell_len
from typer.main import get_command

from command_runs import Run
from qiaocrawl.cli import COMMANDS, REPORTS, Unloaded, app, load

_TWO_SCREENS = 48


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_the_list_fits_two_screens_of_a_terminal(
    language: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_LANG", language)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("--help")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) <= _TWO_SCREENS
    assert max(map(cell_len, lines)) <= 80
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    # Each has one line: what goes on in the next is no command.
    assert shown == [entry.name for entry in COMMANDS]
    assert shown[:6] == ["init", "run", "console", "export", "briefing", "health"]


@pytest.mark.parametrize("name", [entry.name for entry in REPORTS])
def test_a_report_is_called_by_its_former_name_too_and_says_its_new_one(
    name: str, run: Run
) -> None:
    code, out, error = run("report", name, "--help")
    assert (code, error) == (0, "")
    former_code, former_out, told = run(name, "--help")
    assert former_code == 0
    assert told == (
        f"`qiaocrawl {name}` is `qiaocrawl report {name}` now; "
        "the old name goes with the next release\n"
    )
    assert former_out.split() == out.replace(f"report {name}", name, 1).split()


def test_help_says_in_words_what_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = {path: run(*path, "--help")[1] for path in _commands(get_command(app), ())}
    assert len(said) > 100
    # What Typer writes by itself: {topic}, <int range>, <str>.
    wrong = re.compile(r"\{\w+\}|<\w[\w \[\]|]*>")
    assert {path: wrong.findall(text) for path, text in said.items() if wrong.search(text)} == {}
    assert "[OPTIONS] TOPIC" in said["report", "missed"]
    assert re.search(r"--limit\s+NUMBER \[≥ 0\]", said["report", "missed"])
    assert "article|group" in said["export",]


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, below in command.commands.items():
        if below.hidden:
            continue
        one = load(below.entry) if isinstance(below, Unloaded) else below
        if hasattr(one, "commands"):
            yield from _commands(one, (*path, name))
        else:
            yield (*path, name)
