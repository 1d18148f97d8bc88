"""``qiaocrawl metrics``: figures for Prometheus."""

from __future__ import annotations

from typing import Annotated

import typer

from qiaocrawl.cli.db import DatabaseUrl, opened_database
from qiaocrawl.cli.terminal import echo
from qiaocrawl.language import _
from qiaocrawl.options import Options


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
            opened, store, options["QIAO_METRICS_HOST"], options["QIAO_METRICS_PORT"],
            options["QIAO_METRICS_SECONDS"],
            lambda url: echo(_("Metrics are at {url} (Ctrl-C ends it)", url=url)),
            schedule_alarms,
        )  # fmt: skip
