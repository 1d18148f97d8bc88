"""Commands are imported when they are called: help and reading commands stay quick."""

from __future__ import annotations

import pytest

from command_runs import Run
from qiaocrawl.cli import COMMANDS
from qiaocrawl.cli.lazy import CommandEntry, load


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_table_shows_what_the_command_says_of_itself(entry: CommandEntry) -> None:
    first_paragraph = load(entry).help.partition("\n\n")[0]
    assert " ".join(first_paragraph.split()) == entry.help


def test_a_misspelt_command_is_answered_with_the_like(run: Run) -> None:
    code, _, error = run("coverag")
    assert code == 2
    assert "Did you mean 'coverage'?" in error
