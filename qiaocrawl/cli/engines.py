"""``qiaocrawl engines …``: the search engines there are, and whether they still answer as known."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.output import echo, folding_table, table_console
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.runs.engine_check import KIND_NAMES, Verdict, check_engine, key_state
from qiaocrawl.search.definition import definitions_of, find_definition

app = typer.Typer(
    help="Search engines: which there are, and whether they still answer.",
    no_args_is_help=True,
)


@app.command("list")
def list_engines() -> None:
    """List all engines: kind, whether you chose them, whether their key is there, their terms."""
    options = Options.from_environment()
    table = folding_table(_("engine"), _("name"), _("kind"), _("chosen"), _("key"), _("note"))
    for name, definition in definitions_of(options).items():
        chosen = _("yes") if name in options["QIAO_ENGINES"] else _("no")
        table.add_row(
            name,
            escape(definition.title),
            _(KIND_NAMES[definition.kind]),
            chosen,
            key_state(definition),
            escape(_(definition.note)),
        )
    table_console().print(table)


@app.command()
def check(
    name: Annotated[str, typer.Argument(help="One engine; default: all that may be asked.")] = "",
) -> None:
    """Ask each engine one known query and say whether its layout still holds.

    Exit code 1 when an engine was asked and does not answer as it should, or when the one
    named may not be asked.
    """
    options = Options.from_environment()
    definitions = definitions_of(options)
    verdicts = []
    chosen = [find_definition(definitions, name)] if name else list(definitions.values())
    for definition in chosen:
        verdicts.append(check_engine(definition, options))
        _say(verdicts[-1])
    if any(verdict.holds is False for verdict in verdicts) or (name and not verdicts[0].holds):
        raise typer.Exit(1)


def _say(verdict: Verdict) -> None:
    mark = {True: _("ok"), False: _("not ok"), None: _("not asked")}[verdict.holds]
    echo(f"{verdict.name}: {mark}: {verdict.said}")
