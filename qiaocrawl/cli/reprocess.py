"""``qiaocrawl reprocess``: run a stage again over what is stored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from threading import Event
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from qiaocrawl.cli.dedup_snapshot import print_changes, write_changes
from qiaocrawl.cli.options import SchedulerAddress
from qiaocrawl.cli.output import (
    check_output,
    echo,
    folding_table,
    shown_pass,
    stopping,
    table_console,
)
from qiaocrawl.errors import ConfigError, StorageError
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.reading.outcome_names import outcome_with_code
from qiaocrawl.runs.regrouping import Stopped, regroup_all
from qiaocrawl.runs.reprocess import (
    TurnedVerdict,
    preview_relevance,
    reprocess_extract,
    reprocess_relevance,
)
from qiaocrawl.runtime.bulk import Bulk, chosen_bulk
from qiaocrawl.runtime.runtime import Runtime
from qiaocrawl.storage.pages.reprocessing import count_articles, count_pages
from qiaocrawl.storage.titles.title_log import count_compared
from qiaocrawl.storage.values import changes as stored_changes
from qiaocrawl.text.visible import Terminal

_LARGEST_CHANGE = 0.1
_READ_AGAIN = ", read again"
_SHOWN_OF_EACH = 5


class Stage(StrEnum):
    """The stages that can run again."""

    EXTRACT = "extract"
    RELEVANCE = "relevance"
    DEDUP = "dedup"


def reprocess(
    stage: Annotated[Stage, typer.Option(help="Which stage to run again.")],
    database: Annotated[str, typer.Option(help="Database URL instead of QIAO_DATABASE_URL.")] = "",
    workers: Annotated[int, typer.Option(help="Worker processes; 0 = one a core.", min=0)] = 0,
    changes: Annotated[
        Path | None, typer.Option(help="Stage dedup: a JSON Lines file for all that changed.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Stage relevance: show what would change, only.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Stage relevance: also if over a tenth would change.")
    ] = False,
    host: Annotated[str, typer.Option(help="Stage extract: only stored pages of this host.")] = "",
    scheduler: SchedulerAddress = "",
) -> None:
    """Run a stage again over stored pages, and say what changed. No crawl may run meanwhile.

    Ctrl-C stops it after the pages in hand; the same command then begins anew. With --scheduler the
    workers of a Dask cluster compute, and this command reads and writes: the result is the same.
    """
    _check(stage, changes, dry_run=dry_run, yes=yes, scheduler=scheduler)
    if host and stage is not Stage.EXTRACT:
        raise ConfigError(_("--{option} is for --stage extract", option="host"))
    given: dict[str, object] = {"QIAO_EXTRACT_WORKERS": workers or os.cpu_count() or 1}
    if database:
        given["QIAO_DATABASE_URL"] = database
    runtime = Runtime(Options.from_environment(given))
    try:
        with stopping() as stopped, chosen_bulk(runtime, scheduler) as bulk:
            if stage is Stage.DEDUP:  # it needs neither methods of extraction nor workers
                _group(runtime, stopped, changes)
                return
            # A worker that cannot start would be started again for ever.
            runtime.check_choices(workers=not scheduler)
            if stage is Stage.EXTRACT:
                _require_pages(runtime, host)
                _run(stage, runtime, bulk, stopped, host)
            elif _may_turn(runtime, bulk, stopped, dry_run, yes):
                _run(stage, runtime, bulk, stopped)
    finally:
        runtime.close()


def _check(stage: Stage, changes: Path | None, *, dry_run: bool, yes: bool, scheduler: str) -> None:
    """See that the options fit the stage.

    Raises:
        ConfigError: one does not.
    """
    if changes is not None:
        if stage is not Stage.DEDUP:
            raise ConfigError(_("--changes is for --stage dedup"))
        check_output(changes, "--changes")
    if (dry_run or yes) and stage is not Stage.RELEVANCE:
        raise ConfigError(
            _("--{option} is for --stage relevance", option="dry-run" if dry_run else "yes")
        )
    if scheduler and stage is Stage.DEDUP:
        raise ConfigError(
            _(
                "--scheduler is for the stages extract and relevance: each title is compared with "
                "those before it"
            )
        )


def _require_pages(runtime: Runtime, host: str) -> None:
    """See that pages of *host* are stored; "" for any host.

    Raises:
        ConfigError: none is: it may be misspelt.
    """
    if host and not runtime.reader.run(partial(count_pages, host_name=host)):
        raise ConfigError(_("--host {host!r}: no page of it is stored", host=host))


def _run(stage: Stage, runtime: Runtime, bulk: Bulk, stopped: Event, host: str = "") -> None:
    console = Terminal()
    count = partial(count_pages, host_name=host) if stage is Stage.EXTRACT else count_articles
    total = runtime.reader.run(count)
    unread = stored_changes["unread_pages"]
    with shown_pass(stage.value, total, console, stopped) as shown:
        if stage is Stage.EXTRACT:
            changes = reprocess_extract(runtime, shown.advance, bulk, host)
        else:
            changes = reprocess_relevance(runtime, shown.advance, bulk)
    table = Table(_("result"), _("count"))
    for result, number in changes.most_common():
        table.add_row(_shown_result(result), str(number))
    console.print(table)
    if shown.is_cut:
        shown.leave(console)
    if unread := stored_changes["unread_pages"] - unread:
        raise StorageError(_("{count} stored pages could not be read", count=unread))


def _shown_result(result: str) -> str:
    """What became of pages or articles, as the stages count it, in the operator's language."""
    before, arrow, after = result.partition(" -> ")
    if arrow:
        return f"{outcome_with_code(before)} -> {outcome_with_code(after)}"
    if result.endswith(_READ_AGAIN):
        return _(
            "{outcome}, read again", outcome=outcome_with_code(result.removesuffix(_READ_AGAIN))
        )
    topic, colon, verdict = result.rpartition(": ")
    return f"{topic}{colon}{_(verdict)}"


def _may_turn(runtime: Runtime, bulk: Bulk, stopped: Event, dry_run: bool, yes: bool) -> bool:
    """Show which verdicts would change; whether they are to.

    Raises:
        ConfigError: more than a tenth would, and nobody said yes.
    """
    console = Terminal()
    total = runtime.reader.run(count_articles)
    with shown_pass(_("preview"), total, console, stopped) as shown:
        preview = preview_relevance(runtime, shown.advance, bulk)
    if shown.is_cut:
        shown.leave(console)
        return False
    turned = len(preview.turned)
    console.print(
        _("verdicts that change: {turned} / {judged}", turned=turned, judged=preview.judged)
    )
    _print_turned(preview.turned)
    if dry_run:
        return False
    if turned > preview.judged * _LARGEST_CHANGE and not yes:
        raise ConfigError(
            _(
                "{turned} of {judged} verdicts would change, more than a tenth: nothing was "
                "written; --yes takes it over",
                turned=turned,
                judged=preview.judged,
            )
        )
    return True


def _print_turned(turned: Sequence[TurnedVerdict]) -> None:
    """Those nearest to the border, of either kind half; more where there are few of the other."""
    if not turned:
        return
    newly_on = sorted((one for one in turned if one.relevant), key=lambda one: one.score)
    newly_off = sorted((one for one in turned if not one.relevant), key=lambda one: -one.score)
    table = folding_table(_("becomes"), _("score"), _("topic"), _("title"), _("URL"))
    # What the other half leaves of the room for both.
    most_on, most_off = (
        max(_SHOWN_OF_EACH, 2 * _SHOWN_OF_EACH - len(others)) for others in (newly_off, newly_on)
    )
    shown = (*newly_on[:most_on], *newly_off[:most_off])
    for one in shown:
        becomes = _("on topic") if one.relevant else _("off topic")
        table.add_row(
            becomes, f"{one.score:.2f}", escape(one.topic), escape(one.title), escape(one.url)
        )
    table_console().print(table)
    if len(turned) > len(shown):
        echo(_("  … {more} more rows", more=len(turned) - len(shown)))


def _group(runtime: Runtime, stopped: Event, file: Path | None) -> None:
    console = Terminal()
    total = runtime.reader.run(count_compared)
    with shown_pass(Stage.DEDUP.value, total, console, stopped) as shown:
        try:
            changes = regroup_all(runtime, shown.advance)
        except Stopped:
            shown.leave(console)
    print_changes(runtime, changes, console)
    if file is not None:
        write_changes(runtime, changes, file)
