"""``qiaocrawl docs``, ``options``, ``version``: what there is to know, wherever it runs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from qiaocrawl import __version__
from qiaocrawl.cli.output import echo, echo_json, folding_table, print_line, table_console
from qiaocrawl.errors import ConfigError
from qiaocrawl.kernels import loop_modules
from qiaocrawl.language import CHINESE, _, language
from qiaocrawl.options import (
    OPTIONS,
    Option,
    Options,
    given_in_environment,
    given_in_settings_file,
    written,
)
from qiaocrawl.text.visible import Terminal

_CHINESE_FOLDER = "zh/"


def docs(
    page: Annotated[
        str, typer.Argument(help="Name of a page, such as running; empty lists them.")
    ] = "",
) -> None:
    """Read the manual here: its pages, or one of them."""
    pages = _pages()
    if not page:
        _list(pages)
        return
    name = page.removesuffix(".md").removeprefix("docs/")
    found = pages.get(name)
    if found is None and language() == CHINESE:
        found = pages.get(f"{_CHINESE_FOLDER}{name}")
    if found is None:
        close = get_close_matches(name, pages, n=3)
        raise ConfigError(
            _("there is no page {page!r}; did you mean {close}?", page=page, close=", ".join(close))
            if close
            else _("there is no page {page!r}; `qiaocrawl docs` lists them", page=page)
        )
    text = found.read_text("utf-8")
    console = Terminal()
    if not console.is_terminal:
        echo(text.rstrip("\n"))
        return
    from rich.markdown import Markdown

    console.print(Markdown(text, hyperlinks=False))


def _pages() -> Mapping[str, Traversable]:
    """The pages by name, those in the operator's language first."""
    home = files("qiaocrawl") / "docs"
    if not home.is_dir():
        # A clone has it beside the package.
        home = Path(str(files("qiaocrawl"))).parent / "docs"
    english = {file.name.removesuffix(".md"): file for file in home.iterdir() if _is_page(file)}
    chinese = {
        f"{_CHINESE_FOLDER}{file.name.removesuffix('.md')}": file
        for file in (home / _CHINESE_FOLDER.rstrip("/")).iterdir()
        if _is_page(file)
    }
    parts = (chinese, english) if language() == CHINESE else (english, chinese)
    return {name: part[name] for part in parts for name in sorted(part)}


def _is_page(file: Traversable) -> bool:
    return file.name.endswith(".md")


def _list(pages: Mapping[str, Traversable]) -> None:
    table = folding_table(_("page"), _("title"))
    for name, file in pages.items():
        with file.open("r", encoding="utf-8") as lines:
            table.add_row(name, next(iter(lines), "").lstrip("# ").strip())
    console = table_console()
    console.print(table)
    if console.is_terminal:
        print_line(_("next: qiaocrawl docs PAGE"))


def options(
    word: Annotated[
        str, typer.Argument(help="A word of the name or the meaning; empty lists all.")
    ] = "",
    changed: Annotated[
        bool, typer.Option("--changed", help="Only those that somebody set here.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List the QIAO_* options: what each means, its value here, and who set it."""
    values, origins = Options.from_environment(), _origins()
    chosen = [
        option
        for option in OPTIONS
        if word.casefold() in f"{option.name} {option.help} {_(option.help)}".casefold()
        and (not changed or option.name in origins)
    ]
    if not chosen and word:
        raise ConfigError(_("no option has {word!r} in its name or meaning", word=word))
    if as_json:
        echo_json(
            [
                {
                    "name": option.name,
                    "value": _shown(option, values[option.name]),
                    "default": option.default,
                    "unit": option.unit,
                    "set_by": origins.get(option.name, ""),
                    "help": option.help,
                }
                for option in chosen
            ]
        )
        return
    if not chosen:
        echo(_("Nobody set an option here: all have their defaults."))
        return
    table = folding_table(_("option"), _("value"), _("set by"), _("meaning"))
    for option in chosen:
        table.add_row(
            option.name,
            _shown(option, values[option.name]),
            origins.get(option.name, ""),
            _(option.help),
        )
    table_console().print(table)


def _origins() -> dict[str, str]:
    """Where an option that is not at its default was set; the environment wins."""
    settings = dict.fromkeys(given_in_settings_file(), "settings.py")
    return settings | {name: _("environment or .env") for name in given_in_environment()}


def _shown(option: Option, value: object) -> str:
    if option.secret and value != option.default:
        return _("(not shown)")
    return written(value)


def version() -> None:
    """Print the version, and whether inner loops are machine code."""
    echo(__version__)
    modules = loop_modules()
    if not any(modules.values()):
        echo(_("inner loops: Python, some times slower; machine code takes gcc and Python.h"))
    elif python := [name for name, is_machine_code in modules.items() if not is_machine_code]:
        echo(
            _(
                "inner loops: Python, some times slower; without machine code are {modules}",
                modules=", ".join(python),
            )
        )
    else:
        echo(_("inner loops: machine code"))
