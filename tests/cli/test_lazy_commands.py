"""Commands are imported when they are called: help and reading commands stay quick."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from command_runs import Run
from fresh_schema import make_tables
from qiaocrawl.cli import COMMANDS, REPORTS, CommandEntry, load
from qiaocrawl.storage import Database
from qiaocrawl.storage.schema import State
from qiaocrawl.topic.folder import save_pack
from storage_samples import PACK, add_article, add_topic


@pytest.mark.parametrize("entry", [*COMMANDS, *REPORTS], ids=lambda entry: entry.name)
def test_the_table_shows_what_the_command_says_of_itself(entry: CommandEntry) -> None:
    first_paragraph = load(entry).help.partition("\n\n")[0]
    assert " ".join(first_paragraph.split()).startswith(entry.help)


@pytest.mark.parametrize("entry", [*COMMANDS, *REPORTS], ids=lambda entry: entry.name)
def test_help_shows_no_number_that_stands_for_nothing_given(entry: CommandEntry) -> None:
    command = load(entry)
    all_of_it = [command, *getattr(command, "commands", {}).values()]
    defaults = [parameter.default for one in all_of_it for parameter in one.params]
    assert -1 not in defaults


@pytest.mark.parametrize(("language", "words"), [
    ("en", "string as a number, got 'abc'"), ("zh_CN", "须为数字，得到的是 'abc'"),
])  # fmt: skip
def test_a_wrong_value_is_told(
    language: str, words: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QIAO_LANG", language)
    code, _out, err = run("run", "qiaoqing", "--hours", "abc")
    assert code == 2
    assert words in err
    # Typer says it by itself where a value is one of a few.
    assert run("export", "--by", "abc")[2].count("abc") == 1


def test_a_misspelt_command_is_answered_with_the_like(run: Run) -> None:
    code, _, error = run("report", "coverag")
    assert code == 2
    assert "Did you mean 'coverage'?" in error


_PAGE = "http://a.example/1"
# Commands that only read, in one process: what one imports stays for the next.
_READING = (
    ("db", "stats"),
    ("db", "check"),
    ("db", "left-out"),
    ("topic", "list"),
    ("topic", "show", PACK.name),
    ("topic", "check", "{pack}"),
    ("report", "coverage", PACK.name),
    ("report", "why", _PAGE),
    ("dedup", "group", _PAGE),
    ("dedup", "groups"),
    ("watch", "list", PACK.name),
    ("watch", "history", _PAGE),
    ("health",),
    ("session", "list"),
    ("proxies", "list"),
    ("engines", "list"),
    ("export", "--topic", PACK.name, "--out", "{out}"),
)
# fmt: skip
_HELP = (
    ("--help",),
    *((entry.name, "--help") for entry in COMMANDS),
    *(("report", entry.name, "--help") for entry in REPORTS),
)
# What each takes to import is more than such a command takes to answer.
_SLOW = {"alembic", "docx", "jieba", "openpyxl", "rjieba", "scrapy", "sklearn", "twisted"}
_IMPORTING = """
import json, sys
from qiaocrawl.cli import main
results = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["qiaocrawl", *arguments]
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    results.append((arguments, code, sorted(set(sys.modules).intersection(json.loads(SLOW)))))
json.dump(results, sys.stderr)
"""


def imported_by(commands: Iterable[Sequence[str]], slow: set[str], url: str) -> dict[str, Any]:
    """Commands that failed, or after which one of the *slow* modules was there."""
    program = _IMPORTING.replace("SLOW", repr(json.dumps(sorted(slow))))
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(list(commands))],
        capture_output=True, text=True, timeout=400, env={**os.environ, "QIAO_DATABASE_URL": url},
    )  # fmt: skip
    answers = json.loads(done.stderr.splitlines()[-1])
    return {" ".join(words): (code, names) for words, code, names in answers if code or names}


def test_help_imports_no_scrapy_and_no_dictionary() -> None:
    assert imported_by(_HELP, _SLOW, "") == {}
    assert imported_by([("--help",), ("version",)], {*_SLOW, "numpy", "sqlalchemy"}, "") == {}


def test_commands_that_read_import_only_what_reading_takes(tmp_path: Path) -> None:
    url, pack = f"sqlite:///{tmp_path / 'q.db'}", tmp_path / PACK.name
    save_pack(PACK, pack)
    with Database.open(url) as database:
        make_tables(database)
        add_topic(database)
        with database.engine.begin() as c:
            add_article(c, "1")
            # For a URL that waits, `why` makes the crawl order again.
            c.execute(text("UPDATE url SET state = :done"), {"done": State.DONE})
    places = {"{pack}": str(pack), "{out}": str(tmp_path / "articles.csv")}
    commands = [[places.get(word, word) for word in words] for words in _READING]
    assert imported_by(commands, {*_SLOW, "numpy"}, url) == {}
