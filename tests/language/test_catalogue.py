"""No message is left out: in the sources, in the catalogue, in the compiled catalogue."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "qiaocrawl" / "cli"
CATALOGUE = ROOT / "qiaocrawl/language/locale/zh_CN/LC_MESSAGES/qiaocrawl.po"
CHINESE = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")

# Chinese that is data, not words to the operator: by file, what holds it.
# Sheets for officers are Chinese, and come back by their Chinese headers.
DATA = {
    "article.py": {"_opening"},
    "lexicon_review.py": {"_WORD_COLUMN", "queries_of_one_term"},
    "lexicon_tables.py": {
        "DECISION_COLUMNS", "_KNOWN", "_ALIAS_KINDS", "term_sheet", "new_word_sheet", "alias_sheet",
        "proposal_sheet", "yield_sheet", "weight_sheet",
    },
    "options.py": {"_DAYS_AGO"},
    "output.py": {"_CHINESE", "_PIECE"},
    "setup.py": {"_COMMA", "_TIME"},
    "spread.py": {"spread_sheets"},
    "story.py": {
        "_STATES", "story_sheets", "_BODY", "event_table", "event_sheets", "_relations", "_numbers",
    },
    "topic_new.py": {"Given", "words_of"},
}  # fmt: skip
# The compiler reads news.
DATA_FILES = {"compile.py"}


@pytest.fixture(scope="module")
def script() -> Iterator[object]:
    """``scripts/messages.py``, which is no package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import messages

    yield messages
    sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def current(script) -> dict[str, Any]:  # type: ignore[no-untyped-def]
    """All messages of the sources; to find them takes seconds."""
    messages: dict[str, Any] = script.current()
    return messages


def test_the_catalogue_has_every_message_in_chinese(  # type: ignore[no-untyped-def]
    script, current: dict[str, Any]
) -> None:
    messages = current
    assert len(messages) > 1000
    assert [message.text for message in messages.values() if not message.chinese] == []
    # What needs no Chinese is a mark, a path or a name.
    plain = {m.text for m in messages.values() if not CHINESE.search(m.chinese)}
    assert plain <= {"  {number} · {text}"}, "no Chinese in the translation"
    stale = "run: python scripts/messages.py"
    assert CATALOGUE.read_text("utf-8") == script.catalogue(messages), stale
    assert CATALOGUE.with_suffix(".mo").read_bytes() == script.compiled(messages), stale


def test_gettext_reads_what_was_compiled(current: dict[str, Any]) -> None:
    catalogue = GNUTranslations(BytesIO(CATALOGUE.with_suffix(".mo").read_bytes()))
    for message in current.values():
        if message.plural:
            assert catalogue.ngettext(message.text, message.plural, 2) == message.chinese
        else:
            assert catalogue.gettext(message.text) == message.chinese


def test_translations_have_the_places_of_their_messages(script) -> None:  # type: ignore[no-untyped-def]
    wrong = []
    for text, chinese in script.translations(CATALOGUE.read_text("utf-8")).items():
        if _places(text) != _places(chinese):
            wrong.append((text, chinese))
    assert wrong == []


def test_translations_say_each_thing_once(script) -> None:  # type: ignore[no-untyped-def]
    wrong = []
    for text, chinese in script.translations(CATALOGUE.read_text("utf-8")).items():
        sentences = [part.strip() for part in re.split("(?<=[。！？；\n])", chinese)]
        long = [part for part in sentences if len(part) > 5]
        if len(long) > len(set(long)) or text.count("\n\n") != chinese.count("\n\n"):
            wrong.append((text, chinese))
    assert wrong == []


def _places(text: str) -> set[tuple[str | None, str | None, str | None]]:
    """Name, format and conversion of every place of *text*."""
    return {part[1:] for part in Formatter().parse(text) if part[1] is not None}


def test_the_command_line_has_no_chinese_of_its_own() -> None:
    wrong = []
    for path in sorted(CLI.rglob("*.py")):
        name = str(path.relative_to(CLI))
        if name in DATA_FILES:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        data = [node for node in tree.body if _names(node) & DATA.get(name, set())]
        inside = {id(child) for node in data for child in ast.walk(node)}
        wrong += [
            f"{name}:{node.lineno} {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and CHINESE.search(node.value)
            and id(node) not in inside
        ]
    assert wrong == []


def _names(node: ast.stmt) -> set[str]:
    """What *node* defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {child.id for target in targets for child in ast.walk(target)
            if isinstance(child, ast.Name)}  # fmt: skip


# Calls whose texts a person reads, by the last part of their name.
SHOWING = {
    "echo", "print", "print_hanging", "add_column", "add_task", "folding_table", "prompt",
    "confirm", "say_written", "_print", "status", "ConfigError", "StorageError", "TopicError",
    "DemoError", "PageSourceError",
}  # fmt: skip
# What stands for itself in both languages: commands, markup, units, marks of a program.
NO_WORDS = re.compile(
    r"\{\}|\[/?[a-z]*\]|qiaocrawl|scrapy|export QIAO\S*|QIAO_\S*|https?://\S*|sqlite:\S*|systemctl"
    r"|qiaoqing|~/\.config\S*|/etc/systemd/\S*|--[a-z-]+|-a |topic="
    r"|\bHTTP\b|\b[a-zA-Z]{1,2}\b|daemon-reload"
    r"|crawl site"
)


def test_every_text_that_is_shown_is_a_message() -> None:
    wrong = []
    for path in sorted(CLI.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and _last_name(node.func) in SHOWING:
                for argument in node.args:
                    text = _literal(argument)
                    if re.search("[A-Za-z]{3}", NO_WORDS.sub(" ", text)):
                        wrong.append(f"{path.relative_to(CLI)}:{node.lineno} {text!r}")
    assert wrong == []


# Errors that nobody sees as they are: they end in a log line or as the stored reason of a page,
# which are English.
NOTED = {
    "AddressRefusedError", "BlockedError", "BrowserLostError", "DriverError", "ExtractionError",
    "HostParkedError", "LoginPageError", "ModelError", "OutdatedError", "PoisonPageError",
    "ProxiesRestError", "ProxyError", "RenderError", "RobotsUnreachableError", "SessionRestError",
    "TrapError",
}  # fmt: skip
# Pieces of a command or of a file, in both languages.
NO_PROSE = re.compile(r"\{\}|\\n|[\s:;,()'\"]")


@pytest.fixture(scope="module")
def nodes() -> dict[Path, list[ast.AST]]:
    """What all our sources are made of."""
    folders = ("qiaocrawl", "spiders", "pipelines", "middlewares")
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return {path: [*ast.walk(ast.parse(path.read_text("utf-8")))] for path in paths}


def _errors(nodes: dict[Path, list[ast.AST]]) -> set[str]:
    """The names of all our errors."""
    classes = [node for own in nodes.values() for node in own if isinstance(node, ast.ClassDef)]
    names = {"QiaoError"}
    while more := {node.name for node in classes if node.name not in names
                   and names & set(map(_last_name, node.bases))}:  # fmt: skip
        names |= more
    return names


def test_every_error_that_a_person_sees_is_a_message(nodes: dict[Path, list[ast.AST]]) -> None:
    shown = _errors(nodes) - NOTED
    assert {"ConfigError", "LoginError", "PageSourceError"} <= shown
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(part)}"
        for path, own in nodes.items()
        for node in own
        if isinstance(node, ast.Call) and _last_name(node.func) in shown
        for argument in node.args[:1]
        for part in _pieces(argument)
        if NO_PROSE.sub("", _literal(part))
    ]
    assert wrong == []


def _pieces(node: ast.expr) -> Iterator[ast.expr]:
    """The literals *node* is put together from, outside of calls."""
    if isinstance(node, ast.BinOp):
        yield from (*_pieces(node.left), *_pieces(node.right))
    elif isinstance(node, ast.IfExp | ast.BoolOp):
        parts = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
        for part in parts:
            yield from _pieces(part)
    elif isinstance(node, ast.JoinedStr):
        yield node
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                yield from _pieces(value.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node


def test_no_function_hides_the_translation_by_a_name_of_its_own(
    nodes: dict[Path, list[ast.AST]],
) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{function.lineno}"
        for path, own in nodes.items()
        for function in own
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and {ast.Store, ast.Load} <= _uses_of_underscore(function)
    ]
    assert wrong == []


def _uses_of_underscore(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[type]:
    """How ``_`` is used in *function*; what a comprehension binds stays its own."""
    nodes = list(ast.walk(function))
    inside = {id(name) for node in nodes if isinstance(node, ast.comprehension)
              for name in ast.walk(node.target)}  # fmt: skip
    return {type(node.ctx) for node in nodes
            if isinstance(node, ast.Name) and node.id == "_"
            and id(node) not in inside}  # fmt: skip


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr) -> str:
    """The words of a literal, ``{}`` for what is filled in; "" for anything else."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) if isinstance(part, ast.Constant) else "{}"
                       for part in node.values)  # fmt: skip
    return ""


HELP = """
import json, os, sys
from typer.main import get_command
from qiaocrawl.cli import COMMANDS, app
from qiaocrawl.cli import Unloaded, load

def texts(command, name):
    if isinstance(command, Unloaded):
        command = load(command.entry)
    shown = [("", command.help)] + [(part.name, part.help) for part in command.params]
    yield from ((f"{name} {part}", text) for part, text in shown)
    for part, below in getattr(command, "commands", {}).items():
        yield f"{name} {part} in the list", below.help
        yield from texts(below, f"{name} {part}")

root = get_command(app)
root.make_context("qiaocrawl", [], resilient_parsing=True)
json.dump([*texts(root, "qiaocrawl")], sys.stdout)
"""


@pytest.mark.parametrize("language", ["zh_CN", "en"])
def test_help_is_in_one_language(language: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP], capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "QIAO_LANG": language},
    )  # fmt: skip
    texts = [(name, text) for name, text in json.loads(done.stdout)]
    assert len(texts) > 300
    is_chinese = {name: bool(CHINESE.search(text or "")) for name, text in texts}
    assert [name for name in is_chinese if is_chinese[name] is (language == "en")] == []


def test_usage_is_said_once_however_deep_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "qiaocrawl", "topic", "export", "--help"],
        capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "QIAO_LANG": "zh_CN"},
    )  # fmt: skip
    assert done.stdout.count("用法：") == 1
    assert "--force" in done.stdout
    assert "<bool>" not in done.stdout, "a flag takes no value"
