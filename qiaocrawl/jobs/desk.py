"""The desk where jobs are kept going: what is due is entered, started, watched, started again.

One call of :meth:`JobDesk.tick` does all that is to be done now. What a job is, is its row;
nothing is remembered between two calls that a restart of the console would lose. A job lives
through these states::

    waiting -> starting -> running -> finished | failed
                  |   ^       |
                  |   +- lost +-> stopping -> stopped

A job is lost when its server answers and does not know it: scrapyd deletes a job from its queue
before it starts the process, and forgets running ones when it is killed. It is lost too when its
server does not answer for a minute, nothing is seen of its worker, and another node may run it.
Such a job waits again, on another node if there is one, unless its process goes on by itself. A
second crawl of the same rows would lose nothing either: the frontier leases each row to one worker.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import InterfaceError, OperationalError

from qiaocrawl.errors import ConfigError, JobError, QiaoError, ServerAwayError
from qiaocrawl.jobs.local import ending
from qiaocrawl.jobs.nodes import NodeServers, no_node_yet
from qiaocrawl.jobs.processes import LocalProcesses, end_in_order, log_end, process_of
from qiaocrawl.jobs.scrapyd import ServerJobs
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.language import _
from qiaocrawl.options import Options
from qiaocrawl.storage import Database, schedules
from qiaocrawl.storage import jobs as stored
from qiaocrawl.storage.engine import latest_due
from qiaocrawl.storage.frontier.workers import is_run_alive
from qiaocrawl.storage.jobs import ACTIVE, Job, JobRequest, JobState, RunOfJob
from qiaocrawl.storage.keepers import error_of
from qiaocrawl.storage.schedules import FiringResult, Schedule, WhenMissed, due_schedules, fire
from qiaocrawl.storage.values import to_stored_time

logger = logging.getLogger(__name__)

MISSED_AFTER_SECONDS = 900.0
"""A time that is so long past was missed: no console ran."""
_LOST_AFTER_SECONDS = 10.0
_MOST_ATTEMPTS = 3
# A clock that is set back by no more than this makes no time of a schedule come twice.
_SMALL_STEP_SECONDS = 2 * 3_600.0
_ABSENT = (OperationalError, InterfaceError)
"""What is raised where the database does not answer: nothing of a single job."""


class JobDesk:
    """Keeps the jobs of one database going.

    Args:
        options: QIAO_SCRAPYD_SERVERS and QIAO_JOBS_AT_ONCE are used.
        logs: the folder of the logs of local jobs.
        is_remote_only: jobs of this machine, and schedules, are left to its console.
        lost_after_seconds: how long a server may not know a job before it counts as lost;
            between its queue and its process scrapyd does not list a job.
    """

    def __init__(
        self,
        database: Database,
        options: Options,
        logs: Path,
        *,
        lost_after_seconds: float = _LOST_AFTER_SECONDS,
        is_remote_only: bool = False,
    ) -> None:
        self._database = database
        self.local = LocalProcesses(logs, database.url)
        self.nodes = NodeServers(database, options)
        self._is_remote_only = is_remote_only
        self._at_once = 1 if database.dialect == "sqlite" else options["QIAO_JOBS_AT_ONCE"]
        self._lost_after = lost_after_seconds
        self._strays: set[tuple[str, str]] = set()
        self._troubles: dict[str, str] = {}
        self._told: dict[str, str] = {}

    @property
    def trouble(self) -> str:
        """What the last tick could not do, in words; "" for nothing."""
        return _("; ").join(f"{what}: {why}" for what, why in self._troubles.items())

    def tick(self, now: float | None = None) -> None:
        """Do all that is to be done *now* (epoch seconds).

        An error of one job or schedule keeps nothing else from being done; see :attr:`trouble`.
        """
        now = time.time() if now is None else now
        self._troubles = {}
        if not self._is_remote_only:
            self._fire_schedules(now)
        with self._reading() as c:
            active = stored.active_jobs(c)
        lists = self._lists(active, now)
        self._end_strays(lists)
        for job in active:
            if job.state is not JobState.WAITING:
                look = partial(self._look_at, job, lists.get(job.request.server), now)
                self._by_itself(_("job {number}", number=job.id), look)
            elif job.fault:
                self._end(job, JobState.FAILED, job.fault)
        self._start_waiting(lists, now)
        self._told = self._troubles

    def _by_itself(self, what: str, work: Callable[[], object]) -> None:
        """Do what belongs to one job or schedule; an error is noted, and logged while it is new."""
        error = error_of(work)
        if error is None:
            return
        if isinstance(error, _ABSENT):
            raise error
        why = str(error) or type(error).__name__
        is_new = why not in (self._told.get(what), self._troubles.get(what))
        self._troubles[what] = why
        if is_new:
            is_ours = isinstance(error, QiaoError)
            logger.warning("%s: %s", what, why, exc_info=None if is_ours else error)

    def _lists(self, active: Sequence[Job], now: float) -> dict[str, ServerJobs | JobError]:
        """What the servers of *active* jobs, and all other nodes, say of their jobs."""
        servers = {job.request.server for job in active} - {""}
        if not servers:
            return {}
        self.nodes.refresh()
        lists = self.nodes.lists(now)
        for name in servers - lists.keys():
            try:
                self.nodes.server(name)
            except JobError as error:
                lists[name] = error
        return lists

    def _end_strays(self, lists: Mapping[str, ServerJobs | JobError]) -> None:
        """End what a node that is back still has of attempts that were given up as lost."""
        for name, token in self._strays:
            listed = lists.get(name)
            if isinstance(listed, ServerJobs) and token in listed.pending | listed.running:
                with suppress(JobError):
                    self.nodes.server(name).cancel(token)

    def request(self, wanted: JobRequest, by: str, *, beside_others: bool = False) -> int:
        """Enter a job; returns its id.

        Args:
            beside_others: the spider may run for the topic on other servers.

        Raises:
            JobError: the spider runs for the topic already.
        """
        with self._database.engine.begin() as c:
            stored.lock_topic(c, wanted)
            if (same := stored.same_active_job(c, wanted, there=beside_others)) is not None:
                raise JobError(
                    _(
                        "{spider} of topic {topic} is under way already: job {job}",
                        spider=wanted.spider,
                        topic=wanted.topic,
                        job=same,
                    )
                )
            return self._add(c, wanted, by, None)

    def stop(self, job_id: int) -> None:
        """Let a job end in order; one that waits is not started.

        Raises:
            JobError: its server does not answer, or refuses.
        """
        with self._database.engine.begin() as c:
            now = to_stored_time(datetime.now(UTC))
            if stored.change(c, job_id, JobState.STOPPED, {JobState.WAITING}, ended_at=now):
                return
            # Read afterwards: another console may have taken it in hand just before.
            job = stored.find_job(c, job_id)
            if job is None:
                return
        under_way = {JobState.STARTING, JobState.RUNNING}
        if job.request.server:
            self.nodes.server(job.request.server).cancel(job.token)
            if job.missing_since is not None and (pid := process_of(job.token)):
                end_in_order(pid)
            self._change(job, JobState.STOPPING, under_way)
        else:
            # Without a number its machine's console finds the process, and asks it to end.
            self._change(job, JobState.STOPPING, under_way, pid=self.local.stop(job))

    def log_end(self, job: Job) -> str:
        """The last part of what a job said.

        Raises:
            JobError: its server does not answer.
        """
        if not job.request.server:
            return log_end(job.log)
        if not job.token:
            return ""
        return self.nodes.server(job.request.server).log_end(job.request.spider, job.token)

    def close(self) -> None:
        """Close the connections to servers; what runs goes on."""
        self.nodes.close()

    # --- schedules ------------------------------------------------------------------------------

    def _fire_schedules(self, now: float) -> None:
        with self._reading() as c:
            entries = [entry for entry in schedules.schedules(c) if entry.is_on]
        for entry in entries:
            what = _("schedule {number}", number=entry.id)
            self._by_itself(what, partial(self._put_back_if_late, entry, now))
        with self._reading() as c:
            due = due_schedules(c, now)
        for entry in due:
            if not entry.fault:
                what = _("schedule {number}", number=entry.id)
                self._by_itself(what, partial(self._fire_due, entry, now))

    def _put_back_if_late(self, entry: Schedule, now: float) -> None:
        """Put back what is due later than its times give from now: a clock was ahead.

        Raises:
            ConfigError: it cannot be read.
        """
        if entry.fault:
            raise ConfigError(entry.fault)
        # Where the clock was set back a little, its last time is in the future: that one has
        # been kept.
        kept = entry.last_at or 0.0
        since = kept if now < kept <= now + _SMALL_STEP_SECONDS else now
        next_at = _timetable(entry.times, entry.zone).next_after(since)
        if entry.next_at <= latest_due(now, next_at - now):
            return
        with self._database.engine.begin() as c:
            is_ours = schedules.put_back(c, entry, next_at)
        if is_ours:
            was, comes = (datetime.fromtimestamp(at, UTC) for at in (entry.next_at, next_at))
            logger.warning(
                "schedule %s was to come at %s only, later than its times say: the clock was "
                "ahead; it comes at %s",
                entry.id,
                was.isoformat(),
                comes.isoformat(),
            )

    def _fire_due(self, entry: Schedule, now: float) -> None:
        next_at = _timetable(entry.times, entry.zone).next_after(now)
        with self._database.engine.begin() as c:
            self._fire(c, entry, next_at, now)

    def _fire(self, c: Connection, due: Schedule, next_at: float, now: float) -> None:
        """Write that a schedule's time has come, and enter its job, in one transaction."""
        stored.lock_topic(c, due.request)
        is_missed = now - due.next_at > MISSED_AFTER_SECONDS
        if is_missed and due.when_missed is WhenMissed.SKIP:
            result = FiringResult.MISSED
        elif stored.same_active_job(c, due.request) is not None:
            result = FiringResult.OVERLAP
        else:
            result = FiringResult.STARTED
        is_ours = fire(c, due, result, next_at=next_at, now=now)
        if is_ours and result is FiringResult.STARTED:
            self._add(c, due.request, due.created_by, due.id)
        if is_ours:
            logger.info(
                "schedule %s (%s %s): %s", due.id, due.request.spider, due.request.topic, result
            )

    def _add(self, c: Connection, wanted: JobRequest, by: str, schedule_id: int | None) -> int:
        return stored.add_job(
            c,
            wanted,
            by=by,
            machine=self.local.machine,
            now=datetime.now(UTC),
            schedule_id=schedule_id,
        )

    # --- starting -------------------------------------------------------------------------------

    def _start_waiting(self, lists: Mapping[str, ServerJobs | JobError], now: float) -> None:
        with self._reading() as c:
            active = [job for job in stored.active_jobs(c) if self._is_mine(job)]
        free = self._at_once - sum(
            not job.request.server and job.state is not JobState.WAITING for job in active
        )
        for job in active:
            if job.state is not JobState.WAITING:
                continue
            server = job.request.server
            if not server:
                free -= 1
            trouble = lists.get(server)
            if isinstance(trouble, JobError):
                other = self._elsewhere(job) if self.nodes.is_away(server, now) else None
                self._change(
                    job,
                    JobState.WAITING,
                    {JobState.WAITING},
                    message=str(trouble),
                    server=other or server,
                )
            elif self.nodes.is_draining(server):
                text = _("its node is being drained")
                self._change(job, JobState.WAITING, {JobState.WAITING}, message=text)
            elif server or free >= 0:
                self._by_itself(_("job {number}", number=job.id), partial(self._start, job))

    def _is_mine(self, job: Job) -> bool:
        if self._is_remote_only:
            return bool(job.request.server)
        return bool(job.request.server) or job.machine == self.local.machine

    def _start(self, job: Job) -> None:
        with self._database.engine.begin() as c:
            token = stored.claim(c, job, datetime.now(UTC))
        if token is None:
            return
        job = replace(job, token=token)
        try:
            if job.request.server:
                self._send(job, token)
            else:
                pid, log = self.local.start(job, token)
                self._change(job, JobState.RUNNING, {JobState.STARTING}, pid=pid, log=log)
        except ServerAwayError as error:
            # It may have taken the job: its list will tell.
            self._change(job, JobState.STARTING, {JobState.STARTING}, message=str(error))
        except JobError as error:
            self._end(job, JobState.FAILED, str(error))

    def _send(self, job: Job, token: str) -> None:
        wanted = job.request
        arguments = {**(wanted.arguments or {}), "topic": wanted.topic}
        server = self.nodes.server(wanted.server)
        settings = dict(wanted.settings or {})
        weight = self.nodes.nodes[wanted.server].terms.weight
        # Not where it says nothing: an older egg may not know the option.
        if weight != 1:
            settings.setdefault("QIAO_COLLECTOR_WEIGHT", f"{weight:g}")
        server.start(wanted.spider, token, arguments, settings)

    # --- watching -------------------------------------------------------------------------------

    def _look_at(self, job: Job, listed: ServerJobs | JobError | None, now: float) -> None:
        """See what became of a job that was handed over."""
        if isinstance(listed, JobError):
            self._change(job, job.state, {job.state}, message=str(listed))
            if isinstance(listed, ServerAwayError):
                self._look_for_unreachable(job, now)
        elif listed is not None:
            self._look_at_server(job, listed, now)
        elif self._is_mine(job):
            self._look_at_process(job, now)

    def _look_at_server(self, job: Job, listed: ServerJobs, now: float) -> None:
        if job.token in listed.running:
            # A job that was asked to stop says so until it has.
            is_stopping = job.state is JobState.STOPPING
            to = JobState.STOPPING if is_stopping else JobState.RUNNING
            if job.state is not to or job.message or job.missing_since is not None:
                self._change(job, to, {job.state}, message="", missing_since=None)
        elif job.token in listed.finished:
            self._conclude(job, self._run(job), None)
        elif job.token not in listed.pending:
            self._look_for_missing(job, now)

    def _look_for_unreachable(self, job: Job, now: float) -> None:
        """Its server does not answer: that alone says nothing of the job."""
        run = self._run(job)
        if run is not None and run.is_over:
            self._conclude(job, run, None)
        elif self.nodes.is_away(job.request.server, now) and self._elsewhere(job) is not None:
            with self._reading() as c:
                is_alive = run is not None and is_run_alive(c, run.id)
            if not is_alive and process_of(job.token) is None:
                self._lose(job)

    def _elsewhere(self, job: Job) -> str | None:
        """Another node that may run *job*; None if there is none, and for jobs of a machine."""
        if not job.request.server:
            return None
        with self._reading() as c:
            return self.nodes.free_for(job.request, stored.active_jobs(c))

    def _look_for_missing(self, job: Job, now: float) -> None:
        run = self._run(job)
        if run is not None and run.is_over:
            self._conclude(job, run, None)
        elif job.missing_since is None or job.missing_since > latest_due(now, 0.0):
            self._change(job, job.state, {job.state}, missing_since=now)
        elif now - job.missing_since >= self._lost_after:
            pid = process_of(job.token)
            if pid is None:
                self._lose(job)
                return
            text = _("its scrapyd does not know it any more; process {pid} goes on", pid=pid)
            if job.message != text:
                to = job.state if job.state is JobState.STOPPING else JobState.RUNNING
                self._change(job, to, {job.state}, message=text, pid=pid)

    def _look_at_process(self, job: Job, now: float) -> None:
        pid, code = self.local.find(job), self.local.exit_code(job)
        if pid is not None:
            if job.pid is None:
                self._take_up(job, pid)
            return
        run = self._run(job)
        if job.pid is not None or code is not None or (run is not None and run.is_over):
            self._conclude(job, run, code)
            self.local.forget(job)
        elif job.started_at is None:
            self._lose(job)
        else:
            started = job.started_at.timestamp()
            # A start in the future is one of a clock that was ahead.
            if now - started > self._lost_after or started > latest_due(now, 0.0):
                self._lose(job)

    def _take_up(self, job: Job, pid: int) -> None:
        """Write down the number of a process, which nobody did.

        The console that had it in hand may have died before, or somebody stopped the job who did
        not see the process: before it began, or at the console of another machine.
        """
        is_stopping = job.state is JobState.STOPPING
        if is_stopping:
            end_in_order(pid)
        to = JobState.STOPPING if is_stopping else JobState.RUNNING
        self._change(job, to, {job.state}, pid=pid)

    def _conclude(self, job: Job, run: RunOfJob | None, code: int | None) -> None:
        """Write how a job ended."""
        if code is None:
            # Read now: it may have written its code after this tick began.
            with self._reading() as c:
                written = stored.find_job(c, job.id)
            code = written.exit_code if written is not None else None
        self._end(job, *ending(job, run, code, self._log_end_if_any))

    def _log_end_if_any(self, job: Job) -> str:
        try:
            return self.log_end(job)
        except JobError:
            return ""

    def _lose(self, job: Job) -> None:
        """Let a lost job wait again; one that was to stop, or is lost too often, is over."""
        where = job.request.server or "this machine"
        logger.warning("job %s is lost by %s (attempt %s)", job.id, where, job.attempts)
        if job.request.server:
            # It may still wait in the queue of its server, which starts it when it is back.
            self._strays.add((job.request.server, job.token))
        if job.state is JobState.STOPPING:
            self._end(job, JobState.STOPPED, "")
        elif job.attempts >= _MOST_ATTEMPTS:
            text = _("lost {count} times by its server", count=job.attempts)
            if not job.request.server:
                text = _("it did not begin, {count} times", count=job.attempts)
            self._end(job, JobState.FAILED, text)
        else:
            server = self._elsewhere(job) or job.request.server
            text = _("lost by its server and started again")
            if not server:
                text = _("it did not begin and is started again")
            self._change(
                job, JobState.WAITING, {job.state}, message=text, missing_since=None, server=server
            )

    def _run(self, job: Job) -> RunOfJob | None:
        with self._reading() as c:
            return stored.run_of_token(c, job.token, job.created_at)

    def _reading(self) -> Connection:
        return self._database.reading()

    def _end(self, job: Job, state: JobState, message: str) -> None:
        now = to_stored_time(datetime.now(UTC))
        self._change(job, state, ACTIVE, message=message, ended_at=now)

    def _change(self, job: Job, to: JobState, when_in: Any, **values: Any) -> None:
        with self._database.engine.begin() as c:
            stored.change(c, job.id, to, when_in, attempt=job.token, **values)


@lru_cache(maxsize=256)
def _timetable(times: str, zone: str) -> Timetable:
    """Read once, not with every tick."""
    return Timetable(times, zone)


# --- A spider on several nodes at once, and a node that is emptied before it is updated -----------


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
            _("SQLite runs one crawl at a time: several nodes need MariaDB, see docs/operations.md")
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


def _too_few(desk: JobDesk, wanted: JobRequest, active: list[Job], free: int, count: int) -> str:
    reasons = desk.nodes.why_not(wanted, active)
    lines = [f"\n  {name}: {reason}" for name, reason in reasons.items()]
    if not desk.nodes.nodes:
        lines = ["\n  " + no_node_yet()]
    return _(
        "{spider} of topic {topic}: {free} nodes can take it now, not {count}",
        spider=wanted.spider,
        topic=wanted.topic,
        free=free,
        count=count,
    ) + "".join(lines)


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
    return [_empty_job(database, desk, job, by) for job in theirs if job.state != JobState.STOPPING]


def set_draining(database: Database, desk: JobDesk, name: str, is_draining: bool) -> None:
    """Let nothing be started on the node *name*, or let it again.

    Raises:
        ConfigError: there is no such node.
    """
    if name not in desk.nodes.refresh():
        raise ConfigError(_("{server}: no such node; see `qiaocrawl nodes list`", server=name))
    with database.engine.begin() as c:
        schedules.set_draining(c, name, is_draining)
    desk.nodes.refresh()


def active_jobs(database: Database) -> list[Job]:
    """All jobs that are not over."""
    with database.engine.connect() as c:
        return stored.active_jobs(c)


def _empty_job(database: Database, desk: JobDesk, job: Job, by: str) -> Emptied:
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
