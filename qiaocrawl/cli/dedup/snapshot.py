"""``qiaocrawl dedup snapshot …``: how common words are, renewed on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from qiaocrawl.cli.db import DatabaseUrl, connection_to
from qiaocrawl.cli.dedup.group_changes import print_changes, write_changes
from qiaocrawl.cli.output import check_output, folding_table, shown_moment, table_console
from qiaocrawl.cli.progress import shown_pass, stopping
from qiaocrawl.cli.terminal import Terminal
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.runs import groups as snapshots
from qiaocrawl.runs.groups import Advance, Stopped
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.titles.idf_snapshots import list_snapshots
from qiaocrawl.storage.titles.title_log import count_compared
from qiaocrawl.vsm import IdfSnapshot

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
    table = folding_table(_("version"), _("in use"), _("made"), _("titles"), _("words"),
                          _("verdicts"), _("note"))  # fmt: skip
    for column in (0, 3, 4, 5):
        table.columns[column].justify = "right"
    for snapshot in versions:
        table.add_row(str(snapshot.version), "●" if snapshot.is_used else "",
                      shown_moment(snapshot.created_at), f"{snapshot.documents:,}",
                      f"{snapshot.terms:,}", f"{snapshot.verdicts:,}", snapshot.note)  # fmt: skip
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
    _go_over(database, snapshots.counted, _How(yes, dry_run, changes, note))


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
        return snapshots.stored(runtime, version)

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
        trial = _tried(runtime, find, console)
        print_changes(runtime, trial.changes, console)
        if how.changes is not None:
            write_changes(runtime, trial.changes, how.changes)
        question = _("use version {version}?", version=trial.snapshot.version)
        if how.dry_run or not (how.yes or typer.confirm(question)):
            console.print(_("nothing was changed"))
            return
        changes = snapshots.put_to_use(runtime, trial, how.note, lambda _: True)
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


def _tried(
    runtime: Runtime, find: Callable[[Runtime, Advance], IdfSnapshot], console: Console
) -> snapshots.Trial:
    """What the snapshot that *find* finds would change.

    Raises:
        Exit: Ctrl-C.
    """
    titles = runtime.reader.run(count_compared)
    passes = snapshots.PASSES_TO_TRY + (find is snapshots.counted)
    with stopping() as stopped, shown_pass(_("compare"), passes * titles, console,
                                           stopped) as shown:  # fmt: skip
        try:
            return snapshots.tried(runtime, find(runtime, shown.advance), shown.advance)
        except Stopped:
            shown.leave(console)
