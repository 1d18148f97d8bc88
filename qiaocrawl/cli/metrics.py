"""``qiaocrawl health`` and ``metrics``: what to look at, for eyes, cron and Prometheus."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, connection_to, opened_database
from qiaocrawl.cli.output import echo, echo_json, folding_table, table_console
from qiaocrawl.jobs.local import schedule_alarms
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.reading.alarms import (
    Limits,
    RunLine,
    StoreInUse,
    alarms,
    last_runs,
    store_alarms,
    store_figures,
)
from qiaocrawl.reading.outcome_names import end_name
from qiaocrawl.text.zones import china_time


def health(
    article_hours: Annotated[
        float,
        typer.Option(min=0, help="Alarm when no article was stored for so many hours; 0 = never."),
    ] = 48.0,
    free_mb: Annotated[
        int, typer.Option(min=0, help="Alarm when the disk of a SQLite file has less room (MiB).")
    ] = 1024,
    runs: Annotated[int, typer.Option(min=0, help="Last runs to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Name what is wrong; exit code 1 if anything is: for cron, and for a look at the last runs.

    Runs that died or failed, URLs nobody holds, no new article, engines and sites that refuse,
    logins that fail, dead proxies, a full disk, nodes that do not answer, stored pages that cannot
    be read, a page store that is away, schedules that start nothing, whoever looks after jobs,
    search index and metrics and does not look, warnings that no channel took.
    """
    with connection_to(database) as c:
        problems = alarms(c, Limits(article_hours, free_mb << 20), now=time.time())
        problems += schedule_alarms(c, time.time())
        problems += store_alarms(c, StoreInUse.of(Options.from_environment()), store_figures(c))
        last = last_runs(c, runs)
    if as_json:
        report = {"alarms": problems, "runs": [asdict(run) for run in last]}
        echo_json(report)
    else:
        _show(last, problems)
    if problems:
        raise typer.Exit(1)


def _show(last: list[RunLine], problems: list[str]) -> None:
    console = table_console()
    table = folding_table(
        _("run"), _("spider"), _("topic"), _("started"), _("ended"), _("reason"), _("waiting")
    )
    for run in last:
        end = _("died") if run.is_dead else china_time(run.ended) or _("running")
        waiting = "" if run.remaining is None else str(run.remaining)
        table.add_row(
            str(run.id),
            run.spider,
            run.topic,
            china_time(run.started),
            end,
            escape(run.reason and end_name(run.reason)),
            waiting,
        )
    if last:
        console.print(table)
    for line in problems:
        console.print(_("alarm: {line}", line=line), markup=False)
    if not problems:
        console.print(_("healthy"))


# --- ``qiaocrawl metrics``: figures for Prometheus ------------------------------------------------


def metrics(
    host: Annotated[str, typer.Option(help="Address instead of QIAO_METRICS_HOST.")] = "",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Port instead of QIAO_METRICS_PORT; 0 = any."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print all figures, and end.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Serve figures of crawls and database to Prometheus, at /metrics, until Ctrl-C.

    A scrape asks the database nothing: figures are read in between, what grows with the tables at
    most a fiftieth of the time. docs/operations.md tells what each of them means.
    """
    from qiaocrawl.jobs.local import schedule_alarms
    from qiaocrawl.jobs.metrics import serve, shown_once
    from qiaocrawl.reading.alarms import StoreInUse

    given = {"QIAO_METRICS_HOST": host, "QIAO_METRICS_PORT": "" if port is None else str(port)}
    options = Options.from_environment({name: value for name, value in given.items() if value})
    store = StoreInUse.of(options)
    with opened_database(database) as opened:
        opened.require_current()
        if once:
            echo(shown_once(opened, store, schedule_alarms).rstrip())
            return
        serve(
            opened,
            store,
            options["QIAO_METRICS_HOST"],
            options["QIAO_METRICS_PORT"],
            options["QIAO_METRICS_SECONDS"],
            lambda url: echo(_("Metrics are at {url} (Ctrl-C ends it)", url=url)),
            schedule_alarms,
        )
