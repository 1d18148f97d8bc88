"""Jobs: spiders somebody or a schedule asked for, and what became of them.

Several consoles may work on one database. Who changes a job's state names the state it was in:
the one whose UPDATE finds it has the job, the others leave it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from qiaocrawl.items import Queue
from qiaocrawl.language import _
from qiaocrawl.storage.schema import State, job, query, run, topic, url, visit
from qiaocrawl.storage.topics.topics import topic_id
from qiaocrawl.storage.values import clean_word, from_time, to_json, to_stored_time


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    """To be started as soon as there is room, or its server answers."""
    STARTING = "starting"
    """A console has it in hand, or it waits in the queue of its server."""
    RUNNING = "running"
    STOPPING = "stopping"
    """Asked to end in order."""
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


ACTIVE = (JobState.WAITING, JobState.STARTING, JobState.RUNNING, JobState.STOPPING)
"""States of a job that is not over."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What is to be run.

    Attributes:
        server: host:port of a scrapyd; "" for a process of this machine.
        arguments, settings: the spider's ``-a`` and ``-s``.
    """

    spider: str
    topic: str
    server: str = ""
    arguments: Mapping[str, str] | None = None
    settings: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands; times are UTC.

    Attributes:
        machine: whose console starts it, where ``request.server`` is "".
        token: of its last attempt; "" before the first.
        message: why it waits, or how it ended.
        missing_since: epoch seconds since when its server does not know it, though it answers.
        exit_code: as a command wrote it when it ended; None for spiders, and while it has not.
        fault: what of its row cannot be read, in words; "" for nothing.
    """

    id: int
    request: JobRequest
    schedule_id: int | None
    machine: str
    state: JobState
    token: str
    attempts: int
    pid: int | None
    log: str
    message: str
    requested_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    missing_since: float | None
    exit_code: int | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RunOfJob:
    """The record of the run a job brought about."""

    id: int
    pid: int
    machine: str
    reason: str
    is_over: bool
    remaining: int | None
    stats: Mapping[str, Any]


def add_job(
    c: Connection,
    request: JobRequest,
    *,
    by: str,
    machine: str,
    now: datetime,
    schedule_id: int | None = None,
) -> int:
    """Enter a job that waits; returns its id."""
    result = c.execute(
        insert(job).values(
            schedule_id=schedule_id,
            **request_values(request),
            machine=clean_word(machine, 255),
            state=JobState.WAITING.value,
            token="",
            attempts=0,
            log="",
            message="",
            requested_by=clean_word(by, 100),
            created_at=to_stored_time(now),
        )
    )
    return int(result.lastrowid)


def find_job(c: Connection, job_id: int) -> Job | None:
    """The job of *job_id*; None when there is none."""
    row = c.execute(select(job).where(job.c.id == job_id)).first()
    return None if row is None else _job(row)


def active_jobs(c: Connection) -> list[Job]:
    """All jobs that are not over, the oldest first."""
    names = [state.value for state in ACTIVE]
    rows = c.execute(select(job).where(job.c.state.in_(names)).order_by(job.c.id))
    return [_job(row) for row in rows]


def newest_jobs(c: Connection, limit: int, before: int | None = None) -> list[Job]:
    """The newest *limit* jobs, newest first; those older than the job of id *before*."""
    statement = select(job).order_by(job.c.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(job.c.id < before)
    return [_job(row) for row in c.execute(statement)]


def lock_topic(c: Connection, request: JobRequest) -> None:
    """Let no other transaction look for jobs of the topic until this one is over.

    Without this two that ask at the same time both find none, and both enter one; SQLite lets one
    transaction write at a time anyway.
    """
    mine = topic.c.name == clean_word(request.topic, 64)
    c.execute(select(topic.c.id).where(mine).with_for_update())


def same_active_job(c: Connection, request: JobRequest, *, there: bool = False) -> int | None:
    """The id of a job that is not over with the same spider and topic; None without one.

    Args:
        there: on the same server, too.
    """
    statement = select(job.c.id).where(
        job.c.spider == request.spider,
        job.c.topic == request.topic,
        job.c.state.in_([state.value for state in ACTIVE]),
    )
    if there:
        statement = statement.where(job.c.server == request.server)
    return c.scalar(statement.limit(1))


def claim(c: Connection, waiting: Job, now: datetime) -> str | None:
    """Take a job that waits in hand; returns the token of the attempt, None if another has it."""
    token = uuid.uuid4().hex
    is_ours = change(
        c,
        waiting.id,
        JobState.STARTING,
        {JobState.WAITING},
        token=token,
        attempts=waiting.attempts + 1,
        started_at=to_stored_time(now),
        message="",
        missing_since=None,
        pid=None,
        exit_code=None,
    )
    return token if is_ours else None


def change(
    c: Connection,
    job_id: int,
    to: JobState,
    when_in: Collection[JobState],
    attempt: str | None = None,
    **values: Any,
) -> bool:
    """Give a job the state *to* and *values*, if its state is one of *when_in*; whether it was.

    Args:
        attempt: the token it must have, too: another console may have begun the next attempt.
    """
    if "message" in values:
        values["message"] = clean_word(values["message"], 500)
    statement = (
        update(job)
        .where(job.c.id == job_id, job.c.state.in_([state.value for state in when_in]))
        .values(state=to.value, **values)
    )
    if attempt is not None:
        statement = statement.where(job.c.token == attempt)
    return c.execute(statement).rowcount == 1


def note_exit(c: Connection, token: str, code: int) -> None:
    """The command of the attempt *token* ends with *code*."""
    c.execute(update(job).where(job.c.token == token).values(exit_code=code))


def run_of_token(c: Connection, token: str, since: datetime) -> RunOfJob | None:
    """The run that was started with *token*, at or after *since*; None without one."""
    # scrapyd hands every spider its job's id as the argument _job, and so do local jobs.
    row = c.execute(
        select(run)
        .where(run.c.started_at >= to_stored_time(since), run.c.arguments.contains(token))
        .order_by(run.c.id.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    stats = json.loads(row.stats) if row.stats else {}
    return RunOfJob(
        row.id, row.pid, row.machine, row.reason, row.finished_at is not None, row.remaining, stats
    )


def request_values(request: JobRequest) -> dict[str, Any]:
    """The columns that both tables have for a request."""
    return {
        "spider": clean_word(request.spider, 32),
        "topic": clean_word(request.topic, 64),
        "server": clean_word(request.server, 100),
        "arguments": to_json(dict(request.arguments or {})),
        "settings": to_json(dict(request.settings or {})),
    }


def request_of(row: Any) -> JobRequest:
    """The request in a row of either table."""
    return JobRequest(
        row.spider, row.topic, row.server, json.loads(row.arguments), json.loads(row.settings)
    )


def _job(row: Any) -> Job:
    created_at = from_time(row.created_at)
    assert created_at is not None, "the column is never NULL"
    fault = ""
    try:
        request = request_of(row)
    except ValueError:
        # It is not started without them: that would be another job.
        request = JobRequest(row.spider, row.topic, row.server)
        fault = _("its arguments or settings are no JSON")
    return Job(
        row.id,
        request,
        row.schedule_id,
        row.machine,
        JobState(row.state),
        row.token,
        row.attempts,
        row.pid,
        row.log,
        row.message,
        row.requested_by,
        created_at,
        from_time(row.started_at),
        from_time(row.ended_at),
        row.missing_since,
        row.exit_code,
        fault,
    )


# --- How a crawl goes on right now, by its rows ---------------------------------------------------

# Rates are those of the last minute; so many visits of it are counted at most.
_MINUTE_SECONDS = 60.0
_MOST_VISITS = 5_000


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """URLs of some queues of a topic by where they stand, and pages (or answers) a minute."""

    waiting: int
    in_hand: int
    done: int
    per_minute: int


def crawl_progress(c: Connection, topic: str, queues: Sequence[Queue], now: float) -> CrawlProgress:
    """How far the *queues* of *topic* are. Linear in their rows, by an index.

    Raises:
        StorageError: *topic* was never imported.
    """
    whose = topic_id(c, topic)
    names = [queue.value for queue in queues]
    statement = (
        select(url.c.state, func.count())
        .where(url.c.queue.in_(names), url.c.topic_id == whose)
        .group_by(url.c.state)
    )
    counts = {int(state): int(count) for state, count in c.execute(statement)}
    waiting = counts.pop(State.PENDING, 0)
    in_hand = counts.pop(State.LEASED, 0) + counts.pop(State.FETCHED, 0)
    return CrawlProgress(waiting, in_hand, sum(counts.values()), _rate(c, whose, names, now))


def _rate(c: Connection, topic: int, queues: Sequence[str], now: float) -> int:
    since = now - _MINUTE_SECONDS
    newest = (
        select(visit.c.at)
        .where(visit.c.topic_id == topic, visit.c.queue.in_(queues))
        .order_by(visit.c.seq.desc())
        .limit(_MOST_VISITS)
        .subquery()
    )
    rate = int(c.scalar(select(func.count()).where(newest.c.at >= since)) or 0)
    if Queue.SEARCH in queues:
        minute_ago = datetime.fromtimestamp(now, UTC) - timedelta(seconds=_MINUTE_SECONDS)
        answered = select(func.count()).where(
            query.c.topic_id == topic, query.c.asked_at >= to_stored_time(minute_ago)
        )
        rate += int(c.scalar(answered) or 0)
    return rate
