"""``qiaocrawl nodes start``, ``stop``, ``jobs``, ``logs`` and ``drain``: what runs where."""

from __future__ import annotations

import getpass
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer
from rich.live import Live
from rich.markup import escape

from qiaocrawl.cli.database import DatabaseUrl, opened_database
from qiaocrawl.cli.output import FoldingTable, echo, folding_table, table_console
from qiaocrawl.console.keepers import LOGS
from qiaocrawl.errors import ConfigError, JobError
from qiaocrawl.items import Queue
from qiaocrawl.jobs import desk as fleet
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.local import STATE_NAMES, workers_of
from qiaocrawl.jobs.requests import ROUND, checked_request
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.options.table import OPTIONS
from qiaocrawl.reading.outcome_names import end_name
from qiaocrawl.storage import Database
from qiaocrawl.storage import jobs as stored
from qiaocrawl.storage.frontier.workers import StoredCollector
from qiaocrawl.storage.jobs import Job, JobRequest, JobState
from qiaocrawl.text.zones import china_time

JobId = Annotated[int, typer.Argument(help="Its number, as `qiaocrawl nodes jobs` has it.")]
NodeName = Annotated[str, typer.Argument(help="HOST:PORT, as `qiaocrawl nodes list` has it.")]
_WATCH_SECONDS = 2.0
# Jobs of this machine are among those that are looked at.
_ENDED_LOOKED_AT, _ENDED_SHOWN = 200, 20


@contextmanager
def _opened_desk(url: str) -> Iterator[tuple[Database, JobDesk]]:
    """A database and the desk of its jobs on nodes; jobs of this machine are its console's."""
    with opened_database(url) as opened:
        opened.require_current()
        desk = JobDesk(opened, Options.from_environment(), LOGS, is_remote_only=True)
        desk.nodes.refresh()
        try:
            yield opened, desk
        finally:
            desk.close()


def job_counts(url: str) -> Counter[str]:
    """How many jobs that are not over each node has."""
    with opened_database(url) as opened:
        return Counter(job.request.server for job in fleet.active_jobs(opened))


def start(
    spider: Annotated[str, typer.Argument(help="search, pages, site or watch.")],
    topic: Annotated[str, typer.Argument(help="An imported topic.")],
    count: Annotated[int, typer.Option("--nodes", "-n", min=1, help="On how many nodes.")] = 1,
    minutes: Annotated[str, typer.Option(help="Time budget; none = until all is done.")] = "",
    argument: Annotated[
        list[str] | None, typer.Option("-a", help="NAME=VALUE for the spider, as for crawl.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("-s", help="OPTION=VALUE, such as QIAO_HOST_POLICY=pick2.")
    ] = None,
    database: DatabaseUrl = "",
) -> None:
    """Start SPIDER for TOPIC on so many nodes: together they are one crawl.

    The nodes with the fewest jobs for their weight get it.
    """
    if spider == ROUND:
        raise ConfigError(_("the whole round runs on this machine only"))
    options = _pairs("-s", setting or [])
    for name in sorted(options.keys() & {option.name for option in OPTIONS if option.secret}):
        # The list of processes of the node, its log and the table of jobs would show it.
        raise ConfigError(_("-s {name}: belongs in the environment of the node", name=name))
    # A wrong option is told here, not in the log of a node.
    Options.from_environment(options)
    with _opened_desk(database) as (opened, desk):
        with opened.reading() as c:
            wanted = checked_request(
                c,
                desk.nodes.nodes,
                spider=spider,
                topic=topic,
                minutes=minutes,
                arguments=_pairs("-a", argument or []),
            )
        wanted = JobRequest(
            spider, topic, "", wanted.arguments, {**(wanted.settings or {}), **options}
        )
        desk.nodes.lists(time.time())
        started = fleet.start_on_nodes(opened, desk, wanted, count, getpass.getuser())
        desk.tick()
        for job, node in started.items():
            echo(_("job {job} on {node}", job=job, node=node))
        if failed := _refused_jobs(opened, started):
            for line in failed:
                echo(line, err=True)
            raise typer.Exit(1)


def _refused_jobs(opened: Database, numbers: Iterable[int]) -> list[str]:
    """Of jobs that were just handed over, those that their node has refused, and why."""
    with opened.reading() as c:
        found = [stored.find_job(c, number) for number in numbers]
    return [
        _("job {job}: {error}", job=job.id, error=job.message)
        for job in found
        if job is not None and job.state is JobState.FAILED
    ]


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in given)
    if "" in pairs or any("=" not in text for text in given):
        raise ConfigError(_("{option}: must be NAME=VALUE", option=option))
    return pairs


def stop(
    job: Annotated[
        list[int] | None, typer.Argument(help="Numbers, as `qiaocrawl nodes jobs` has them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All jobs of all nodes.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Let jobs end in order, as Ctrl-C does: what they have in hand goes back to the frontier."""
    if bool(job) == everything:
        raise ConfigError(_("name jobs, or --all"))
    with _opened_desk(database) as (opened, desk):
        active = {one.id: one for one in fleet.active_jobs(opened) if one.request.server}
        failed = 0
        for number in active if everything else job or ():
            if number not in active:
                raise ConfigError(_("job {job}: none that runs on a node", job=number))
            try:
                desk.stop(number)
            except JobError as error:
                failed += 1
                echo(_("job {job}: {error}", job=number, error=error), err=True)
            else:
                echo(_("job {job}: asked to stop", job=number))
    if failed:
        raise typer.Exit(1)


def jobs(
    watch: Annotated[
        bool, typer.Option(help="Look after them until Ctrl-C, as a console that runs does.")
    ] = False,
    ended: Annotated[
        bool, typer.Option("--ended", help="Those that are over, the newest first, and how.")
    ] = False,
    database: DatabaseUrl = "",
) -> None:
    """Show what runs where and how fast; start again elsewhere what a node has lost."""
    with _opened_desk(database) as (opened, desk):
        desk.tick()
        console = table_console()
        if ended:
            console.print(_ended_table(opened))
            return
        if not watch:
            console.print(_shown_jobs(opened))
            return
        with (
            suppress(KeyboardInterrupt),
            Live(_shown_jobs(opened), console=console, auto_refresh=False) as live,
        ):
            while True:
                time.sleep(_WATCH_SECONDS)
                desk.tick()
                live.update(_shown_jobs(opened), refresh=True)


def _table_of_jobs(*columns: str) -> FoldingTable:
    """With *columns* between what all jobs have and what is to be noted."""
    return folding_table(
        _("job"),
        _("crawl node"),
        _("spider"),
        _("topic"),
        _("state"),
        _("since"),
        *columns,
        _("note"),
    )


def _ended_table(opened: Database) -> FoldingTable:
    table = _table_of_jobs(_("ended"))
    with opened.reading() as c:
        newest = stored.newest_jobs(c, _ENDED_LOOKED_AT)
    over = [job for job in newest if job.request.server and job.ended_at is not None]
    for job in over[:_ENDED_SHOWN]:
        moments = (job.started_at or job.created_at, job.ended_at)
        table.add_row(
            str(job.id),
            escape(job.request.server),
            job.request.spider,
            escape(job.request.topic),
            _(STATE_NAMES[job.state]),
            *(china_time(one, "%m-%d %H:%M") for one in moments),
            escape(end_name(job.message) if job.message else ""),
        )
    return table


def _shown_jobs(opened: Database) -> FoldingTable | str:
    table = _job_table(opened)
    if table.row_count:
        return table
    return _("no job is under way; `qiaocrawl nodes jobs --ended` has those that are over")


def _note(job: Job, worker: StoredCollector | None) -> str:
    if job.message:
        return job.message
    notes = []
    if job.attempts > 1:
        notes.append(_("lost by a node and started again, attempt {count}", count=job.attempts))
    if worker is not None and not worker.pages:
        notes.append(_("no query answered yet") if _is_search(job) else _("no page fetched yet"))
    return "; ".join(notes)


def _rates(job: Job, worker: StoredCollector | None) -> tuple[str, str]:
    """What a worker has fetched, and how much of it a minute; nothing is no number."""
    if worker is None:
        return "", ""
    if not worker.pages:
        return "–", "–"
    # Its answers name pages, which the spider `pages` fetches.
    fetched = _("{count} answers", count=worker.pages) if _is_search(job) else f"{worker.pages}"
    return fetched, f"{worker.pages_per_minute:.0f}"


def _is_search(job: Job) -> bool:
    return job.request.spider == Queue.SEARCH


def _job_table(opened: Database) -> FoldingTable:
    table = _table_of_jobs(_("fetched"), _("a minute"))
    with opened.reading() as c:
        active = [job for job in stored.active_jobs(c) if job.request.server]
        workers = workers_of(c, active)
    for job in active:
        worker = workers.get(job.id)
        since = china_time(job.started_at or job.created_at, "%m-%d %H:%M")
        table.add_row(
            str(job.id),
            escape(job.request.server),
            job.request.spider,
            escape(job.request.topic),
            _(STATE_NAMES[job.state]),
            since,
            *_rates(job, worker),
            escape(_note(job, worker)),
        )
    return table


def logs(
    job: JobId,
    lines: Annotated[int, typer.Option("--lines", "-l", min=1, help="How many of the last.")] = 40,
    database: DatabaseUrl = "",
) -> None:
    """Print the end of a job's log, from its node."""
    with _opened_desk(database) as (opened, desk):
        with opened.reading() as c:
            stored_job = stored.find_job(c, job)
        if stored_job is None or not stored_job.request.server:
            raise ConfigError(_("job {job}: none that runs on a node", job=job))
        for line in desk.log_end(stored_job).splitlines()[-lines:]:
            echo(line)


def drain(
    node: NodeName,
    off: Annotated[bool, typer.Option("--off", help="It is updated: let it run again.")] = False,
    wait: Annotated[bool, typer.Option(help="Come back when nothing runs there.")] = False,
    database: DatabaseUrl = "",
) -> None:
    """Empty a node before an update: nothing starts there, its jobs end and go on elsewhere."""
    with _opened_desk(database) as (opened, desk):
        if off:
            fleet.set_draining(opened, desk, node, False)
            echo(_("{node}: ready", node=node))
            return
        desk.nodes.lists(time.time())
        emptied = fleet.drain_node(opened, desk, node, getpass.getuser())
        for one in emptied:
            echo(_fate(one))
        desk.tick()
        is_stuck = any(one.trouble for one in emptied)
        while wait and not is_stuck and any(_is_on(job, node) for job in fleet.active_jobs(opened)):
            time.sleep(_WATCH_SECONDS)
            desk.tick()
        echo(_("{node}: nothing is started there until `nodes drain --off`", node=node))
    if is_stuck:
        raise typer.Exit(1)


def _is_on(job: Job, node: str) -> bool:
    # What waits for it is not started there as long as it is drained.
    return job.request.server == node and job.state is not JobState.WAITING


def _fate(emptied: fleet.Emptied) -> str:
    number = emptied.job.id
    if emptied.trouble:
        return _("job {job}: {error}", job=number, error=emptied.trouble)
    if emptied.successor is None and emptied.job.state is JobState.WAITING:
        return _("job {job}: waits until the node is back", job=number)
    if emptied.successor is None:
        return _("job {job}: ends; no other node takes it over", job=number)
    successor, node = emptied.successor
    return _(
        "job {job}: ends; goes on as {other} on {node}", job=number, other=successor, node=node
    )
