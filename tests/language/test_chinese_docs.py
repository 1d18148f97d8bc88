"""docs/zh names only commands and options that exist, and links to pages that are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from qiaocrawl.cli import Unloaded, app, load
from qiaocrawl.options import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "zh").glob("*.md"))
CHINESE_PAGES = [*PAGES, ROOT / "README.zh-CN.md"]


@pytest.mark.parametrize("page", CHINESE_PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    lines = re.findall(r"^qiaocrawl .*$|`qiaocrawl [^`]*`", text, re.MULTILINE)
    assert lines or page.name == "README.md"
    wrong = [line for line in lines if not _exists(line.strip("`").partition("#")[0])]
    assert wrong == []


def _exists(line: str) -> bool:
    """Whether the command of *line* is there, with all options it names."""
    # A table lists several by "|": the first stands for all.
    words = shlex.split(re.sub(r"\\?\|.*", "", line))[1:]
    command: Any = get_command(app)
    while words and hasattr(command, "commands"):
        if re.search("[^a-z-]", words[0]) or words[0].startswith("-"):
            break
        if words[0] not in command.commands or command.commands[words[0]].hidden:
            return False
        command = command.commands[words.pop(0)]
        command = load(command.entry) if isinstance(command, Unloaded) else command
    known = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    return all(word in {*known, "--help"} for word in words if word.startswith("--"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_pages_and_options_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (page.parent / target).is_file(), target
    names = {option.name for option in OPTIONS} | {"QIAO_MAX_PAGE"}
    assert set(re.findall(r"QIAO_[A-Z0-9_]+", text)) <= names
