"""``qiaocrawl dedup snapshot …``: how common words are, renewed on purpose; what that changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to
from qiaocrawl.cli.output import (
    check_output,
    folding_table,
    say_written,
    shown_pass,
    stopping,
    table_console,
)
from qiaocrawl.dedup.labels import verdict_name
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.runs import regrouping
from qiaocrawl.runs.regrouping import Advance, Stopped, change_report
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.titles.groups import Change, Changes
from qiaocrawl.storage.titles.idf_snapshots import list_snapshots
from qiaocrawl.storage.titles.title_log import count_compared
from qiaocrawl.text.visible import Terminal, visible_json
from qiaocrawl.text.zones import china_time
from qiaocrawl.vsm import IdfSnapshot

# --- Shows what a new grouping of all titles changes, printed and as JSON Lines -------------------

_SHOWN = 20


def print_changes(runtime: Runtime, changes: Changes, console: Console) -> None:
    """Counts by verdict, what became of the groups, and the first 20 articles that changed."""
    table = folding_table(_("result"), _("count"))
    table.columns[1].justify = "right"
    for kind, number in changes.kinds.most_common():
        table.add_row(verdict_name(kind), str(number))
    for name, number in (
        (_("verdict changed"), len(changes.articles)),
        (_("moved to another group"), changes.moved),
        (_("groups merged"), changes.merged),
        (_("groups split"), changes.split),
        (_("other representative"), changes.heads),
    ):
        table.add_row(name, str(number))
    console.print(table)
    _print_examples(runtime, changes.articles[:_SHOWN])
    if len(changes.articles) > _SHOWN:
        console.print(_("… {more} more (--changes FILE)", more=len(changes.articles) - _SHOWN))


def write_changes(runtime: Runtime, changes: Changes, file: Path) -> None:
    """All articles that changed, a JSON object a line."""
    with file.open("w", encoding="utf-8") as lines:
        for part in _batches(changes.articles):
            for change in runtime.reader.run(partial(change_report, changes=part)):
                lines.write(visible_json(json.dumps(change, ensure_ascii=False)) + "\n")
    say_written(file, _("{count} articles", count=len(changes.articles)))


def _batches(articles: list[Change]) -> list[list[Change]]:
    return [articles[at : at + 1_000] for at in range(0, len(articles), 1_000)]


def _print_examples(runtime: Runtime, articles: list[Change]) -> None:
    if not articles:
        return
    table = folding_table(
        _("title"), _("verdict before"), _("compared before"), _("verdict now"), _("compared now")
    )
    for change in runtime.reader.run(partial(change_report, changes=articles)):
        title = escape(str(change["title"]))
        table.add_row(
            f"[bold]{title}[/]" if change["moved"] else title,
            *_cells(change["before"]),
            *_cells(change["after"]),
        )
    table_console().print(table)


def _cells(place: Any) -> tuple[str, str]:
    if not isinstance(place, Mapping):
        return "", ""
    similarity = f" {place['similarity']:.2f}" if place["of_url"] else ""
    return f"{verdict_name(place['kind'])}{similarity}", escape(str(place["of_title"]))


app = typer.Typer(
    help="Weights of words: verdicts keep to one version until it is renewed.",
    no_args_is_help=True,
)

Yes = Annotated[bool, typer.Option("--yes", help="Ask nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
ChangesFile = Annotated[
    Path | None, typer.Option("--changes", help="A JSON Lines file for all that would change.")
]


@app.command("list")
def list_(database: DatabaseUrl = "") -> None:
    """Show the versions there are, and which one is in use."""
    with connection_to(database) as c:
        versions = list_snapshots(c)
    table = folding_table(
        _("version"), _("in use"), _("made"), _("titles"), _("words"), _("verdicts"), _("note")
    )
    for column in (0, 3, 4, 5):
        table.columns[column].justify = "right"
    for snapshot in versions:
        table.add_row(
            str(snapshot.version),
            "●" if snapshot.is_used else "",
            china_time(snapshot.created_at),
            f"{snapshot.documents:,}",
            f"{snapshot.terms:,}",
            f"{snapshot.verdicts:,}",
            snapshot.note,
        )
    table_console().print(table)


@app.command()
def renew(
    note: Annotated[str, typer.Option(help="Kept with the new version.")] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
    changes: ChangesFile = None,
    database: DatabaseUrl = "",
) -> None:
    """Count words over all stored titles anew, show which verdicts change, and use it.

    No crawl may run meanwhile on SQLite; on MariaDB workers go over with their next title.
    """
    _go_over(database, regrouping.new_snapshot, _How(yes, dry_run, changes, note))


@app.command()
def use(
    version: Annotated[int, typer.Argument(min=0, help="0 = the one that is shipped.")],
    yes: Yes = False,
    dry_run: DryRun = False,
    changes: ChangesFile = None,
    database: DatabaseUrl = "",
) -> None:
    """Go over to another version that is there, as `renew` does."""

    def find(runtime: Runtime, _: Advance) -> IdfSnapshot:
        return regrouping.load_snapshot(runtime, version)

    _go_over(database, find, _How(yes, dry_run, changes))


@dataclass(frozen=True)
class _How:
    yes: bool
    dry_run: bool
    changes: Path | None
    note: str = ""


def _go_over(database: str, find: Callable[[Runtime, Advance], IdfSnapshot], how: _How) -> None:
    if how.changes is not None:
        check_output(how.changes, "--changes")
    options = Options.from_environment({"QIAO_DATABASE_URL": database} if database else None)
    runtime, console = Runtime(options), Terminal(soft_wrap=True, highlight=False)
    try:
        trial = _try_snapshot(runtime, find, console)
        print_changes(runtime, trial.changes, console)
        if how.changes is not None:
            write_changes(runtime, trial.changes, how.changes)
        question = _("use version {version}?", version=trial.snapshot.version)
        if how.dry_run or not (how.yes or typer.confirm(question)):
            console.print(_("nothing was changed"))
            return
        changes = regrouping.put_to_use(runtime, trial, how.note, lambda _: True)
        console.print(
            _(
                "version {version} is in use: {verdicts} verdicts changed, {moved} moved to "
                "another group",
                version=trial.snapshot.version,
                verdicts=len(changes.articles),
                moved=changes.moved,
            )
        )
    finally:
        runtime.close()


def _try_snapshot(
    runtime: Runtime, find: Callable[[Runtime, Advance], IdfSnapshot], console: Console
) -> regrouping.Trial:
    """What the snapshot that *find* finds would change.

    Raises:
        Exit: Ctrl-C.
    """
    titles = runtime.reader.run(count_compared)
    passes = regrouping.PASSES_TO_TRY + (find is regrouping.new_snapshot)
    with (
        stopping() as stopped,
        shown_pass(_("compare"), passes * titles, console, stopped) as shown,
    ):
        try:
            return regrouping.try_snapshot(runtime, find(runtime, shown.advance), shown.advance)
        except Stopped:
            shown.leave(console)
