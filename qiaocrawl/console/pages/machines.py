"""The machines that crawl: this one and the nodes of the fleet, and what each of them does."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.page import Area, Page, console_of, read
from qiaocrawl.console.render import render
from qiaocrawl.errors import JobError, NoLoginError, ServerAwayError
from qiaocrawl.jobs.local import workers_of
from qiaocrawl.jobs.requests import SPIDERS
from qiaocrawl.jobs.scrapyd import ServerStatus, code_of
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.storage.frontier.workers import StoredCollector
from qiaocrawl.storage.jobs import Job, active_jobs
from qiaocrawl.storage.schedules import Node
from qiaocrawl.storage.topics.topics import list_topics

_KEPT_SECONDS = 10.0
_GOOD, _LOOK, _BAD = "good", "look", "now"


@dataclass(frozen=True, slots=True)
class Work:
    """A job on a machine; ``pages_per_minute`` is None where nobody has told."""

    id: int
    words: str
    pages_per_minute: float | None


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as its card shows it.

    Attributes:
        state, style: a word for how it is, and how that looks.
        words: how much it has to do, in a sentence; what is wrong with it.
        node: the row of a node; None for this machine.
        code: what version it runs, "" where that is not known.
    """

    name: str
    state: str
    style: str
    words: str
    work: tuple[Work, ...]
    node: Node | None = None
    code: str = ""


async def show(request: Request) -> Response:
    """This machine first; nodes are asked now, ten seconds apart at least."""
    jobs, workers, titles = await read(request, _work)
    machines = [_this_machine(jobs, workers, titles)]
    answers = await run_in_threadpool(_answers, request)
    nodes = console_of(request).jobs.desk.nodes.nodes
    for name, answer in answers.items():
        if name in nodes:
            own = [job for job in jobs if job.request.server == name]
            machines.append(_node(nodes[name], answer, own, workers, titles))
    codes = {machine.code for machine in machines if machine.code}
    return render(
        request,
        "jobs/machines.html",
        machines=machines,
        differs=len(codes) > 1,
        asked_at=datetime.now(UTC),
    )


def _answers(request: Request) -> Mapping[str, ServerStatus | JobError]:
    console = console_of(request)
    servers = console.jobs.desk.nodes

    def ask() -> Mapping[str, ServerStatus | JobError]:
        servers.refresh()
        return servers.statuses(time.time())

    return console.kept.get("machines", _KEPT_SECONDS, ask)


def _work(c: Connection) -> tuple[list[Job], dict[int, StoredCollector], dict[str, str]]:
    jobs = active_jobs(c)
    titles = {topic.name: topic.title for topic in list_topics(c)}
    return jobs, workers_of(c, jobs), titles


def _this_machine(
    jobs: Sequence[Job], workers: Mapping[int, StoredCollector], titles: Mapping[str, str]
) -> Machine:
    own = _shown([job for job in jobs if not job.request.server], workers, titles)
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    is_busy = load > 2 * cores
    words = _(
        "{jobs}; the load is {load:.1f} on {cores} processors",
        jobs=_jobs_words(len(own)),
        load=load,
        cores=cores,
    )
    state = (_("overloaded"), _LOOK) if is_busy else (_("works"), _GOOD)
    return Machine(_("This machine"), *state, words, own)


def _jobs_words(count: int) -> str:
    if not count:
        return _("nothing to do just now")
    return ngettext("{count} job", "{count} jobs", count)


def _shown(
    jobs: Sequence[Job], workers: Mapping[int, StoredCollector], titles: Mapping[str, str]
) -> tuple[Work, ...]:
    return tuple(
        Work(
            job.id,
            f"{_(SPIDERS.get(job.request.spider, job.request.spider))} · "
            f"{titles.get(job.request.topic, job.request.topic)}",
            workers[job.id].pages_per_minute if job.id in workers else None,
        )
        for job in jobs
    )


def _node(
    node: Node,
    answer: ServerStatus | JobError,
    jobs: Sequence[Job],
    workers: Mapping[int, StoredCollector],
    titles: Mapping[str, str],
) -> Machine:
    own = _shown(jobs, workers, titles)
    if isinstance(answer, ServerAwayError):
        return Machine(node.name, _("does not answer"), _BAD, _away_words(node), own, node)
    if isinstance(answer, NoLoginError):
        words = _("This console does not know its password, so it cannot be asked.")
        return Machine(node.name, _("not asked"), _LOOK, words, own, node)
    if isinstance(answer, JobError):
        return Machine(node.name, _("refuses"), _BAD, str(answer), own, node)
    newest = answer.versions[-1] if answer.versions else ""
    if not newest:
        words = _("It has no program yet: who looks after the machine sends it there.")
        return Machine(node.name, _("not ready"), _BAD, words, own, node)
    words = _(
        "{running} running, {pending} waiting", running=answer.running, pending=answer.pending
    )
    state = (_("is being emptied"), _LOOK) if node.is_draining else (_("works"), _GOOD)
    return Machine(node.name, *state, words, own, node, code_of(newest))


def _away_words(node: Node) -> str:
    if node.away_since is None:
        return _("Its jobs go to others when it stays away.")
    minutes = max(0, round((time.time() - node.away_since) / 60))
    return ngettext(
        "Since {count} minute; its jobs go to others when it stays away.",
        "Since {count} minutes; its jobs go to others when it stays away.",
        minutes,
    )


AREA = Area(
    N_("Machines"),
    "server",
    (Page("/machines", "machines.show", show),),
    N_("Collection"),
)
