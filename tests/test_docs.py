"""The pages for people: links lead somewhere, and what they name of the program is there."""

from __future__ import annotations

import importlib
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from qiaocrawl.cli import Unloaded, app, load
from qiaocrawl.items import Outcome
from qiaocrawl.storage.schema.base import metadata

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/zh/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)```", re.DOTALL | re.MULTILINE)
# What stands in places of this tree, or of the package, as pages name it.
PLACES = tuple(f"{p.name}/" for base in (ROOT, ROOT / "qiaocrawl") for p in base.iterdir())
FILE = re.compile(r"`([\w.-]*/[\w./-]+\.(?:py|c|sh|npz|toml|csv|xml|txt|svg))(?:[: ][^`]*)?`")
# Entry points are called as modules are.
PLUG_INS = {"extractors", "page_scorers", "strategies", "dedup_methods", "exporters",
            "change_estimators", "revisit_policies"}  # fmt: skip


def _text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def _prose(name: str) -> str:
    return BLOCK.sub("", _text(name))


@cache
def _anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    prose = _prose(str(page.relative_to(ROOT)))
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_links_and_anchors_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", _prose(name)):
        if "://" in link:
            continue
        to, _, anchor = link.partition("#")
        target = (page.parent / to).resolve() if to else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_their_options_exist(name: str) -> None:
    blocks = "\n".join(block for _, block in BLOCK.findall(_text(name)))
    lines = re.findall(r"(?:^|[ (;&/])(qiaocrawl [a-z][^`\n]*)", blocks, re.MULTILINE)
    lines += re.findall(r"`(qiaocrawl [^`]*)`", _prose(name))
    assert [line for line in lines if not _exists(line)] == []


@pytest.mark.parametrize(
    ("name", "heading"),
    [("docs/running.md", "## The commands"), ("docs/zh/README.md", "## 命令一览")],
)
def test_the_list_of_commands_has_them_all(name: str, heading: str) -> None:
    listed = _text(name).partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    first_cells = "\n".join(re.findall(r"^\| (.+?) \|", listed, re.MULTILINE))
    root: Any = get_command(app)
    commands = {own for own, command in root.commands.items() if not command.hidden}
    told = {
        code.removeprefix("qiaocrawl ").split()[0] for code in re.findall(r"`([^`]+)`", first_cells)
    }
    assert commands - told == set()


def _exists(line: str) -> bool:
    """Whether the command of *line* is there, with all options it names."""
    # Of several, listed by "|", the first stands for all; the rest of a shell line is another's.
    one = re.split(r"#| &&|;|>|\\?\|", line.replace("\n", " "))[0]
    words = shlex.split(re.sub(r"[…\[\]]", " ", one))[1:]
    path: list[str] = []
    commands, options = _command(())
    while words and commands and not re.search("[^a-z-]|^-", words[0]):
        if words[0] not in commands:
            return False
        path.append(words.pop(0))
        commands, options = _command(tuple(path))
    return all(word in options for word in words if word.startswith("--"))


@cache
def _command(path: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The commands below the one at *path*, and its own options."""
    command: Any = get_command(app)
    for word in path:
        command = command.commands[word]
        command = load(command.entry) if isinstance(command, Unloaded) else command
    options = {"--help"}
    for parameter in command.params:
        options.update(getattr(parameter, "opts", ()), getattr(parameter, "secondary_opts", ()))
    below = getattr(command, "commands", {})
    # What is hidden goes with the next release: no page names it.
    shown = frozenset(name for name, one in below.items() if not one.hidden)
    return shown, frozenset(options)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_python_are_there(name: str) -> None:
    python = "\n".join(block for kind, block in BLOCK.findall(_text(name)) if kind == "python")
    for module, imported in re.findall(r"^from (qiaocrawl[\w.]*) import (.+)$", python, re.M):
        for one in imported.split(", "):
            assert hasattr(importlib.import_module(module), one), f"{module}.{one}"
    for dotted in re.findall(r"`qiaocrawl\.([a-z][\w.]+)[`(]", _prose(name)):
        assert dotted in PLUG_INS or _is_there(dotted), dotted


def _is_there(dotted: str) -> bool:
    """Whether *dotted* is a module of the package, or what one holds."""
    path = ROOT / "qiaocrawl" / dotted.replace(".", "/")
    beside = ROOT / dotted.replace(".", "/")
    if path.is_dir() or beside.is_dir() or path.with_suffix(".py").is_file():
        return True
    return hasattr(importlib.import_module(f"qiaocrawl.{dotted}".rpartition(".")[0]), path.name)


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_named_are_there(name: str) -> None:
    for path in FILE.findall(_prose(name)):
        # What a reader is told to make lies elsewhere, or has NAME in it.
        if path.startswith(PLACES) and "NAME" not in path and "wenlv" not in path:
            assert any((base / path).is_file() for base in (ROOT, ROOT / "qiaocrawl")), path


def test_the_glossary_tells_every_table_and_outcome() -> None:
    tables, outcomes = (
        _text("docs/glossary.md").split("## The tables")[1].split("Outcomes of a URL")
    )
    first_cells = "".join(re.findall(r"^\| [^|]+ \|", tables, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", first_cells)) == set(metadata.tables)
    # A URL that is to be tried again has not ended.
    assert set(re.findall(r"`(\w+)`", outcomes)) == {one.value for one in Outcome} - {"retry"}
