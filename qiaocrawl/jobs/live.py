"""What is to be seen of jobs while they run, and of schedules that start none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from qiaocrawl.errors import ConfigError
from qiaocrawl.items import Queue
from qiaocrawl.jobs.requests import JUDGE, ROUND
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.language import N_, _
from qiaocrawl.storage.frontier.workers import StoredCollector, collectors_of_runs
from qiaocrawl.storage.jobs import CrawlProgress, Job, JobState, crawl_progress, run_of_token
from qiaocrawl.storage.schedules import FiringResult, Schedule, last_starts, schedules
from qiaocrawl.storage.topics.topics import find_topic_id

STATE_NAMES = {
    JobState.WAITING: N_("waits to start"),
    JobState.STARTING: N_("starting"),
    JobState.RUNNING: N_("running"),
    JobState.STOPPING: N_("stopping"),
    JobState.FINISHED: N_("ended"),
    JobState.STOPPED: N_("stopped"),
    JobState.FAILED: N_("failed"),
}
"""What a job's state is called."""

_ERROR = re.compile(r"^(?:\S+ \S+ (?:\[[^\]]*\] )?(?:ERROR|CRITICAL)\b|qiaocrawl: )")
_NOTHING = CrawlProgress(0, 0, 0, 0)
# So long after a time a schedule may still be about to start something.
_GRACE_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class LiveJob:
    """A job that is under way, with how far its crawl is."""

    job: Job
    progress: CrawlProgress


Counting = Callable[[Connection, str, Sequence[Queue], float], CrawlProgress]
"""As :func:`crawl_progress`."""


def live_jobs(
    c: Connection, jobs: list[Job], now: float, count: Counting = crawl_progress
) -> list[LiveJob]:
    """*jobs* with their crawls' progress; a topic that is gone has none.

    Args:
        count: what counts a crawl's URLs, or remembers what it counted a moment ago.
    """
    return [LiveJob(job, _progress(c, job, now, count)) for job in jobs]


def _progress(c: Connection, job: Job, now: float, count: Counting) -> CrawlProgress:
    wanted = job.request
    is_crawl = wanted.spider != JUDGE and job.state is not JobState.WAITING
    if not is_crawl or find_topic_id(c, wanted.topic) is None:
        return _NOTHING
    queues = tuple(Queue) if wanted.spider == ROUND else (Queue(wanted.spider),)
    return count(c, wanted.topic, queues, now)


def workers_of(c: Connection, jobs: Iterable[Job]) -> dict[int, StoredCollector]:
    """The workers of *jobs* by job; none where no worker has said that it lives, as on SQLite."""
    runs = {
        job.id: run.id for job in jobs
        if job.token and (run := run_of_token(c, job.token, job.created_at)) is not None
    }  # fmt: skip
    workers = collectors_of_runs(c, runs.values())
    return {job: workers[run] for job, run in runs.items() if run in workers}


def error_lines(log: str, limit: int) -> list[str]:
    """The last *limit* lines of a log that tell of an error."""
    return [line for line in log.splitlines() if _ERROR.match(line)][-limit:]


def schedule_alarms(c: Connection, now: float) -> list[str]:
    """Schedules that are on and cannot be read, or started nothing at two of their times."""
    starts = last_starts(c)
    entries = [entry for entry in schedules(c) if entry.is_on]
    return [
        _("schedule {number} ({spider} of {topic}, {times}): {why}",
          number=entry.id, spider=entry.request.spider, topic=entry.request.topic,
          times=entry.times, why=why)
        for entry in entries if (why := schedule_trouble(entry, starts.get(entry.id, 0.0), now))
    ]  # fmt: skip


def schedule_trouble(entry: Schedule, last_start: float, now: float) -> str:
    """Why a schedule that is on starts nothing; "" where it does, or need not yet.

    Args:
        last_start: when it started something last; 0 for never. All times are epoch seconds.
    """
    if entry.fault:
        return _("{fault}; change the schedule or switch it off", fault=entry.fault)
    try:
        table = Timetable(entry.times, entry.zone)
        first = entry.next_at
        if first > now:
            # What a clock that was ahead has started says nothing.
            first = table.next_after(min(max(last_start, entry.since_at), now))
        if table.next_after(first) > now - _GRACE_SECONDS:
            return ""
    except ConfigError as error:
        return _("{fault}; change the schedule or switch it off", fault=error)
    if entry.next_at <= now:
        why = _("no console looks after it: start `qiaocrawl console`")
    elif entry.last_result is FiringResult.OVERLAP:
        why = _("the job before it is still not over: see page Jobs")
    elif entry.last_result is FiringResult.MISSED:
        why = _("no console ran when its times came: keep one running, or let it make up for them")
    else:
        why = _("see page Jobs")
    return _("two of its times have passed and it started nothing; {why}", why=why)
