"""``qiaocrawl analyse``: what new articles mean together, brought up to date."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from qiaocrawl.cli.database import DatabaseUrl
from qiaocrawl.cli.options import SchedulerAddress, start_of
from qiaocrawl.cli.output import echo, shown_pass, stopping
from qiaocrawl.errors import ConfigError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.language import _
from qiaocrawl.options.project import command_here
from qiaocrawl.text.visible import Terminal

if TYPE_CHECKING:
    from threading import Event

    from qiaocrawl.options import Options
    from qiaocrawl.runtime.bulk import Bulk
    from qiaocrawl.runtime.runtime import Runtime


def analyse(
    since: Annotated[
        str, typer.Option(help="Fetched since: today, yesterday, 7d, 30d, 2026-03-05.")
    ] = "",
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make all stories anew; corrections are kept.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=256,
            help="Processes that read texts; else all processors where 2,000 articles wait, or 1.",
        ),
    ] = None,
    scheduler: SchedulerAddress = "",
    database: DatabaseUrl = "",
) -> None:
    """Put new articles into stories, read whom they name, judge classes, and check warnings.

    Warnings are checked if there are rules of them, and sent if QIAO_WARNING_CHANNELS is given.
    Ctrl-C stops it; the same command then goes on. Texts are read, which takes most of the time, by
    --processes of this machine, or with --scheduler by a Dask cluster; stories are placed by this
    one, an article behind another, so that the result is the same with any number.
    """
    if scheduler and processes is not None:
        raise ConfigError(_("--processes goes without --scheduler"))
    start = start_of(since, "--since")
    since_minute = int(start.timestamp() // 60) if start else 0
    if code := bring_up_to_date(
        database,
        Terminal(),
        since_minute,
        rebuild=rebuild,
        scheduler=scheduler,
        processes=processes,
    ):
        raise typer.Exit(code)


def bring_up_to_date(
    url: str,
    console: Terminal,
    since_minute: int = 0,
    *,
    rebuild: bool = False,
    scheduler: str = "",
    processes: int | None = None,
) -> int:
    """All of it for the database at *url*, "" for the one of the options; an exit code.

    Args:
        processes: that read texts; None: as many as what waits is worth.

    Raises:
        ConfigError: rules of warnings or channels are wrong.
    """
    from qiaocrawl.options import Options
    from qiaocrawl.runtime.runtime import Runtime

    options = Options.from_environment({"QIAO_DATABASE_URL": url} if url else {})
    runtime = Runtime(options, crawling=False)
    try:
        with stopping() as stopped:
            with _cluster(scheduler) as cluster:
                if rebuild:
                    _forget(runtime)
                with _readers(runtime, since_minute, cluster, processes) as bulk:
                    is_done = read_articles(runtime, since_minute, console, stopped, bulk)
            if is_done:
                _warn(runtime, options)
                return 0
            console.print(_("stopped; the same command without --rebuild goes on"))
            return INTERRUPTED
    finally:
        runtime.close()


@contextmanager
def _cluster(scheduler: str) -> Iterator[Bulk | None]:
    """The cluster that reads texts; None for this machine."""
    if not scheduler:
        yield None
        return
    from qiaocrawl.runtime.cluster import dask_bulk

    with dask_bulk(scheduler, None, 0.0) as bulk:
        yield bulk


# From so many articles on other processes save more than the seconds they take to start.
_MANY_ARTICLES = 2_000


@contextmanager
def _readers(
    runtime: Runtime, since_minute: int, cluster: Bulk | None, processes: int | None
) -> Iterator[Bulk | None]:
    """Who reads texts: *cluster*, processes of this machine, or None for this process."""
    wanted = processes or (1 if cluster else _worthwhile_processes(runtime, since_minute))
    if wanted == 1:
        yield cluster
        return
    from qiaocrawl.runtime.bulk import LocalBulk
    from qiaocrawl.runtime.calls import CallPool

    with CallPool(wanted, "qiaocrawl.news.text_parts") as calls:
        yield LocalBulk(lambda: runtime.analysis.slots, calls)


def _worthwhile_processes(runtime: Runtime, since_minute: int) -> int:
    """All processors where much is to be read, as in a first analysis; else this process."""
    from qiaocrawl.news.names.stored import count_unread
    from qiaocrawl.news.stories.analyse import count_waiting

    waiting = runtime.reader.run(lambda c: count_waiting(c, since_minute) + count_unread(c))
    return len(os.sched_getaffinity(0)) if waiting >= _MANY_ARTICLES else 1


def read_articles(
    runtime: Runtime,
    since_minute: int,
    console: Terminal,
    stopped: Event,
    bulk: Bulk | None = None,
) -> bool:
    """Stories, names and classes of what is new; False if it was stopped before.

    Args:
        bulk: where texts are read; None: here.
    """
    return (
        _place_stories(runtime, since_minute, console, stopped, bulk)
        and _read_names(runtime, console, stopped, bulk)
        and _judge_classes(runtime, console, stopped)
    )


def _warn(runtime: Runtime, options: Options) -> None:
    """Check the rules, and send what is due.

    What is not delivered is kept, tried again and told by ``health``: the analysis is done, and
    no round fails for a channel that nobody gave an address.
    """
    from qiaocrawl.cli.warnings import (
        LOOKS_BACK,
        check_with,
        has_channels,
        say_how_to_send,
        send_with,
    )

    messages = check_with(runtime, options, datetime.now(UTC) - LOOKS_BACK)
    if has_channels(runtime.database, options):
        if not send_with(runtime.database, options):
            command = command_here("qiaocrawl health")
            told = _("messages not delivered are kept; `{command}` says why", command=command)
            echo(told)
    elif messages:
        say_how_to_send()


def _forget(runtime: Runtime) -> None:
    from qiaocrawl.news.names.stored import forget_names
    from qiaocrawl.news.stories.analyse import forget_stories

    forget_stories(runtime)
    runtime.write_now(forget_names)


def _place_stories(
    runtime: Runtime, since_minute: int, console: Terminal, stopped: Event, bulk: Bulk | None
) -> bool:
    """Place all that waits; False if it was stopped before."""
    from qiaocrawl.news.stories.analyse import analyse_stories, count_waiting

    total = runtime.reader.run(lambda c: count_waiting(c, since_minute))
    with shown_pass(_("stories"), total, console, stopped) as shown:
        done = analyse_stories(runtime, shown.advance, bulk, since_minute=since_minute)
    console.print(
        _(
            "{articles:,} articles placed, {opened:,} new stories",
            articles=done.articles,
            opened=done.opened,
        )
    )
    return not done.stopped


def _read_names(runtime: Runtime, console: Terminal, stopped: Event, bulk: Bulk | None) -> bool:
    """Read the names of what was placed; False if it was stopped before."""
    from qiaocrawl.news.names.stored import count_unread, read_names

    total = runtime.reader.run(count_unread)
    with shown_pass(_("names"), total, console, stopped) as shown:
        read_names(runtime, shown.advance, bulk)
    return not stopped.is_set()


def _judge_classes(runtime: Runtime, console: Terminal, stopped: Event) -> bool:
    """Judge what new articles on topic are about; False if it was stopped before."""
    from qiaocrawl.news.classes import count_waiting, judge_classes, topic_models

    models = topic_models(runtime)
    total = runtime.reader.run(lambda c: count_waiting(c, models))
    with shown_pass(_("classes"), total, console, stopped) as shown:
        judge_classes(runtime, models, shown.advance)
    return not stopped.is_set()
