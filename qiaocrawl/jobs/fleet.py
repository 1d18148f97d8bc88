"""A spider on several nodes at once, and a node that is emptied before it is updated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qiaocrawl.errors import ConfigError, JobError
from qiaocrawl.jobs.desk import JobDesk
from qiaocrawl.jobs.nodes import no_node_yet
from qiaocrawl.language import _
from qiaocrawl.storage import Database
from qiaocrawl.storage import jobs as stored
from qiaocrawl.storage import schedules as stored_nodes
from qiaocrawl.storage.jobs import Job, JobRequest, JobState


def start_on_nodes(
    database: Database, desk: JobDesk, wanted: JobRequest, count: int, by: str
) -> dict[int, str]:
    """Enter *wanted* on the *count* nodes with the least to do; returns nodes by job.

    Each is a collector of the same crawl. A node where the spider runs for the topic gets no second
    one.

    Raises:
        ConfigError: so many cannot take it; nothing is started then.
    """
    if count > 1 and database.dialect == "sqlite":
        raise ConfigError(
            _("SQLite runs one crawl at a time: several nodes need MariaDB, see docs/mysql.md")
        )
    active = active_jobs(database)
    chosen: list[str] = []
    while len(chosen) < count:
        name = desk.nodes.free_for(wanted, active, but=chosen)
        if name is None:
            raise ConfigError(_too_few(desk, wanted, active, len(chosen), count))
        chosen.append(name)
    return {
        desk.request(replace(wanted, server=name), by, beside_others=True): name for name in chosen
    }


def _too_few(
    desk: JobDesk, wanted: JobRequest, active: list[Job], free: int, count: int
) -> str:  # fmt: skip
    reasons = desk.nodes.why_not(wanted, active)
    lines = [f"\n  {name}: {reason}" for name, reason in reasons.items()]
    if not desk.nodes.nodes:
        lines = ["\n  " + no_node_yet()]
    return _(
        "{spider} of topic {topic}: {free} nodes can take it now, not {count}",
        spider=wanted.spider, topic=wanted.topic, free=free, count=count,
    ) + "".join(lines)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Emptied:
    """A job of a node that is drained: what goes on instead of it.

    Attributes:
        successor: job and node; None where no other node may run it, or one runs it already. A
            job that waits goes on waiting then.
        trouble: why it could not be stopped; "" if it was.
    """

    job: Job
    successor: tuple[int, str] | None
    trouble: str


def drain_node(database: Database, desk: JobDesk, name: str, by: str) -> list[Emptied]:
    """Let nothing start on the node *name*, end its jobs in order, and go on with them elsewhere.

    What a job has in hand goes back to the frontier when it ends, so the other one loses nothing
    and fetches nothing twice.

    Raises:
        ConfigError: there is no such node.
    """
    set_draining(database, desk, name, True)
    theirs = [job for job in active_jobs(database) if job.request.server == name]
    return [_emptied(database, desk, job, by) for job in theirs if job.state != JobState.STOPPING]


def set_draining(database: Database, desk: JobDesk, name: str, is_draining: bool) -> None:
    """Let nothing be started on the node *name*, or let it again.

    Raises:
        ConfigError: there is no such node.
    """
    if name not in desk.nodes.refresh():
        raise ConfigError(_("{server}: no such node; see `qiaocrawl nodes list`", server=name))
    with database.engine.begin() as c:
        stored_nodes.set_draining(c, name, is_draining)
    desk.nodes.refresh()


def active_jobs(database: Database) -> list[Job]:
    """All jobs that are not over."""
    with database.engine.connect() as c:
        return stored.active_jobs(c)


def _emptied(database: Database, desk: JobDesk, job: Job, by: str) -> Emptied:
    wanted = job.request
    node = desk.nodes.free_for(wanted, active_jobs(database))
    if node is None and job.state is JobState.WAITING:
        return Emptied(job, None, "")
    try:
        desk.stop(job.id)
    except JobError as error:
        # Its node does not answer: the desk sees to it once it is away for long enough.
        return Emptied(job, None, str(error))
    if node is None:
        return Emptied(job, None, "")
    successor = desk.request(replace(wanted, server=node), by, beside_others=True)
    return Emptied(job, (successor, node), "")
