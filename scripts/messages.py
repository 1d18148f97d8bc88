"""Brings the catalogue of messages up to date with the sources, and compiles it.

Usage: ``python scripts/messages.py``. Messages are what ``_()``, ``ngettext()`` and ``N_()`` are
called with, in sources and in templates of pages, the help of every command, what options mean, and
the notes of the engines we ship. New ones come with an empty translation, for you to fill in; those
no longer used go. No tool beside Python is needed.
"""

from __future__ import annotations

import ast
import os
import struct
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
# The help as it is written, which is what has to be translated.
os.environ["QIAO_LANG"] = "en"

SOURCES = ("qiaocrawl", "spiders", "pipelines", "middlewares")
PO = ROOT / "qiaocrawl/language/locale/zh_CN/LC_MESSAGES/qiaocrawl.po"
_HEADER = (
    "Project-Id-Version: qiaocrawl\nLanguage: zh_CN\nMIME-Version: 1.0\n"
    "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
    "Plural-Forms: nplurals=1; plural=0;\n"
)
_MARKS = {"_": 1, "N_": 1, "ngettext": 2}
_MO_MAGIC = 0x950412DE


@dataclass
class Message:
    """A message of the sources and its Chinese, "" while there is none."""

    text: str
    plural: str = ""
    chinese: str = ""
    places: list[str] = field(default_factory=list)
    """Files and commands it is in."""


def extracted() -> dict[str, Message]:
    """All messages by their English text, in the order of the places they are in."""
    messages: dict[str, Message] = {}
    sources = (*_in_sources(), *_in_templates(), *_in_engines(), *_in_options(), *_in_help())
    for place, text, plural in sources:
        message = messages.setdefault(text, Message(text))
        message.plural = message.plural or plural
        if place not in message.places:
            message.places.append(place)
    return messages


def _in_sources() -> Iterator[tuple[str, str, str]]:
    """File, text and plural ("" for none) of every marked message."""
    for path in sorted(file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")):
        for call in _marked_calls(ast.parse(path.read_text("utf-8"))):
            number = _MARKS[call.func.id]  # type: ignore[attr-defined]
            texts = [node.value for node in call.args[:number] if isinstance(node, ast.Constant)]
            if len(texts) == number:
                place = str(path.relative_to(ROOT))
                yield place, str(texts[0]), str(texts[1]) if number > 1 else ""


def _in_templates() -> Iterator[tuple[str, str, str]]:
    """The same of the templates of pages."""
    from jinja2 import Environment
    from jinja2.ext import extract_from_ast

    environment = Environment()
    folders = (ROOT / "qiaocrawl" / part / "templates" for part in ("console", "export"))
    for path in sorted(file for folder in folders for file in folder.rglob("*.*")):
        tree = environment.parse(path.read_text("utf-8"))
        for _line, function, found in extract_from_ast(tree, ("_", "ngettext")):
            # None stands for what is no literal.
            texts = found if isinstance(found, tuple) else (found,)
            number = _MARKS[function]
            literal = [text for text in texts[:number] if text is not None]
            if len(literal) == number:
                plural = literal[1] if number > 1 else ""
                yield str(path.relative_to(ROOT)), literal[0], plural


def _marked_calls(tree: ast.AST) -> list[ast.Call]:
    """The calls that mark a message, in the order of the lines."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKS
    ]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _in_engines() -> Iterator[tuple[str, str, str]]:
    """The same of what engine definitions say of themselves."""
    for path in sorted((ROOT / "qiaocrawl/search/engines").glob("*.toml")):
        yield str(path.relative_to(ROOT)), tomllib.loads(path.read_text("utf-8"))["note"], ""


def _in_options() -> Iterator[tuple[str, str, str]]:
    """The same of what every option means."""
    from qiaocrawl.options import OPTIONS

    for option in OPTIONS:
        yield "qiaocrawl/options/table.py", option.help, ""


def _in_help() -> Iterator[tuple[str, str, str]]:
    """The same of the help of every command, as Typer has it."""
    from typer.main import get_command

    from qiaocrawl.cli import COMMANDS, app, load

    for entry in COMMANDS:
        yield "qiaocrawl", entry.help, ""
        yield "qiaocrawl", entry.panel, ""
    yield from _help_of(get_command(app), "qiaocrawl", below=())
    for entry in COMMANDS:
        yield from _help_of(load(entry), f"qiaocrawl {entry.name}")


def _help_of(
    command: Any, name: str, below: tuple[str, ...] | None = None
) -> Iterator[tuple[str, str, str]]:
    from qiaocrawl.cli import Unloaded, load

    if isinstance(command, Unloaded):
        yield name, command.entry.help, ""
        command = load(command.entry)
    texts = (command.help, command.short_help, *(part.help for part in command.params))
    yield from ((name, text, "") for text in texts if text)
    for part, command_below in getattr(command, "commands", {}).items():
        if below is None or part in below:
            yield from _help_of(command_below, f"{name} {part}")


def catalogue(messages: dict[str, Message]) -> str:
    """The catalogue as gettext writes it (PO)."""
    entries = [f'msgid ""\nmsgstr {_quoted(_HEADER)}\n']
    for message in messages.values():
        lines = [f"#: {place}" for place in message.places]
        lines.append(f"msgid {_quoted(message.text)}")
        if message.plural:
            lines.append(f"msgid_plural {_quoted(message.plural)}")
        lines.append(f"msgstr{'[0]' if message.plural else ''} {_quoted(message.chinese)}")
        entries.append("\n".join(lines) + "\n")
    return "\n".join(entries)


def _quoted(text: str) -> str:
    """A string of a PO file: a line of the text a line."""
    lines = [_escaped(line) for line in text.splitlines(keepends=True)] or ['""']
    return "\n".join(['""', *lines] if len(lines) > 1 else lines)


def _escaped(line: str) -> str:
    for raw, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        line = line.replace(raw, escaped)
    return f'"{line}"'


def translations(text: str) -> dict[str, str]:
    """The Chinese of every message of a PO file."""
    chinese: dict[str, str] = {}
    parts: dict[str, str] = {}
    keyword = ""
    for line in (*text.splitlines(), ""):
        if not line:
            if parts.get("msgid"):
                chinese[parts["msgid"]] = parts.get("msgstr", parts.get("msgstr[0]", ""))
            parts = {}
        elif not line.startswith("#"):
            if not line.startswith('"'):
                keyword, _, line = line.partition(" ")
            # The escapes of PO are those of Python.
            parts[keyword] = parts.get(keyword, "") + ast.literal_eval(line)
    return chinese


def compiled(messages: dict[str, Message]) -> bytes:
    """The catalogue as gettext reads it (MO): two sorted tables of strings."""
    pairs = {"": _HEADER}
    for message in messages.values():
        if message.chinese:
            key = f"{message.text}\0{message.plural}" if message.plural else message.text
            pairs[key] = message.chinese
    encoded = sorted((key.encode(), value.encode()) for key, value in pairs.items())
    tables, strings = [], b""
    start = 28 + 16 * len(encoded)
    for column in (0, 1):
        for pair in encoded:
            tables.append(struct.pack("<II", len(pair[column]), start + len(strings)))
            strings += pair[column] + b"\0"
    head = struct.pack("<7I", _MO_MAGIC, 0, len(encoded), 28, 28 + 8 * len(encoded), 0, 0)
    return head + b"".join(tables) + strings


def current() -> dict[str, Message]:
    """The messages of the sources with the translations the catalogue has."""
    messages = extracted()
    chinese = translations(PO.read_text("utf-8")) if PO.exists() else {}
    for message in messages.values():
        message.chinese = chinese.get(message.text, "")
    return messages


def main() -> None:
    """Write both files, and name what has no translation."""
    messages = current()
    PO.write_text(catalogue(messages), "utf-8")
    PO.with_suffix(".mo").write_bytes(compiled(messages))
    untranslated = [message for message in messages.values() if not message.chinese]
    for message in untranslated:
        print(f"no translation: {message.text!r} ({', '.join(message.places)})")
    print(f"{len(messages)} messages, {len(untranslated)} without a translation")


if __name__ == "__main__":
    main()
