"""The table of options: complete, used, documented, and strict with the operator's hands."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from crawl_starter import StartedCrawl
from qiaocrawl.errors import ConfigError
from qiaocrawl.options import OPTIONS, RENAMED, Option, Options
from qiaocrawl.options.project import command_here, note_database

ROOT = Path(__file__).resolve().parents[1]
CODE = ("qiaocrawl", "spiders", "pipelines", "middlewares", "benchmarks", "scripts")
NAMES = {option.name for option in OPTIONS}
_NAME = re.compile(r"QIAO_[A-Z0-9_]*[A-Z0-9]")
CANARY = "hunter2canary"


@cache
def _named() -> set[tuple[Path, str]]:
    """Source files, and the names of options that are text constants there."""
    return {
        (path, node.value)
        for path in _sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if _NAME.fullmatch(node.value)
    }


def _sources() -> Iterator[Path]:
    for folder in CODE:
        for path in (ROOT / folder).rglob("*.py"):
            if path != ROOT / "qiaocrawl" / "options" / "table.py":
                yield path


def test_advice_names_the_database_that_was_given_and_no_password() -> None:
    url = "mysql+pymysql://qiao:hunter2@db.example/q?charset=utf8mb4"
    try:
        assert command_here("qiaocrawl report missed t") == "qiaocrawl report missed t"
        note_database(url)
        shown = shlex.quote(url.replace("hunter2", "***"))
        assert (
            command_here("qiaocrawl report missed t")
            == f"qiaocrawl report missed t --database {shown}"
        )
        assert command_here("qiaocrawl crawl pages -a topic=t").split(" -s ")[1] == (
            f"QIAO_DATABASE_URL={shown}"
        )
    finally:
        note_database("")


def test_names_are_unique_and_well_formed() -> None:
    assert len(NAMES) == len(OPTIONS)
    for option in OPTIONS:
        assert _NAME.fullmatch(option.name), option.name
        assert option.unit, option.name
        assert option.help.endswith("."), option.name


def test_every_option_used_in_code_is_in_the_table() -> None:
    unknown = {f"{path.relative_to(ROOT)}: {text}" for path, text in _named() if text not in NAMES}
    assert unknown == set()


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    assert old not in NAMES
    assert new in NAMES
    with pytest.raises(ConfigError, match=f"^option {old} is now called {new}$"):
        Options({old: "1"})


def test_every_option_in_the_table_is_used() -> None:
    assert NAMES - {text for _path, text in _named()} == set()


def test_the_documentation_names_only_options_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "Makefile", ROOT / ".ci" / "run"]
    # `QIAO_THING_…` and the word in "QIAO_* options" name no option; the history has old names.
    unknown = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in pages
        for name in re.findall(r"QIAO_[A-Z0-9_]+", page.read_text("utf-8"))
        if name not in NAMES and not (page.name == "CHANGELOG.md" and name in RENAMED)
    }
    assert unknown == set()


def test_the_options_page_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "options_doc.py")]
    written = subprocess.run(command, capture_output=True, check=True, timeout=300).stdout
    page = (ROOT / "docs" / "options.md").read_bytes()
    assert page == written, "run: python scripts/options_doc.py --write"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_defaults_are_valid_and_mean_the_same_as_text(option: Option) -> None:
    default = Options({})[option.name]
    text = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
    assert Options({option.name: text})[option.name] == default


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("QIAO_DEDUP_THRESHOLD", "1.5", "must be a number in [0.5, 1], got '1.5'"),
        ("QIAO_DEDUP_THRESHOLD", "high", "must be a number in [0.5, 1], got 'high'"),
        ("QIAO_DEDUP_THRESHOLD", "nan", "must be a number in [0.5, 1], got 'nan'"),
        ("QIAO_MAX_SECONDS", "inf", "must be a number in [0, 1e+09], got 'inf'"),
        ("QIAO_MAX_SECONDS", "-1", "got '-1'"),
        ("QIAO_FRONTIER_BATCH", "0", "must be a whole number from 1 to 1000, got '0'"),
        ("QIAO_FRONTIER_BATCH", "1.5", "must be a whole number from 1 to 1000, got '1.5'"),
        ("QIAO_FRONTIER_BATCH", "", "must be a whole number from 1 to 1000, got ''"),
        ("QIAO_RENDER", "maybe", "must be one of off, sites, auto, on"),
        ("QIAO_DATABASE_URL", "oracle://x", "must be a SQLAlchemy URL that starts with sqlite:"),
        # Of a settings file, which may hold anything.
        ("QIAO_ENGINES", None, "must be names with commas between, or a list of names, got None"),
        ("QIAO_SCRAPYD_SERVERS", 6800, "must be names with commas between"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(name: str, value: object, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Options({name: value})
    assert str(caught.value).startswith(f"{name} ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "QIAO_DEDUP_TRESHOLD",
            "unknown option QIAO_DEDUP_TRESHOLD; did you mean QIAO_DEDUP_THRESHOLD?",
        ),
        ("QIAO_MAX_PAGE", "unknown option QIAO_MAX_PAGE; did you mean QIAO_MAX_PAGES?"),
        ("QIAO_ZZZZ", "unknown option QIAO_ZZZZ"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_nearest_one(name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Options({name: "1"})
    assert str(caught.value) == message


def test_names_of_others_are_left_alone() -> None:
    assert Options({"DOWNLOAD_DELAY": 3, "qiao_render": "1"})["QIAO_RENDER"] == "off"


def _refusal(name: str, value: str) -> str:
    try:
        Options({name: value})
    except ConfigError as error:
        return str(error)
    return ""


def test_secrets_are_not_shown() -> None:
    nonsense = f"nonsense://user:{CANARY}@host/db"
    secret = [option.name for option in OPTIONS if option.secret]
    said = [words for name in secret if (words := _refusal(name, nonsense))]
    assert said
    assert all(CANARY not in words and "(not shown)" in words for words in said)


def test_what_may_hold_a_password_is_secret() -> None:
    secret = {option.name for option in OPTIONS if option.secret}
    assert "QIAO_DATABASE_URL" in secret
    assert {o.name for o in OPTIONS if "PASSWORD" in (o.help + o.name).upper()} <= secret


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIAO_MAX_PAGES", "10")
    monkeypatch.setenv("QIAO_MAX_DEPTH", "3")
    options = Options.from_environment({"QIAO_MAX_PAGES": 20})
    assert (options["QIAO_MAX_PAGES"], options["QIAO_MAX_DEPTH"]) == (20, 3)
    assert options["QIAO_FRONTIER_BATCH"] == 64
    monkeypatch.setenv("QIAO_MAX_DEPHT", "3")
    with pytest.raises(ConfigError, match="did you mean QIAO_MAX_DEPTH"):
        Options.from_environment()


def test_lists_are_read_with_or_without_spaces() -> None:
    options = Options({"QIAO_ENGINES": " bing, ,baidu ", "QIAO_ALLOW_ADDRESSES": ["a.test"]})
    assert options["QIAO_ENGINES"] == ("bing", "baidu")
    assert options["QIAO_ALLOW_ADDRESSES"] == ("a.test",)


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (
            ["-s", "QIAO_DEDUP_THRESHOLD=1.5"],
            {},
            "QIAO_DEDUP_THRESHOLD must be a number in [0.5, 1], got '1.5'",
        ),
        (["-s", "QIAO_MAX_PAGE=1"], {}, "unknown option QIAO_MAX_PAGE; did you mean"),
        ([], {"QIAO_MAX_PAGE": "1"}, "unknown option QIAO_MAX_PAGE; did you mean"),
        (
            [],
            {"QIAO_DATABASE_URL": f"mysql://user:{CANARY}@host/db"},
            "QIAO_DATABASE_URL must be a SQLAlchemy URL that starts with sqlite: or mysql+pymysql:",
        ),
    ],
)
def test_a_crawl_with_a_wrong_option_stops_with_exit_code_1(
    tmp_path: Path, arguments: list[str], environment: dict[str, str], message: str
) -> None:
    command = ["scrapy", "crawl", "site", "-a", "topic=none", *arguments]
    with closing(StartedCrawl(command, {"HOME": str(tmp_path), **environment}, ROOT)) as process:
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert message in said
    assert "Traceback" not in said
    assert CANARY not in said
