"""Jobs as processes of this machine; they outlive the console that started them."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from qiaocrawl.errors import ConfigError, JobError, QiaoError
from qiaocrawl.interrupts import INTERRUPTED
from qiaocrawl.items import Queue
from qiaocrawl.jobs import COMMAND_VARIABLE
from qiaocrawl.jobs.processes import log_end
from qiaocrawl.jobs.requests import JUDGE, REREAD, ROUND
from qiaocrawl.jobs.spider_command import login_command, start_process
from qiaocrawl.jobs.timetable import Timetable
from qiaocrawl.language import N_, _
from qiaocrawl.options.project import SETTINGS_VARIABLE, settings_module
from qiaocrawl.storage import Database
from qiaocrawl.storage.frontier.workers import StoredCollector, collectors_of_runs
from qiaocrawl.storage.jobs import (
    CrawlProgress,
    Job,
    JobState,
    RunOfJob,
    crawl_progress,
    note_exit,
    run_of_token,
)
from qiaocrawl.storage.run_log import SUCCESSFUL_ENDS
from qiaocrawl.storage.schedules import FiringResult, Schedule, last_starts, schedules
from qiaocrawl.storage.topics.topics import find_topic_id
from qiaocrawl.text.zones import SHANGHAI

# --- How a job ended, by what is known when its process is over; and how a command tells it -------

logger = logging.getLogger(__name__)


def ending(
    job: Job, run: RunOfJob | None, code: int | None, log_end: Callable[[Job], str]
) -> tuple[JobState, str]:
    """Its last state and why: by the record of its run, else by the code of its process.

    A process that has left neither was killed, or its machine went down: nothing says that it did
    what it was asked.

    Args:
        code: as we saw it end, or as it wrote it down; None for neither.
        log_end: gives the last part of what it said, "" for nothing.
    """
    message = run.reason if run is not None else ""
    if job.state is JobState.STOPPING:
        return JobState.STOPPED, message
    if run is not None and run.is_over and run.reason in SUCCESSFUL_ENDS:
        return JobState.FINISHED, message
    if run is not None and message:
        return JobState.FAILED, message
    if run is None and code == 0:
        return JobState.FINISHED, ""
    if code is not None and code < 0:
        return JobState.FAILED, _("it was killed ({signal})", signal=_signal_name(-code))
    if run is not None:
        return JobState.FAILED, _("it was killed")
    return JobState.FAILED, _last_words(job, code, log_end(job))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _last_words(job: Job, code: int | None, log: str) -> str:
    lines = log.splitlines()
    ours = [line for line in lines if line.startswith("qiaocrawl: ")]
    if code is None and not ours and not job.request.server:
        text = _(
            "how it ended is not known: it left no record, so it was killed or its machine "
            "went down"
        )
        return _("{what}; its log ends: {words}", what=text, words=lines[-1]) if lines else text
    if ours or lines:
        return (ours or lines)[-1]
    if job.request.server:
        return _("it ended before it began; see the log of its server")
    return _("it ended with exit code {code}, and its log is empty", code=code)


@contextmanager
def exit_noted() -> Iterator[None]:
    """Let the desk know how this process ends, where it is a command of a job.

    Spiders have the record of their run. A console that comes later sees no more of a process
    than that it is gone.
    """
    token, pid = os.environ.pop(COMMAND_VARIABLE, ""), os.getpid()
    code = 1
    try:
        yield
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
        raise
    finally:
        # What was forked off may come by here, too.
        if token and os.getpid() == pid:
            _note_exit(token, code)


def _note_exit(token: str, code: int) -> None:
    try:
        url = os.environ["QIAO_DATABASE_URL"]
        with Database.open(url, must_exist=True) as database, database.engine.begin() as c:
            note_exit(c, token, code)
    except (KeyError, QiaoError, SQLAlchemyError) as error:
        # It ends as it ends; the desk will say that it does not know how.
        logger.warning("exit code %d of job %s is not written down: %s", code, token, error)


# --- What is to be seen of jobs while they run, and of schedules that start none ------------------

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
    is_crawl = wanted.spider not in (JUDGE, REREAD) and job.state is not JobState.WAITING
    if not is_crawl or find_topic_id(c, wanted.topic) is None:
        return _NOTHING
    queues = tuple(Queue) if wanted.spider == ROUND else (Queue(wanted.spider),)
    return count(c, wanted.topic, queues, now)


def workers_of(c: Connection, jobs: Iterable[Job]) -> dict[int, StoredCollector]:
    """The workers of *jobs* by job; none where no worker has said that it lives, as on SQLite."""
    runs = {
        job.id: run.id
        for job in jobs
        if job.token and (run := run_of_token(c, job.token, job.created_at)) is not None
    }
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
        _(
            "schedule {number} ({spider} of {topic}, {times}): {why}",
            number=entry.id,
            spider=entry.request.spider,
            topic=entry.request.topic,
            times=entry.times,
            why=why,
        )
        for entry in entries
        if (why := schedule_trouble(entry, starts.get(entry.id, 0.0), now))
    ]


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


# --- Log-ins of accounts that somebody watches: a process each, at most one an account ------------

WAIT_SECONDS = 300
"""How long a browser waits for somebody who scans the QR code."""
_END_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Login:
    """A log-in, or the check of one, under way or over.

    Attributes:
        picture: where the QR code goes.
        log: the file all it says goes to.
    """

    process: subprocess.Popen[bytes]
    picture: Path
    log: Path

    @property
    def is_over(self) -> bool:
        """Whether its process has ended; what came of it is in the row of the account."""
        return self.process.poll() is not None

    def picture_bytes(self) -> bytes:
        """The QR code as PNG; b"" while there is none, or when nobody needs it any more."""
        try:
            return b"" if self.is_over else self.picture.read_bytes()
        except OSError:
            return b""

    def last_words(self) -> str:
        """The last lines of its log."""
        return "\n".join(log_end(str(self.log)).splitlines()[-20:])


class Logins:
    """The log-ins of one console.

    Args:
        database_url: with its password; handed to the processes in their environment.
        logs: the folder of their logs.
    """

    def __init__(self, database_url: str, logs: Path) -> None:
        self._database_url = database_url
        self._logs = logs
        self._by_account: dict[int, Login] = {}
        # Of this user alone: whoever scans a code there is logged in.
        self._folder = Path(tempfile.mkdtemp(prefix="qiaocrawl-login-"))
        self._lock = threading.Lock()

    def start(self, account_id: int, do: str, *, with_picture: bool) -> None:
        """Start a log-in (*do* = login) or a check (check) of an account.

        Raises:
            JobError: one of it is under way, or the system cannot start a process.
        """
        with self._lock:
            before = self._by_account.get(account_id)
            if before is not None and not before.is_over:
                raise JobError(_("a log-in of this account is under way"))
            picture = self._folder / f"{account_id}.png"
            picture.unlink(missing_ok=True)
            log = self._logs / f"{datetime.now(SHANGHAI):%Y%m%d-%H%M%S}-login-{account_id}.log"
            command = login_command(
                account_id, do, WAIT_SECONDS, picture if with_picture else None, log
            )
            environment = {
                SETTINGS_VARIABLE: settings_module(),
                "QIAO_DATABASE_URL": self._database_url,
            }
            try:
                self._logs.mkdir(parents=True, exist_ok=True)
                process = start_process(command.words, environment, log)
            except OSError as error:
                text = _("cannot start a process: {error}", error=error.strerror)
                raise JobError(text) from error
            self._by_account[account_id] = Login(process, picture, log)

    def find(self, account_id: int) -> Login | None:
        """The last log-in of an account that was started here."""
        return self._by_account.get(account_id)

    def close(self) -> None:
        """End what waits for somebody: nobody sees its code any more."""
        for login in self._by_account.values():
            login.process.terminate()
        for login in self._by_account.values():
            try:
                login.process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                login.process.kill()
                login.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
